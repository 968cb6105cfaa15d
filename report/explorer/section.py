"""The explorer on a claim's page, ready for its template: formulas, sliders, and the script's data and functions."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import sympy as sp
from markupsafe import Markup
from sympy.printing.pretty.pretty_symbology import pretty_symbol

from fedtheory.arithmetic import NEAR_TIE
from fedtheory.kernel.expressions import Expr
from fedtheory.language.claim import Claim
from fedtheory.language.typesetting import latex
from report.explorer.javascript import argument_names, javascript
from report.explorer.ranges import NOTCHES, Range
from report.explorer.subject import Subject, name_of, subject_of
from report.figures.style import CYCLE, DASHES, colour, dash
from report.mathml import displayed, formula

_STROKES = dict(zip(DASHES, ("none", "7 4", "9 3 2 3", "2 3", "12 3", "4 2 1 2"), strict=True))
"""Matplotlib's dashes as SVG has them."""


@dataclass(frozen=True)
class Slider:
    """One symbol."""

    symbol: Markup
    text: str
    """The symbol where a menu cannot hold formulas; empty where it has no short form."""
    meaning: str
    range: Range


@dataclass(frozen=True)
class Term:
    """One term of the right side, with the look of its curve."""

    formula: Markup
    colour: str
    dash: str


@dataclass(frozen=True)
class ExplorerSection:
    """What the page shows."""

    statement: Markup
    is_order: bool
    sliders: Sequence[Slider]
    left: Markup | None
    """The left side where it is a formula in the same symbols."""
    right: Markup
    terms: Sequence[Term]
    """Empty where the right side is one term."""
    conditions: Sequence[Markup]
    undecided: Sequence[Markup]
    """Conditions that are no relations between numbers."""
    across: int
    """Number of the slider along the horizontal axis at first."""
    data: Markup
    """JSON for the script."""
    functions: Markup
    """The compiled right side, terms and conditions: the body of a JavaScript object."""


def explorer_section(claim: Claim) -> ExplorerSection | None:
    """The explorer of a claim; None where nothing in it is a function of numbers."""
    subject = subject_of(claim)
    return None if subject is None else _section(claim, subject)


def _section(claim: Claim, subject: Subject) -> ExplorerSection:
    link = subject.link
    return ExplorerSection(
        statement=displayed(link.latex),
        is_order=link.is_order,
        sliders=[_slider(symbol, claim, span) for symbol, span in zip(subject.symbols, subject.ranges, strict=True)],
        left=_block(link.left) if subject.has_left else None,
        right=_block(link.right),
        terms=[_term(number, term) for number, term in enumerate(subject.terms)],
        conditions=[_block(condition) for condition in subject.conditions],
        undecided=[formula(latex(condition)) for condition in subject.undecided],
        across=subject.across,
        data=_data(subject),
        functions=_functions(subject),
    )


def _block(expression: Expr) -> Markup:
    return formula(latex(expression), "block")


def _slider(symbol: sp.Symbol, claim: Claim, span: Range) -> Slider:
    pretty = pretty_symbol(symbol.name) if symbol.name.isidentifier() else ""
    # Names of more than two letters that SymPy does not know are no symbols to a reader.
    text = pretty if pretty != symbol.name or len(pretty) <= 2 else ""
    meaning = name_of(symbol, claim).replace("_", " ") or "any number"
    return Slider(formula(latex(symbol)), text, meaning, span)


def _term(number: int, term: Expr) -> Term:
    return Term(_block(term), colour(number), _STROKES[dash(number + number // len(CYCLE))])


def _data(subject: Subject) -> Markup:
    data = {
        "notches": NOTCHES,
        "sliders": [{"low": r.low, "high": r.high, "whole": r.whole, "zero": r.zero} for r in subject.ranges],
        "relation": subject.link.relation,
        "operators": [condition.rel_op for condition in subject.conditions],
        "undecided": bool(subject.undecided),
        "nearTie": NEAR_TIE,
    }
    # The only characters with a meaning to HTML are those of the operators.
    return Markup(json.dumps(data).replace("<", "\\u003c").replace(">", "\\u003e"))


def _functions(subject: Subject) -> Markup:
    names = argument_names(subject.symbols)

    def listed(expressions: Iterable[Expr]) -> str:
        return _array(javascript(expression, names) for expression in expressions)

    entries = {
        "left": listed([subject.link.left] if subject.has_left else []),
        "bound": javascript(subject.link.right, names),
        "terms": listed(subject.terms),
        "conditions": _array(listed((condition.lhs, condition.rhs)) for condition in subject.conditions),
    }
    return Markup(",\n".join(f"{name}: {code}" for name, code in entries.items()))


def _array(entries: Iterable[str]) -> str:
    return f"[{', '.join(entries)}]"
