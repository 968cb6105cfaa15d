"""Subject of a claim's explorer: one link of its statement, with its conditions, as functions of numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import sympy as sp

from fedtheory.kernel.expressions import Average, Expr
from fedtheory.language.claim import Claim, Operator, Relation
from fedtheory.language.quantities import Quantity, RunQuantity
from fedtheory.language.typesetting import latex
from fedtheory.planner.bound import STEP, terms_of
from report.explorer.javascript import describe_obstacle
from report.explorer.ranges import STEP_SIZES, Range, ranges

_MIRRORED: Mapping[Operator, Operator] = {"<=": ">=", ">=": "<=", "<": ">", ">": "<"}
_FIRST = (*STEP_SIZES, "local_steps", "client_local_steps", "rounds", "iterations", "clients", "participants")
"""Quantities that come first: what a run chooses."""


@dataclass(frozen=True)
class StatementLink:
    """One inequality of a statement, or the order of a rate."""

    left: Expr
    relation: Operator
    right: Expr
    is_order: bool = False
    """Whether the right side is an order of magnitude only."""

    @property
    def latex(self) -> str:
        """The link, typeset."""
        if self.is_order:
            return rf"{latex(self.left)} = O\left({latex(self.right)}\right)"
        return Relation(self.left, self.relation, self.right).latex

    def with_symbols(self, places: Mapping[Expr, Expr]) -> StatementLink:
        """The link with other expressions in the places of some."""
        return replace(self, left=self.left.xreplace(places), right=self.right.xreplace(places))

    def is_explored(self, kind: str) -> bool:
        """Whether there is something to explore: a bound by a formula, and in other claims a formula in two symbols."""
        return not self.right.is_Atom and len(self.right.free_symbols) >= (1 if kind == "bound" else 2)


@dataclass(frozen=True)
class ExploredLink:
    """A link and what belongs to it, all of it in the same symbols."""

    link: StatementLink
    has_left: bool
    """Whether the left side is a formula in the same symbols."""
    terms: Sequence[Expr]
    """Terms of the right side; empty where it is one term."""
    conditions: Sequence[Expr]
    undecided: Sequence[Expr]
    """Conditions that are no relations between numbers."""
    symbols: Sequence[sp.Symbol]
    ranges: Sequence[Range]
    """Ranges of each symbol."""
    across: int
    """Number of the symbol along the horizontal axis at first."""
    means: Mapping[sp.Symbol, Expr]
    """The means over clients that have their own symbols."""
    notation: Mapping[sp.Symbol, Quantity]
    """Quantities of the symbols; for the symbol of a mean, the quantity that is averaged."""

    def stated(self, expression: Expr) -> Expr:
        """An expression with the means as the claim states them."""
        return expression.xreplace(self.means)


def subject_of(claim: Claim) -> ExploredLink | None:
    """The first link whose right side is a function of numbers; None where there is none."""
    link = next((link for link in _links(claim) if _describe_obstacle(link, claim) is None), None)
    return None if link is None else _subject(claim, link)


def no_explorer(claim: Claim) -> str:
    """Why a claim with an inequality or a rate has no explorer; empty for all others."""
    obstacles = [_describe_obstacle(link, claim) for link in _links(claim)]
    return "" if not obstacles or None in obstacles else str(obstacles[0])


def _links(claim: Claim) -> list[StatementLink]:
    """The inequalities of a statement with the formula on the right, and the order of a rate."""
    if claim.kind in ("assumption", "definition"):
        return []
    found = [StatementLink(r.left, r.operator, r.right) for r in claim.relations if r.operator != "=="]
    links = [StatementLink(k.right, _MIRRORED[k.relation], k.left) if k.right.is_Symbol else k for k in found]
    if claim.rate is not None:
        constant = claim.rate.constant
        if constant is None:
            links.append(StatementLink(claim.rate.measured, "==", claim.rate.order, is_order=True))
        else:
            links.append(StatementLink(claim.rate.measured, "<=", constant * claim.rate.order))
    return [link for link in links if link.is_explored(claim.kind)]


def _describe_obstacle(link: StatementLink, claim: Claim) -> str | None:
    """Describe the part of a right side that the explorer cannot compute; None where there is none."""
    return describe_obstacle(link.right.xreplace(_create_mean_symbols(link.right, claim)), claim.notation)


def _create_mean_symbols(right: Expr, claim: Claim) -> dict[Expr, sp.Symbol]:
    """Symbols for the means over clients of a constant that each of them has: on a problem these are numbers."""
    found = sorted((node for node in right.atoms(Average) if _is_constant(node.args[0], claim)), key=str)
    return {node: sp.Symbol(latex(node), nonnegative=True) for node in found}


def _is_constant(averaged: Expr, claim: Claim) -> bool:
    quantity = claim.notation.get(averaged)
    return isinstance(quantity, RunQuantity) and quantity.is_constant


def _subject(claim: Claim, stated: StatementLink) -> ExploredLink:
    symbol_of = _create_mean_symbols(stated.right, claim)
    link = stated.with_symbols(symbol_of)
    notation = {**claim.notation, **{symbol: claim.notation[node.args[0]] for node, symbol in symbol_of.items()}}
    conditions = [_as_chosen(claim, sp.sympify(condition)).xreplace(symbol_of) for condition in claim.conditions]
    decided = [c for c in conditions if all(describe_obstacle(side, claim.notation) is None for side in c.args)]
    symbols = _symbols([link.right, *decided], claim)
    terms = terms_of(link.right)
    # Lower bounds may be negative throughout.
    wishes = [] if link.relation in (">=", ">") else [sp.Gt(link.right, 0, evaluate=False)]
    return ExploredLink(
        link=link,
        has_left=_is_formula_in(link, symbols, claim),
        terms=terms if len(terms) > 1 else (),
        conditions=decided,
        undecided=[condition for condition in conditions if condition not in decided],
        symbols=symbols,
        ranges=ranges(symbols, notation, decided, wishes),
        across=_choose_variable(claim, symbols, link.right),
        means={symbol: node for node, symbol in symbol_of.items()},
        notation=notation,
    )


def _is_formula_in(link: StatementLink, symbols: Sequence[sp.Symbol], claim: Claim) -> bool:
    """Return whether the left side of an inequality is a formula in some symbols, instead of something measured."""
    formula = not link.is_order and not link.left.is_Atom and describe_obstacle(link.left, claim.notation) is None
    return formula and link.left.free_symbols <= {*symbols}


def _as_chosen(claim: Claim, condition: Expr) -> Expr:
    """A condition, with a step size that a rate makes a function of its variable in place of the symbol."""
    step = None if claim.rate is None else claim.rate.step_size
    if step is None or describe_obstacle(step, claim.notation) is not None:
        return condition
    chosen = {symbol: step for symbol in claim.notation if name_of(symbol, claim) == STEP}
    return condition.func(*(side.xreplace(chosen) for side in condition.args), evaluate=False)


def _symbols(expressions: Sequence[Expr], claim: Claim) -> list[sp.Symbol]:
    """Return the symbols: choices of a run first, then constants and others, by name."""
    found: set[sp.Symbol] = set().union(*(expression.free_symbols for expression in expressions))

    def rank(symbol: sp.Symbol) -> tuple[int, str, str]:
        """Rank a symbol: the common ones first, then in alphabetical order."""
        name, symbols = name_of(symbol, claim), str(symbol)
        return (_FIRST.index(name) if name in _FIRST else len(_FIRST), symbols.lower(), symbols)

    return sorted(found, key=rank)


def name_of(symbol: sp.Symbol, claim: Claim) -> str:
    """Return the name of a symbol's quantity; empty for a universally quantified symbol."""
    return claim.notation[symbol].name if symbol in claim.notation else ""


def _choose_variable(claim: Claim, symbols: Sequence[sp.Symbol], right: Expr) -> int:
    """The variable of a rate, or the first symbol that the right side depends on."""
    if claim.rate is not None and claim.rate.variables[0] in symbols:
        return symbols.index(claim.rate.variables[0])
    return next(number for number, symbol in enumerate(symbols) if symbol in right.free_symbols)
