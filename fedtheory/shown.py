"""Display of objects: one line in a terminal, a small card in a notebook.

A class says what it is in a `Card`, which is data; the HTML is written here, once.
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
    """Card of an object in a notebook."""

    title: str
    formula: str | None = None
    """LaTeX of what the object states."""
    facts: Mapping[str, str] = field(default_factory=dict)
    """Names and their values."""
    columns: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()
    """A table: its heads, and its rows."""
    figure: str | None = None
    """An SVG."""
    code: str | None = None
    """Text to copy, such as a run file."""

    @property
    def html(self) -> str:
        """The card as HTML without scripts."""
        parts = [f"<p><strong>{escape(self.title)}</strong></p>"]
        if self.formula:
            parts.append(f"<div>\\[{escape(self.formula)}\\]</div>")
        facts = [fact for fact in self.facts.items() if fact[1]]
        if facts:
            parts.append(_table((), facts))
        if self.rows:
            parts.append(_table(self.columns, self.rows))
        if self.figure:
            parts.append(_image(self.figure, self.title))
        if self.code:
            parts.append(f"<pre>{escape(self.code)}</pre>")
        return '<div class="fedtheory tex2jax_process" style="overflow-x:auto">' + "".join(parts) + "</div>"


PICTURES: dict[str, Callable[[Any], str | None]] = {}
"""Functions that draw an object as an SVG, by the name of its class: registered by the packages above that can draw."""


class Shown(ABC):
    """An object with a card; dataclasses that are shown take ``repr=False``."""

    @abstractmethod
    def summary(self) -> str:
        """Return a short description of the object."""

    @abstractmethod
    def card(self) -> Card:
        """Return the card for a notebook."""

    def __repr__(self) -> str:
        """The class and the summary, on one line."""
        return f"<{type(self).__name__} {self.summary()}>"

    def _repr_html_(self) -> str:
        return replace(self.card(), figure=self._picture()).html

    def _picture(self) -> str | None:
        """A small figure; None without Matplotlib, or where there is nothing to draw."""
        draw = PICTURES.get(type(self).__name__)
        return None if draw is None or find_spec("matplotlib") is None else draw(self)

    def _repr_latex_(self) -> str | None:
        formula = self.card().formula
        return None if formula is None else rf"$\displaystyle {formula}$"


def inline(latex: str) -> str:
    """LaTeX as a formula inside a card's text."""
    return rf"\({latex}\)"


def number(value: object) -> str:
    """A number in a few characters: short exact ones unchanged, others with five digits."""
    text = str(value)
    if value is None or isinstance(value, str | int) or (not isinstance(value, float) and len(text) <= 12):
        return "" if value is None else text
    from fedtheory.arithmetic import plain_float

    return f"{plain_float(value):.5g}"


def short(value: object) -> str:
    """A number for a terminal or a page: six digits, exact fractions where they are short, a dash for none."""
    if value is None:
        return "-"
    text = str(value)
    if not isinstance(value, float) and len(text) <= 12:
        return text
    from fedtheory.arithmetic import plain_float

    return f"{plain_float(value):.6g}"


def short_below(value: float) -> str:
    """A number with six digits, rounded down: a step size that is copied from it does not pass a limit."""
    from decimal import ROUND_FLOOR, Context

    if float(short(value)) <= value:
        return short(value)
    return short(float(Context(prec=6, rounding=ROUND_FLOOR).create_decimal_from_float(value)))


def frame(columns: Mapping[str, Sequence[Any]], index: str) -> Any:
    """A pandas data frame of columns of equal length, one of them its index; `MissingExtra` without pandas."""
    try:
        import pandas as pd
    except ImportError:
        raise MissingExtra("notebook", "a data frame") from None
    return pd.DataFrame(dict(columns)).set_index(index)


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    head = "".join(f'<th style="text-align:left">{escape(column)}</th>' for column in columns)
    body = "".join("<tr>" + "".join(map(_cell, row)) + "</tr>" for row in rows)
    return f"<table>{f'<thead><tr>{head}</tr></thead>' if columns else ''}<tbody>{body}</tbody></table>"


def _cell(text: str) -> str:
    """A cell of a table: text on the left, where notebooks would put it on the right."""
    return f'<td style="text-align:left">{escape(text)}</td>'


def _image(svg: str, title: str) -> str:
    """A figure as an image, which a notebook shows before its code is trusted; inline SVG it would cut out."""
    data = b64encode(svg.encode()).decode()
    source = f"data:image/svg+xml;base64,{data}"
    return f'<div style="max-width:30em"><img style="width:100%" alt="{escape(title)}" src="{source}"/></div>'
