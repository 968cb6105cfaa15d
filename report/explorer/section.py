"""What the explorer of a claim shows: one link of its statement, split into terms, with its conditions and sliders."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import sympy as sp
from markupsafe import Markup
from sympy.printing.pretty.pretty_symbology import pretty_symbol

from fedtheory.arithmetic import NEAR_TIE
from fedtheory.claim import Claim
from fedtheory.expressions import Expr, latex
from fedtheory.planner.bound import STEP, terms_of
from fedtheory.quantities.notion import Notion
from report.explorer.javascript import argument_names, javascript, obstacle
from report.explorer.ranges import NOTCHES, STEP_SIZES, Range, ranges
from report.figures.style import CYCLE, DASHES
from report.mathml import displayed, formula

_OPERATORS = {"<": "<", "<=": r"\le", ">": ">", ">=": r"\ge", "==": "="}
_MIRRORED = {"<=": ">=", ">=": "<=", "<": ">", ">": "<"}
_STROKES = dict(zip(DASHES, ("none", "7 4", "9 3 2 3", "2 3", "12 3", "4 2 1 2"), strict=True))
"""Matplotlib's dashes as SVG has them."""
_FIRST = (*STEP_SIZES, "local_steps", "client_local_steps", "rounds", "iterations", "clients", "participants")
"""Quantities whose sliders come first: what a run chooses."""


@dataclass(frozen=True)
class Link:
    """One inequality of a statement, or the order of a rate."""

    left: Expr
    relation: str
    right: Expr
    is_order: bool = False
    """Whether the right side is an order of magnitude only."""

    @property
    def latex(self) -> str:
        """The link, typeset."""
        right = latex(self.right)
        return rf"{latex(self.left)} {_OPERATORS[self.relation]} " + (
            rf"O\left({right}\right)" if self.is_order else right
        )

    def is_explored(self, kind: str) -> bool:
        """Whether there is something to explore: a bound by a formula, and in other claims a formula in two symbols."""
        return not self.right.is_Atom and len(self.right.free_symbols) >= (1 if kind == "bound" else 2)


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
    """The explorer of the first link whose right side is a function of numbers; None where there is none."""
    for link in _links(claim):
        if obstacle(link.right, claim.notation) is None:
            return _section(claim, link)
    return None


def no_explorer(claim: Claim) -> str:
    """Why a claim with an inequality or a rate has no explorer; empty for all others."""
    obstacles = [obstacle(link.right, claim.notation) for link in _links(claim)]
    return obstacles[0] or "" if obstacles and all(obstacles) else ""


def _links(claim: Claim) -> list[Link]:
    """The inequalities of a statement with the formula on the right, and the order of a rate."""
    if claim.kind in ("assumption", "definition"):
        return []
    found = [Link(r.left, r.operator, r.right) for r in claim.relations if r.operator != "=="]
    links = [Link(k.right, _MIRRORED[k.relation], k.left) if k.right.is_Symbol else k for k in found]
    if claim.rate is not None:
        constant = claim.rate.constant
        if constant is None:
            links.append(Link(claim.rate.measured, "==", claim.rate.order, is_order=True))
        else:
            links.append(Link(claim.rate.measured, "<=", constant * claim.rate.order))
    return [link for link in links if link.is_explored(claim.kind)]


def _section(claim: Claim, link: Link) -> ExplorerSection:
    conditions = [sp.sympify(condition).xreplace(_chosen(claim)) for condition in claim.conditions]
    decided = [c for c in conditions if all(obstacle(side, claim.notation) is None for side in (c.lhs, c.rhs))]
    symbols = _symbols([link.right, *decided], claim)
    found = ranges(symbols, claim.notation, decided, link.right)
    parts = terms_of(link.right)
    terms = parts if len(parts) > 1 else ()
    has_left = (
        not link.left.is_Atom and obstacle(link.left, claim.notation) is None and link.left.free_symbols <= {*symbols}
    )
    return ExplorerSection(
        statement=displayed(link.latex),
        is_order=link.is_order,
        sliders=[_slider(symbol, claim, span) for symbol, span in zip(symbols, found, strict=True)],
        left=formula(latex(link.left), "block") if has_left else None,
        right=formula(latex(link.right), "block"),
        terms=[_term(number, term) for number, term in enumerate(terms)],
        conditions=[formula(latex(condition), "block") for condition in decided],
        undecided=[formula(latex(condition)) for condition in conditions if condition not in decided],
        across=_across(claim, symbols, link.right),
        data=_data(found, decided, link.relation),
        functions=_functions([link.left] if has_left else [], link.right, terms, decided, symbols),
    )


def _chosen(claim: Claim) -> dict[sp.Symbol, Expr]:
    """Step sizes that a rate makes a function of its variable, in place of their symbols."""
    step = None if claim.rate is None else claim.rate.step_size
    if step is None or obstacle(step, claim.notation) is not None:
        return {}
    return {symbol: step for symbol in claim.notation if _name(symbol, claim.notation) == STEP}


def _symbols(expressions: Sequence[Expr], claim: Claim) -> list[sp.Symbol]:
    """What a run chooses first, then constants and all else, by name."""
    found: set[sp.Symbol] = set().union(*(expression.free_symbols for expression in expressions))

    def place(symbol: sp.Symbol) -> tuple[int, str]:
        name = _name(symbol, claim.notation)
        return (_FIRST.index(name) if name in _FIRST else len(_FIRST), str(symbol).lower())

    return sorted(found, key=place)


def _name(symbol: sp.Symbol, notation: dict[sp.Symbol, Notion]) -> str:
    return notation[symbol].name if symbol in notation else ""


def _slider(symbol: sp.Symbol, claim: Claim, span: Range) -> Slider:
    pretty = pretty_symbol(symbol.name) if symbol.name.isidentifier() else ""
    # Names of more than two letters that SymPy does not know are no symbols to a reader.
    text = pretty if pretty != symbol.name or len(pretty) <= 2 else ""
    meaning = _name(symbol, claim.notation).replace("_", " ") or "any number"
    return Slider(formula(latex(symbol)), text, meaning, span)


def _term(number: int, term: Expr) -> Term:
    dash = DASHES[(number + number // len(CYCLE)) % len(DASHES)]
    return Term(formula(latex(term), "block"), CYCLE[number % len(CYCLE)], _STROKES[dash])


def _across(claim: Claim, symbols: Sequence[sp.Symbol], right: Expr) -> int:
    """The variable of a rate, or the first symbol that the right side depends on."""
    if claim.rate is not None and claim.rate.variable in symbols:
        return symbols.index(claim.rate.variable)
    return next(number for number, symbol in enumerate(symbols) if symbol in right.free_symbols)


def _data(found: Sequence[Range], conditions: Sequence[Expr], relation: str) -> Markup:
    sliders = [{"low": r.low, "high": r.high, "whole": r.whole, "zero": r.zero} for r in found]
    operators = [condition.rel_op for condition in conditions]
    data = {
        "notches": NOTCHES,
        "sliders": sliders,
        "relation": relation,
        "operators": operators,
        "nearTie": NEAR_TIE,
    }
    # The only characters with a meaning to HTML are those of the operators.
    return Markup(json.dumps(data).replace("<", "\\u003c").replace(">", "\\u003e"))


def _functions(
    lefts: Sequence[Expr],
    right: Expr,
    terms: Sequence[Expr],
    conditions: Sequence[Expr],
    symbols: Sequence[sp.Symbol],
) -> Markup:
    names = argument_names(symbols)
    entries = {
        "left": _array(javascript(left, names) for left in lefts),
        "bound": javascript(right, names),
        "terms": _array(javascript(term, names) for term in terms),
        "conditions": _array(_array(javascript(side, names) for side in (c.lhs, c.rhs)) for c in conditions),
    }
    return Markup(",\n".join(f"{name}: {code}" for name, code in entries.items()))


def _array(entries: Iterable[str]) -> str:
    return f"[{', '.join(entries)}]"
