"""Compile the relations and conditions of a claim into functions of a run, or raise an error in the claim."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import sympy as sp

from fedtheory.errors import InputError
from fedtheory.kernel.expressions import Average, ClientSum, Expr, Inner, Value
from fedtheory.language.claim import Claim, Relation
from fedtheory.language.evaluation import Compiled, compile_expression
from fedtheory.language.meaning import require_meaning
from fedtheory.language.quantities import Quantity, RunQuantity


@dataclass(frozen=True, eq=False)
class CompiledRelation:
    """A relation of a claim, compiled."""

    relation: Relation
    left: Compiled
    right: Compiled

    @cached_property
    def is_identity(self) -> bool:
        """Return whether SymPy proves both sides equal for all values of their symbols."""
        sides = self.relation.left - self.relation.right
        return not sides.atoms(Inner, Value, Average) and not _differs_somewhere(sides) and sp.simplify(sides) == 0

    def slack(self, lhs: Any, rhs: Any) -> Any:
        """Return the slack of an inequality, or the difference of the sides of an equation, from their values."""
        smaller, larger = self.relation.in_order(lhs, rhs)
        return larger - smaller


def _differs_somewhere(sides: Expr) -> bool:
    """Return whether a difference is clearly non-zero at certain rationals for one client; this test is fast."""
    of_one_client = sides.replace(ClientSum, lambda summand: summand)
    symbols = enumerate(sorted(of_one_client.free_symbols, key=str))
    numbers = {symbol: sp.Rational(2 * n + 3, 1 if symbol.is_integer else n + 2) for n, symbol in symbols}
    value = of_one_client.subs(numbers)
    if isinstance(value, sp.Rational):
        return bool(value != 0)
    return bool(value.is_number and value.is_finite and abs(value.evalf(_DIGITS)) > _CLEARLY)


_DIGITS, _CLEARLY = 30, 1e-9


@cache
def compile_relations(claim: Claim) -> list[CompiledRelation]:
    """Return the relations of a claim, compiled; raises `InputError` where a side is outside the language."""
    return [_compile_link(claim, relation, claim.place) for relation in claim.relations]


@cache
def compile_conditions(claim: Claim) -> list[CompiledRelation]:
    """Return the conditions of a claim, compiled; claims that share a condition share the result."""
    return [_compile_shared(claim, condition) for condition in claim.run_conditions]


def _compile_shared(claim: Claim, condition: Expr) -> CompiledRelation:
    link = _compile_link(claim, _convert_to_relation(claim, condition), "run")
    meaning = frozenset((symbol, claim.notation[symbol]) for symbol in condition.free_symbols)
    return _LINKS.setdefault((condition, meaning), link)


_LINKS: dict[tuple[Expr, frozenset[tuple[sp.Symbol, Quantity]]], CompiledRelation] = {}


def _convert_to_relation(claim: Claim, condition: Expr) -> Relation:
    if not isinstance(condition, sp.core.relational.Relational) or condition.rel_op == "!=":
        expected = "expected conditions such as eta <= 1/(4*L), with symbols for which they may be true or false"
        raise InputError(claim.id, f"{expected}, got {condition}")
    return Relation(condition.lhs, condition.rel_op, condition.rhs)


def _compile_link(claim: Claim, relation: Relation, place: str) -> CompiledRelation:
    return CompiledRelation(
        relation, compile_side(claim, relation.left, place), compile_side(claim, relation.right, place)
    )


def compile_side(
    claim: Claim, side: Expr, place: str, notation: Mapping[sp.Symbol, Quantity] | None = None
) -> Compiled:
    """Compile an expression of a claim in its notation or another; raises `InputError` where it has no meaning."""
    unbound = claim.unbound_symbols
    if unbound:
        raise InputError(claim.id, f"`where` has no quantity for {', '.join(sorted(map(str, unbound)))} stands for")
    if place in ("round", "points"):
        _refuse_rounds(claim, side, place)
    try:
        require_meaning(side, place)
        return compile_expression(side, claim.notation if notation is None else notation)
    except ValueError as error:
        raise InputError(claim.id, str(error)) from None


def _refuse_rounds(claim: Claim, side: Expr, place: str) -> None:
    for symbol in side.free_symbols:
        quantity = claim.notation.get(symbol)
        if isinstance(quantity, RunQuantity) and quantity.per_round:
            raise InputError(claim.id, f"{quantity.name} has a value for each round, not at place={place!r}")
