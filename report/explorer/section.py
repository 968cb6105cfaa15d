"""The section of the explorer on a claim's page: formulas, sliders, and the data and functions of its script."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import sympy as sp
from markupsafe import Markup
from sympy.printing.pretty.pretty_symbology import pretty_symbol

from fedtheory.arithmetic import NEAR_TIE
from fedtheory.kernel.expressions import Expr
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.language.typesetting import latex
from report.explorer.comparator_problems import ExploredProblem, find_length_factors, list_problems
from report.explorer.javascript import name_arguments, write_javascript
from report.explorer.ranges import NOTCHES, Range
from report.explorer.subject import ExploredLink, find_subject
from report.figures.style import CYCLE, DASHES, choose_colour, choose_dash
from report.mathml import typeset_formula, typeset_statement
from report.user_runs import UserRun

_STROKES = dict(zip(DASHES, ("none", "7 4", "9 3 2 3", "2 3", "12 3", "4 2 1 2"), strict=True))
"""Matplotlib's dash patterns in SVG format."""


@dataclass(frozen=True)
class Slider:
    """The slider of one symbol."""

    symbol: Markup
    text: str
    """The symbol as plain text for menus; empty if it has no short form."""
    meaning: str
    range: Range


@dataclass(frozen=True)
class TermCurve:
    """One term of the right side, with the style of its curve."""

    formula: Markup
    colour: str
    dash: str


@dataclass(frozen=True)
class BestPoint:
    """The best comparator y of a bound, in its symbols."""

    point: Markup
    minimised: Markup
    length: Markup
    """Quantities that determine the point."""
    problems: Sequence[str]
    """Problems with known values."""


@dataclass(frozen=True)
class ExplorerSection:
    """Content of the section."""

    statement: Markup
    is_order: bool
    sliders: Sequence[Slider]
    left: Markup | None
    """The left side, if it is a formula in the same symbols."""
    right: Markup
    terms: Sequence[TermCurve]
    """The terms of the right side; empty if there is only one."""
    conditions: Sequence[Markup]
    undecided: Sequence[Markup]
    """Conditions that are not relations between numbers."""
    best: BestPoint | None
    """The best point, if the bound holds for every point and a problem is known."""
    across: int
    """Index of the slider that is initially on the horizontal axis."""
    data: Markup
    """JSON for the script."""
    functions: Markup
    """The compiled right side, terms and conditions as the body of a JavaScript object."""


def make_explorer_section(claim: Claim, runs: Sequence[UserRun] = ()) -> ExplorerSection | None:
    """Return the explorer of a claim on the problems of some runs; None if no link is a function of numbers."""
    subject = find_subject(claim)
    return None if subject is None else _build_section(subject, list_problems(claim, subject, runs))


def _build_section(subject: ExploredLink, problems: Sequence[ExploredProblem]) -> ExplorerSection:
    link = subject.link.substitute_symbols(subject.means)
    return ExplorerSection(
        statement=typeset_statement(link.latex),
        is_order=link.is_order,
        sliders=[
            _build_slider(symbol, subject, span) for symbol, span in zip(subject.symbols, subject.ranges, strict=True)
        ],
        left=_render_block(link.left) if subject.has_left else None,
        right=_render_block(link.right),
        terms=[_build_term(number, subject.restore_averages(term)) for number, term in enumerate(subject.terms)],
        conditions=[_render_block(subject.restore_averages(condition)) for condition in subject.conditions],
        undecided=[typeset_formula(latex(subject.restore_averages(condition))) for condition in subject.undecided],
        best=_find_best(subject, problems) if problems else None,
        across=subject.across,
        data=_render_data(subject, problems),
        functions=_render_functions(subject),
    )


def _render_block(expression: Expr) -> Markup:
    return typeset_formula(latex(expression), "block")


def _build_slider(symbol: sp.Symbol, subject: ExploredLink, span: Range) -> Slider:
    quantity = subject.notation.get(symbol)
    meaning = "any number" if quantity is None else quantity.name.replace("_", " ")
    if symbol in subject.means:
        (averaged,) = subject.means[symbol].args
        meaning = f"mean of {_format_text(averaged) or meaning} over the clients"
    return Slider(typeset_formula(latex(subject.restore_averages(symbol))), _format_text(symbol), meaning, span)


def _format_text(symbol: sp.Symbol) -> str:
    pretty = pretty_symbol(symbol.name) if symbol.name.isidentifier() else ""
    # A name of several characters that SymPy does not know is not readable as a symbol.
    return pretty if pretty != symbol.name or len(pretty) <= 2 else ""


def _build_term(number: int, term: Expr) -> TermCurve:
    return TermCurve(_render_block(term), choose_colour(number), _STROKES[choose_dash(number + number // len(CYCLE))])


def _find_best(subject: ExploredLink, problems: Sequence[ExploredProblem]) -> BestPoint:
    symbols = (latex(symbol) for symbol, quantity in subject.notation.items() if quantity is q.comparator)
    point = next(symbols, "y")
    length = " ".join(latex(subject.symbols[place]) for place in find_length_factors(subject))
    return BestPoint(
        point=typeset_formula(point),
        minimised=typeset_formula(rf"F({point})+\frac{{\|x^0-{point}\|^2}}{{2{length}}}"),
        length=typeset_formula(length),
        problems=[problem.name for problem in problems],
    )


def _render_data(subject: ExploredLink, problems: Sequence[ExploredProblem]) -> Markup:
    data = {
        "notches": NOTCHES,
        "sliders": _list_divisions(subject.ranges),
        "relation": subject.link.relation,
        "operators": [condition.rel_op for condition in subject.conditions],
        "undecided": bool(subject.undecided),
        "nearTie": NEAR_TIE,
    }
    if problems:
        data |= {"length": find_length_factors(subject), "problems": [_encode_problem(problem) for problem in problems]}
    # Only the characters of the operators have a meaning in HTML.
    return Markup(json.dumps(data).replace("<", "\\u003c").replace(">", "\\u003e"))


def _list_divisions(ranges: Sequence[Range]) -> list[dict[str, Any]]:
    """Return the divisions of the sliders."""
    return [{"low": r.low, "high": r.high, "whole": r.whole, "zero": r.zero} for r in ranges]


def _encode_problem(problem: ExploredProblem) -> dict[str, Any]:
    return {
        "sliders": _list_divisions(problem.ranges),
        "numbers": [span.first for span in problem.ranges],
        "length": problem.length,
        "first": problem.first,
        "tables": problem.tables,
    }


def _render_functions(subject: ExploredLink) -> Markup:
    names = name_arguments(subject.symbols)

    def write_array(expressions: Iterable[Expr]) -> str:
        """Write expressions as a JavaScript array of functions."""
        return _encode_array(write_javascript(expression, names) for expression in expressions)

    entries = {
        "left": write_array([subject.link.left] if subject.has_left else []),
        "bound": write_javascript(subject.link.right, names),
        "terms": write_array(subject.terms),
        "conditions": _encode_array(write_array((condition.lhs, condition.rhs)) for condition in subject.conditions),
    }
    return Markup(",\n".join(f"{name}: {code}" for name, code in entries.items()))


def _encode_array(entries: Iterable[str]) -> str:
    return f"[{', '.join(entries)}]"
