"""Choices of the free points of a claim, and of its symbols under a quantifier, as its conditions allow them."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Mapping, Sequence
from functools import cache

import numpy as np
import sympy as sp

from fedtheory.arithmetic import NEAR_TIE, Array, Number, convert_keeping_signs
from fedtheory.arithmetic.enclosures import convert_inexact
from fedtheory.engine.frames import list_probe_points
from fedtheory.engine.run import Run
from fedtheory.errors import InputError, NotApplicable, Unresolved
from fedtheory.kernel.expressions import Expr
from fedtheory.language.claim import Claim
from fedtheory.language.evaluation import Compiled, Site, compile_expression
from fedtheory.language.evaluation.site import Choice
from fedtheory.language.quantities.quantity import PointQuantity

_NONE_ALLOWED = "no value that `for_all` gives satisfies the conditions on {}"


@cache
def list_free_points(claim: Claim) -> tuple[sp.Symbol, ...]:
    """Return the symbols of a claim that stand for free points."""
    return tuple(symbol for symbol, quantity in claim.notation.items() if isinstance(quantity, PointQuantity))


@cache
def list_symbol_values(claim: Claim) -> tuple[tuple[Expr, ...], ...]:
    """Return the values of all quantified symbols with which every condition on these symbols alone holds.

    Raises `InputError` if there are none.
    """
    varied = claim.for_all.keys()
    alone = [condition for condition in claim.choice_conditions if condition.free_symbols <= varied]

    def satisfies(values: tuple[Expr, ...]) -> bool:
        chosen = {symbol: sp.sympify(value) for symbol, value in zip(varied, values, strict=True)}
        return all(condition.subs(chosen) == sp.true for condition in alone)

    found = tuple(filter(satisfies, itertools.product(*claim.for_all.values())))
    if not found:
        raise InputError("for_all", f"{_NONE_ALLOWED.format(_list_varied(claim))}: add one that does")
    return found


def _list_varied(claim: Claim) -> str:
    varied = set().union(*(condition.free_symbols for condition in claim.choice_conditions)) & claim.for_all.keys()
    return ", ".join(sorted(map(str, varied)))


def has_choices_by_run(claim: Claim) -> bool:
    """Return whether the allowed values of quantified symbols depend on the run."""
    return any(not condition.free_symbols <= claim.for_all.keys() for condition in claim.choice_conditions)


@cache
def _compile_conditions(claim: Claim) -> tuple[tuple[str, Compiled, Compiled], ...]:
    """Return the operator and both sides of each condition on quantified symbols and on the run."""
    mixed = (one for one in claim.choice_conditions if not one.free_symbols <= claim.for_all.keys())
    return tuple(
        (one.rel_op, compile_expression(one.lhs, claim.notation), compile_expression(one.rhs, claim.notation))
        for one in mixed
    )


def list_choices(claim: Claim, run: Run) -> Sequence[Choice]:
    """Return all choices of the free points and quantified symbols of a claim on a run.

    Raises `NotApplicable` if the conditions allow none of the values there.
    """
    points = list_free_points(claim)
    candidates = list(list_probe_points(run).items()) if points else []
    placed = itertools.product(candidates, repeat=len(points))
    return [
        Choice(
            {symbol.name: name for symbol, (name, _) in zip(points, at, strict=True)}
            | {symbol.name: str(value) for symbol, value in zip(claim.for_all, values, strict=True)},
            {symbol: point for symbol, (_, point) in zip(points, at, strict=True)},
            _read_numbers(claim, run, values),
        )
        for at, values in itertools.product(placed, _list_allowed_values(claim, run))
    ]


def _list_allowed_values(claim: Claim, run: Run) -> Sequence[tuple[Expr, ...]]:
    """Return the values of quantified symbols with which all conditions hold on a run."""
    if not has_choices_by_run(claim):
        return list_symbol_values(claim)
    allowed, refused = list[tuple[Expr, ...]](), list[NotApplicable]()
    for values in list_symbol_values(claim):
        site = Site(run, None, {}, {}, _read_numbers(claim, run, values))
        try:
            if all(_is_satisfied(*condition, site) for condition in _compile_conditions(claim)):
                allowed.append(values)
        except Unresolved:
            raise
        except NotApplicable as reason:
            # A condition without a value does not hold.
            refused.append(reason)
    if not allowed:
        raise refused[0] if refused else NotApplicable(_NONE_ALLOWED.format(_list_varied(claim)))
    return allowed


def _read_numbers(claim: Claim, run: Run, values: Sequence[Expr]) -> dict[sp.Symbol, Number]:
    """Return the values of the quantified symbols in the arithmetic of a run."""
    return {s: run.arithmetic.number(str(v), s.name) for s, v in zip(claim.for_all, values, strict=True)}


def _is_satisfied(sign: str, left: Compiled, right: Compiled, site: Site) -> bool:
    """Return whether a condition holds at every entry; floats that are equal up to rounding satisfy it.

    Raises `Unresolved` if enclosures overlap.
    """
    (lhs, left_scale), (rhs, right_scale) = left.with_scale(site), right.with_scale(site)
    gap = convert_inexact(rhs - lhs if sign in ("<=", "<") else lhs - rhs)
    signs = convert_keeping_signs(gap)
    holds, fails = (np.asarray(compare(signs, 0)).astype(bool) for compare in _COMPARISONS[sign])
    if left_scale is not None and right_scale is not None:
        holds |= abs(gap) <= NEAR_TIE * (left_scale + right_scale)
    elif not (holds | fails).all():
        raise Unresolved("enclosures are too wide for a condition on a quantified symbol")
    return bool(holds.all())


_COMPARISONS: Mapping[str, tuple[Callable[[Array, int], Array], Callable[[Array, int], Array]]] = {
    **dict.fromkeys(("<=", ">="), (operator.ge, operator.lt)),
    **dict.fromkeys(("<", ">"), (operator.gt, operator.le)),
    "==": (operator.eq, operator.ne),
    "!=": (operator.ne, operator.eq),
}
"""Comparisons of the larger side minus the smaller one with zero, by sign: the condition holds, and it fails."""
