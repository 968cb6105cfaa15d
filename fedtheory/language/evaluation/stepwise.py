"""Functions with jumps, choices by conditions, and finite sums, entry by entry of arrays.

Jumps and conditions are decided, never guessed: if floats or enclosures do
not determine the side of a jump, `Unresolved` is raised.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial, reduce
from typing import Any

import numpy as np
import sympy as sp
from flint import arb, fmpq

from fedtheory.arithmetic import FLOAT, Array, Number, plain_float
from fedtheory.arithmetic.enclosures import convert_to_ball
from fedtheory.errors import NotApplicable, Unresolved
from fedtheory.kernel.expressions import Expr
from fedtheory.language.evaluation.site import Site

Evaluator = Callable[[Site], Array]

MOST_TERMS = 10_000
"""Limit on the terms of a finite sum that are added one by one."""
_ROUNDING = 1e-9
"""Relative distance from a jump within which a float may lie on either side."""
_CLOSED_DEGREE = 12
"""Limit on the degree of summands whose sums have a closed form."""
_NO_BOUND = "a sum has a bound that is not a whole number on this run"
_COMPARISONS: dict[type, Callable[[Any, Any], Any]] = {
    sp.StrictLessThan: operator.lt,
    sp.LessThan: operator.le,
    sp.StrictGreaterThan: operator.gt,
    sp.GreaterThan: operator.ge,
    sp.Equality: operator.eq,
    sp.Unequality: operator.ne,
}


def round_down(value: Array) -> Array:
    """Return the largest integers that are at most the values; raise `Unresolved` if rounding leaves them undecided."""
    found = np.empty_like(value)
    for place in np.ndindex(*value.shape):
        entry = value[place]
        found[place] = _round_down(float(entry) if value.dtype != object else entry)
    return found


def round_up(value: Array) -> Array:
    """Return the smallest integers that are at least the values; `Unresolved` as for `round_down`."""
    return -round_down(-value)


def _round_down(value: Number) -> Number:
    """Round a number down to an integer; raise Unresolved if its enclosure does not determine the integer."""
    if isinstance(value, fmpq):
        return fmpq(value.floor())
    if isinstance(value, float):
        return _round_float_down(value)
    interval = convert_to_ball(value)
    if not isinstance(interval, arb):
        raise NotApplicable("the claim rounds a quantity that is only known in a limit on this run")
    if interval.is_nan():
        return value
    floor = interval.floor()
    if not floor.is_integer():
        raise Unresolved("enclosures cannot decide to which integer a number is rounded")
    return fmpq(str(floor.unique_fmpz()))


def _round_float_down(value: float) -> float:
    """Round a float down; raise Unresolved close to an integer, where rounding errors decide."""
    if not math.isfinite(value):
        return value
    nearest = round(value)
    if value != nearest and abs(value - nearest) <= _ROUNDING * max(1, abs(value)):
        raise Unresolved("floats cannot decide to which integer a number is rounded")
    return float(math.floor(value))


def compile_condition(node: sp.Basic, scalar: Callable[[Expr], Evaluator]) -> Evaluator:
    """Return a closure for the mask of entries at which a condition holds; raise `ValueError` for other expressions."""
    if node in (sp.true, sp.false):
        holds = np.full((1, 1, 1), node == sp.true)
        return lambda _site: holds
    if isinstance(node, sp.And | sp.Or):
        parts = [compile_condition(part, scalar) for part in node.args]
        combine = np.logical_and if isinstance(node, sp.And) else np.logical_or
        return lambda site: np.asarray(reduce(combine, (part(site) for part in parts)))
    compare = _COMPARISONS.get(type(node))
    if compare is None:
        raise ValueError(f"expected a condition such as T >= 2, got {node}")
    left, right = (scalar(side) for side in node.args)
    decide = np.frompyfunc(partial(_decide, compare), 2, 1)
    return lambda site: np.equal(site.each(decide, left(site), right(site)), True)


def _decide(compare: Callable[[Any, Any], Any], left: Number, right: Number) -> bool:
    """Return whether a comparison holds; raise `Unresolved` if rounding leaves it undecided."""
    if isinstance(left, float) and left != right and abs(left - right) <= _ROUNDING * max(abs(left), abs(right)):
        raise Unresolved("floats cannot decide whether a condition holds")
    return bool(compare(left, right))


def compile_cases(choices: Sequence[tuple[Evaluator, Evaluator]], node: Expr) -> Evaluator:
    """Return a closure for the value of the first choice whose condition holds.

    Values that are not chosen may be undefined.
    """

    def value(site: Site) -> Array:
        conditions = [holds(site) for _, holds in choices]
        left = np.full(np.broadcast_shapes(*(each.shape for each in conditions)), True)
        found = site.arithmetic.zeros(1, 1, 1)
        for (compute, _), holds in zip(choices, conditions, strict=True):
            chosen, left = left & holds, left & ~holds
            if chosen.any():
                found = np.where(chosen, compute(site), found)
        return _require(site, found, ~left, f"no condition of {node} holds on this run")

    return value


def _require(site: Site, found: Array, has_value: Array, reason: str) -> Array:
    """Return the values; raise `NotApplicable` for a run that has none."""

    def require(values: Array, exists: Array) -> Array:
        if not exists.all():
            raise NotApplicable(reason)
        return values

    return found if has_value.all() else site.each(require, found, has_value)


def find_closed_form(summand: Expr, index: sp.Symbol, first: Expr, last: Expr) -> Expr | None:
    """Return the closed form of a sum of a polynomial in its index, valid if the sum is not empty.

    Returns None for other summands.
    """
    if summand.has(sp.Sum) or not summand.is_polynomial(index):
        return None
    polynomial = sp.Poly(summand, index)
    if polynomial.degree() > _CLOSED_DEGREE:
        return None
    powers = ((coefficient, sp.summation(index**k, (index, first, last))) for (k,), coefficient in polynomial.terms())
    return sp.Add(*(coefficient * power for coefficient, power in powers))


def compile_closed_sum(closed: Evaluator, first: Evaluator, last: Evaluator) -> Evaluator:
    """Return a closure for a sum with a closed form; an empty sum is zero."""

    def value(site: Site) -> Array:
        start, end, is_whole = _compute_bounds(site, first, last)
        found = closed(site)
        return _require(site, np.where(start <= end, found, found * 0), is_whole, _NO_BOUND)

    return value


def add_terms(summand: Evaluator, index: sp.Symbol, first: Evaluator, last: Evaluator) -> Evaluator:
    """Return a closure that adds the terms of a sum one by one, at most `MOST_TERMS`; an empty sum is zero."""

    def value(site: Site) -> Array:
        start, end, is_whole = _compute_bounds(site, first, last)
        is_short = end - start < MOST_TERMS
        end = np.where(is_short, end, start - 1)
        total = site.arithmetic.zeros(1, 1, 1)
        for step in range(int((end - start).max()) + 1):
            # If a sum is shorter than others in the array, its last term is computed again and masked.
            at = np.minimum(start + step, np.maximum(end, start))
            numbers = at.astype(float) if site.arithmetic is FLOAT else site.arithmetic.array(at.astype(object))
            term = summand(replace(site, parameters={**site.parameters, index: numbers}))
            total = total + np.where(start + step <= end, term, term * 0)
        total = _require(site, total, is_short, f"a sum over {index} has more than {MOST_TERMS} terms on this run")
        return _require(site, total, is_whole, _NO_BOUND)

    return value


def _compute_bounds(site: Site, first: Evaluator, last: Evaluator) -> tuple[Array, Array, Array]:
    """Return first and last index of a sum, and the mask where both are whole numbers."""
    start, end = np.broadcast_arrays(first(site), last(site))
    near = [np.vectorize(plain_float, otypes=[float])(bound) for bound in (start, end)]
    is_finite = np.isfinite(near[0]) & np.isfinite(near[1])
    whole = [np.where(is_finite, np.round(bound), 0).astype(int) for bound in near]
    return whole[0], whole[1], is_finite & _mark_equal(start, whole[0]) & _mark_equal(end, whole[1])


def _mark_equal(values: Array, whole: Array) -> Array:
    """Return where the values equal the integers."""
    equal: Array = np.equal(np.frompyfunc(lambda value, number: bool(value == int(number)), 2, 1)(values, whole), True)
    return equal
