"""Display of objects: one line in a terminal, a card (a small block of HTML) in a notebook.

A class describes itself by a `Card`, which is data; this module writes the HTML.
Text in a card may hold formulas, as LaTeX between ``\\(`` and ``\\)``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from importlib.util import find_spec
from typing import Any

from fedtheory.errors import MissingExtra


@dataclass(frozen=True)
class Card:
    """Content of an object's card in a notebook."""

    title: str
    formula: str | None = None
    """LaTeX of the object's main formula."""
    facts: Mapping[str, str] = field(default_factory=dict)
    """Names of attributes and their values."""
    columns: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()
    """Column heads and rows of a table."""
    figure: str | None = None
    """A figure, as the source of an SVG."""
    code: str | None = None
    """Text for users to copy, such as a run file."""

    @property
    def html(self) -> str:
        """Return the card as HTML without scripts."""
        parts = [f"<p><strong>{escape(self.title)}</strong></p>"]
        if self.formula:
            parts.append(f"<div>\\[{escape(self.formula)}\\]</div>")
        facts = [fact for fact in self.facts.items() if fact[1]]
        if facts:
            parts.append(_build_table((), facts))
        if self.rows:
            parts.append(_build_table(self.columns, self.rows))
        if self.figure:
            parts.append(_embed_image(self.figure, self.title))
        if self.code:
            parts.append(f"<pre>{escape(self.code)}</pre>")
        return '<div class="fedtheory tex2jax_process" style="overflow-x:auto">' + "".join(parts) + "</div>"


PICTURES: dict[str, Callable[[Any], str | None]] = {}
"""Functions that draw an object as an SVG, by the name of its class; None if there is nothing to draw."""


class Shown(ABC):
    """Base of objects that are displayed as cards; dataclasses that derive from it need ``repr=False``."""

    @abstractmethod
    def summary(self) -> str:
        """Return a short description of the object."""

    @abstractmethod
    def card(self) -> Card:
        """Return the card for a notebook."""

    def __repr__(self) -> str:
        """Return the name of the class and the summary, on one line."""
        return f"<{type(self).__name__} {self.summary()}>"

    def _repr_html_(self) -> str:
        draw = PICTURES.get(type(self).__name__)
        figure = None if draw is None or find_spec("matplotlib") is None else draw(self)
        return replace(self.card(), figure=figure).html

    def _repr_latex_(self) -> str | None:
        formula = self.card().formula
        return None if formula is None else rf"$\displaystyle {formula}$"


def inline(latex: str) -> str:
    """Return LaTeX as a formula inside the text of a card."""
    return rf"\({latex}\)"


def number(value: object) -> str:
    """Return a number as short text: short exact numbers in full, others with five digits."""
    if value is None:
        return ""
    return str(value) if isinstance(value, str | int) else _shorten(value, 5)


def short(value: object) -> str:
    """Return a number as text for a terminal or a page: six digits, short fractions exactly, a dash for None."""
    return "-" if value is None else _shorten(value, 6)


def _shorten(value: object, digits: int) -> str:
    """Return a short exact number in full, others with some digits."""
    text = str(value)
    if not isinstance(value, float) and len(text) <= 12:
        return text
    from fedtheory.arithmetic import plain_float

    return f"{plain_float(value):.{digits}g}"


def short_below(value: float) -> str:
    """Return a number with six digits, rounded down, so that a step size copied from it stays below its limit."""
    from decimal import ROUND_FLOOR, Context

    if float(short(value)) <= value:
        return short(value)
    return short(float(Context(prec=6, rounding=ROUND_FLOOR).create_decimal_from_float(value)))


def frame(columns: Mapping[str, Sequence[Any]], index: str) -> Any:
    """Return a pandas data frame of columns, one of them its index; raise `MissingExtra` without pandas."""
    try:
        import pandas as pd
    except ImportError:
        raise MissingExtra("notebook", "a data frame") from None
    return pd.DataFrame(dict(columns)).set_index(index)


def _build_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return an HTML table, aligned left: notebooks align right by default."""

    def build_row(texts: Sequence[str], tag: str) -> str:
        return "".join(f'<{tag} style="text-align:left">{escape(text)}</{tag}>' for text in texts)

    body = "".join(f"<tr>{build_row(row, 'td')}</tr>" for row in rows)
    head = f"<thead><tr>{build_row(columns, 'th')}</tr></thead>" if columns else ""
    return f"<table>{head}<tbody>{body}</tbody></table>"


def _embed_image(svg: str, title: str) -> str:
    """Return a figure as an image element: a notebook that is not trusted removes inline SVG."""
    data = b64encode(svg.encode()).decode()
    source = f"data:image/svg+xml;base64,{data}"
    return f'<div style="max-width:30em"><img style="width:100%" alt="{escape(title)}" src="{source}"/></div>'
