"""The subject of an explorer: one link of the claim's statement, with its conditions, as functions of numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import sympy as sp

from fedtheory.kernel.expressions import Average, Expr
from fedtheory.language.claim import Claim, Operator, Relation
from fedtheory.language.quantities import Quantity, RunQuantity
from fedtheory.language.typesetting import latex
from fedtheory.planner.bound import STEP, list_terms
from report.explorer.javascript import describe_obstacle
from report.explorer.ranges import STEP_SIZES, Range, choose_ranges

_MIRRORED: Mapping[Operator, Operator] = {"<=": ">=", ">=": "<=", "<": ">", ">": "<"}
_FIRST = (*STEP_SIZES, "local_steps", "client_local_steps", "rounds", "iterations", "clients", "participants")
"""Quantities that come first, because the user of the algorithm chooses them."""


@dataclass(frozen=True)
class StatementLink:
    """One inequality of a statement, or the order of a rate."""

    left: Expr
    relation: Operator
    right: Expr
    is_order: bool = False
    """Whether the right side is only an order of magnitude."""

    @property
    def latex(self) -> str:
        """Return the link as LaTeX."""
        if self.is_order:
            return rf"{latex(self.left)} = O\left({latex(self.right)}\right)"
        return Relation(self.left, self.relation, self.right).latex

    def substitute_symbols(self, places: Mapping[Expr, Expr]) -> StatementLink:
        """Return the link with some expressions replaced."""
        return replace(self, left=self.left.xreplace(places), right=self.right.xreplace(places))

    def is_explored(self, kind: str) -> bool:
        """Return whether a claim is explored: a bound by a formula, or another claim with a formula in two symbols."""
        return not self.right.is_Atom and len(self.right.free_symbols) >= (1 if kind == "bound" else 2)


@dataclass(frozen=True)
class ExploredLink:
    """A link with its conditions, in common symbols."""

    link: StatementLink
    has_left: bool
    """Whether the left side is a formula in the same symbols."""
    terms: Sequence[Expr]
    """The terms of the right side; empty if there is only one."""
    conditions: Sequence[Expr]
    undecided: Sequence[Expr]
    """Conditions that are not relations between numbers."""
    symbols: Sequence[sp.Symbol]
    ranges: Sequence[Range]
    """Ranges of each symbol."""
    across: int
    """Index of the symbol that is initially on the horizontal axis."""
    means: Mapping[sp.Symbol, Expr]
    """The averages over clients that have their own symbols."""
    notation: Mapping[sp.Symbol, Quantity]
    """Quantities of the symbols; for the symbol of an average, the averaged quantity."""

    def restore_averages(self, expression: Expr) -> Expr:
        """Return an expression with the averages as in the claim."""
        return expression.xreplace(self.means)


def find_subject(claim: Claim) -> ExploredLink | None:
    """Return the first link whose right side is a function of numbers; None if there is none."""
    link = next((link for link in _list_links(claim) if _describe_obstacle(link, claim) is None), None)
    return None if link is None else _build_subject(claim, link)


def explain_missing_explorer(claim: Claim) -> str:
    """Return the reason why a claim with an inequality or a rate has no explorer; empty for other claims."""
    obstacles = [_describe_obstacle(link, claim) for link in _list_links(claim)]
    return "" if not obstacles or None in obstacles else str(obstacles[0])


def _list_links(claim: Claim) -> list[StatementLink]:
    """Return the inequalities of a statement, with the formula on the right, and the order of a rate."""
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
    """Describe the part of a right side that the explorer cannot compute; None if there is none."""
    return describe_obstacle(link.right.xreplace(_create_mean_symbols(link.right, claim)), claim.notation)


def _create_mean_symbols(right: Expr, claim: Claim) -> dict[Expr, sp.Symbol]:
    """Return symbols for averages over clients of constants, which are numbers on a problem."""
    found = sorted((node for node in right.atoms(Average) if _is_constant(node.args[0], claim)), key=str)
    return {node: sp.Symbol(latex(node), nonnegative=True) for node in found}


def _is_constant(averaged: Expr, claim: Claim) -> bool:
    quantity = claim.notation.get(averaged)
    return isinstance(quantity, RunQuantity) and quantity.is_constant


def _build_subject(claim: Claim, stated: StatementLink) -> ExploredLink:
    symbol_of = _create_mean_symbols(stated.right, claim)
    link = stated.substitute_symbols(symbol_of)
    notation = {**claim.notation, **{symbol: claim.notation[node.args[0]] for node, symbol in symbol_of.items()}}
    conditions = [
        _replace_step_size(claim, sp.sympify(condition)).xreplace(symbol_of) for condition in claim.conditions
    ]
    decided = [c for c in conditions if all(describe_obstacle(side, claim.notation) is None for side in c.args)]
    symbols = _list_symbols([link.right, *decided], claim)
    terms = list_terms(link.right)
    # Lower bounds may be negative for all values.
    wishes = [] if link.relation in (">=", ">") else [sp.Gt(link.right, 0, evaluate=False)]
    return ExploredLink(
        link=link,
        has_left=_is_formula_in(link, symbols, claim),
        terms=terms if len(terms) > 1 else (),
        conditions=decided,
        undecided=[condition for condition in conditions if condition not in decided],
        symbols=symbols,
        ranges=choose_ranges(symbols, notation, decided, wishes),
        across=_choose_variable(claim, symbols, link.right),
        means={symbol: node for node, symbol in symbol_of.items()},
        notation=notation,
    )


def _is_formula_in(link: StatementLink, symbols: Sequence[sp.Symbol], claim: Claim) -> bool:
    """Return whether the left side of an inequality is a formula in the given symbols, not a measured quantity."""
    formula = not link.is_order and not link.left.is_Atom and describe_obstacle(link.left, claim.notation) is None
    return formula and link.left.free_symbols <= {*symbols}


def _replace_step_size(claim: Claim, condition: Expr) -> Expr:
    """Return a condition; a step size that the rate sets is replaced by its formula."""
    step = None if claim.rate is None else claim.rate.step_size
    if step is None or describe_obstacle(step, claim.notation) is not None:
        return condition
    chosen = {symbol: step for symbol in claim.notation if get_name(symbol, claim.notation) == STEP}
    return condition.func(*(side.xreplace(chosen) for side in condition.args), evaluate=False)


def _list_symbols(expressions: Sequence[Expr], claim: Claim) -> list[sp.Symbol]:
    """Return the symbols: choices of the user first, then constants and others, by name."""
    found: set[sp.Symbol] = set().union(*(expression.free_symbols for expression in expressions))

    def rank(symbol: sp.Symbol) -> tuple[int, str, str]:
        """Return a sort key of a symbol: common symbols first, then in alphabetical order."""
        name, symbols = get_name(symbol, claim.notation), str(symbol)
        return (_FIRST.index(name) if name in _FIRST else len(_FIRST), symbols.lower(), symbols)

    return sorted(found, key=rank)


def get_name(symbol: sp.Symbol, notation: Mapping[sp.Symbol, Quantity]) -> str:
    """Return the name of a symbol's quantity; empty for a universally quantified symbol."""
    return notation[symbol].name if symbol in notation else ""


def _choose_variable(claim: Claim, symbols: Sequence[sp.Symbol], right: Expr) -> int:
    """Return the index of the rate's variable, or of the first symbol in the right side."""
    if claim.rate is not None and claim.rate.variables[0] in symbols:
        return symbols.index(claim.rate.variables[0])
    return next(number for number, symbol in enumerate(symbols) if symbol in right.free_symbols)
