"""Solves for coefficients that are simple multiples of known ones, as those of Young's inequality are.

A statement with a potential has sums as coefficients, such as L (tau - k) (tau + k + 1)/(4 (k + 1)).  The coefficients
of its proof are sums as well, and no products of powers.  But many are a multiple of another coefficient that the
linear equations determine, or of a sum as the statement writes it: by |a|^2 <= (1 + c) |a - b|^2 + (1 + 1/c) |b|^2,
the coefficients of the last two squares have the ratio c.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, islice, product

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from fedtheory.kernel import Context, Rejected, Term, convexity, is_ordering, scalar
from fedtheory.kernel.expressions import Average, Expr
from fedtheory.kernel.quotients import ONE, ZERO, Quotient, quotient
from fedtheory.kernel.work import spend
from fedtheory.search.blocks import Blocks, multiply_numbers, split_form
from fedtheory.search.candidates import CandidateInequality
from fedtheory.search.coefficients import Selection, System, cancel_linear_parts, write_terms
from fedtheory.search.conic import UNBOUNDED
from fedtheory.search.faces import FeasibleSet
from fedtheory.search.fits import list_rationals
from fedtheory.search.positivity import SignFacts

_MOST_FREE = 4
"""Limit on the free coefficients."""
_MOST_GUESSES = 4
"""Limit on the values that are tried at a time, over all coefficients."""
_MOST_TRIED = 12
"""Limit on the systems that are solved further, or whose remainder is written as a sum of squares."""
_MOST_SUMS = 8
"""Limit on the sums of the conditions of which coefficients may be multiples."""
_LARGEST_DENOMINATOR = 4
"""Limit on the denominator of a ratio."""
_MOST_FACTORS = 2
"""Limit on the further symbols in a multiple."""
_ROUNDING = 1e-5
"""Relative error of bounds from semidefinite programs."""
Values = NDArray[np.float64]
Bounds = tuple[Values, Values]
"""Bounds on a coefficient at each sample."""


def divides_by_sum(goal: Blocks) -> bool:
    """Return whether a coefficient of the goal has a sum as its denominator, as those of potentials have."""
    return any(len(number.denominator) > 1 for number in (*goal.rows.values(), *goal.matrices.values()))


def solve_by_multiples(system: System, selection: Selection, context: Context, signs: SignFacts) -> list[Term] | None:
    """Return terms that add up to the goal, with free coefficients that are multiples of known ones; None if not found.

    Cocoercivity may be used in part only, with convexity at the same points for the rest.
    """
    chosen = [*system.chosen, *_list_convexity(system.chosen, context)]
    whole, choice = System(system.goal, chosen, {}), replace(selection, candidates=chosen)
    try:
        if not cancel_linear_parts(whole) or not 0 < len(whole.free) <= _MOST_FREE:
            return None
        sums = _list_sums(signs.conditions)
        for each in islice(_list_systems(whole, choice, sums), _MOST_TRIED):
            found = None if each.free else write_terms(each, choice, context, signs, has_weights=True)
            if found is not None:
                return found
    except Rejected:
        pass
    return None


def _list_convexity(chosen: Sequence[CandidateInequality], context: Context) -> Iterator[CandidateInequality]:
    """Yield convexity at the points at which cocoercivity is used, which has the same values without the square."""
    for each in chosen:
        if each.pattern.reason.kind == "cocoercivity":
            term = replace(each.pattern, reason=convexity(*each.pattern.reason.about))
            whole = scalar(term.whole(term.reason.instantiate(context)), context)
            yield CandidateInequality(term, split_form(whole, context))


def _list_sums(conditions: Sequence[Expr]) -> list[Expr]:
    """Return the sums inside the products of conditions, as they are written, and the number one."""
    sides = [side for condition in conditions if is_ordering(condition) for side in condition.args]
    found = {
        part: None
        for side in sides
        for inner in sp.preorder_traversal(side)
        if inner.is_Mul or inner.is_Pow
        for part in inner.args
        if part.is_Add and not part.has(Average)
    }
    return [sp.S.One, *list(found)[:_MOST_SUMS]]


def _list_systems(system: System, selection: Selection, sums: Sequence[Expr]) -> Iterator[System]:
    """Yield a system, and those with fewer free coefficients, the simplest multiples first."""
    yield system
    if not system.free:
        return
    guesses = sorted(_list_guesses(system, selection, sums), key=lambda each: each.cost)
    # Values that equal the lower bound at all samples do so by an identity.
    least = [guess for guess in guesses if guess.is_least]
    for guess in least[:1] or guesses[:_MOST_GUESSES]:
        other = _make_free(system, guess.place)
        if other.impose({guess.place: ONE, -1: _MINUS * guess.value}):
            yield from _list_systems(other, selection, sums)


_MINUS = quotient(sp.S.NegativeOne)


@dataclass(frozen=True)
class _Guess:
    """A value of one coefficient that is feasible at every sample."""

    cost: float
    """Number of factors, and size of the rational; multiples of other coefficients cost less than those of sums."""
    place: int
    value: Quotient
    is_least: bool = False
    """Whether it equals the lower bound at every sample."""


def _list_guesses(system: System, selection: Selection, sums: Sequence[Expr]) -> Iterator[_Guess]:
    """Yield the simplest feasible multiples of sums and of known coefficients, for each other coefficient."""
    known = [each[-1] for each in system.known.values() if each.keys() == {-1}]
    references = {number.expression: 0.0 for number in known if _is_sum(number)}
    references |= {each: 1.0 if each.is_Add else 1.5 for each in sums if each not in references}
    multiples = _list_multiples(references, selection)
    for place in range(len(system.chosen)):
        if system.known.get(place, {place: ONE}).keys() <= {-1}:
            continue
        bounds = _find_bounds(_make_free(system, place), selection, place)
        if bounds is None:
            return
        # No other coefficient needs one that may be zero, which takes what they leave.
        if np.any(bounds[0] > _ROUNDING * bounds[1]):
            yield from _fit_multiples(place, bounds, multiples)


def _is_sum(number: Quotient) -> bool:
    """Return whether a number has more than one monomial."""
    return len(number.numerator) > 1 or len(number.denominator) > 1


def _make_free(system: System, place: int) -> System:
    """Return the system solved for other coefficients, so that the one at a place is free."""
    other = system.copy()
    if place in other.known:
        sums = other.known.pop(place)
        free = {each: number for each, number in sums.items() if each >= 0}
        other.impose({**free, place: _MINUS, -1: sums.get(-1, ZERO)})
    return other


def _find_bounds(system: System, selection: Selection, place: int) -> Bounds | None:
    """Return bounds on a free coefficient at each sample; None if no value is feasible."""
    sums = [system.known.get(each, {each: ONE}) for each in range(len(system.chosen))]
    feasible = FeasibleSet(selection.many, system.free, system.rest(), sums)
    number = system.free.index(place)
    costs = [float(other == number) for other in range(len(system.free))]
    low, high = feasible.find_face(costs), feasible.find_face([-cost for cost in costs])
    if low is None:
        return None
    upper = np.full(feasible.count, UNBOUNDED) if high is None else high.free[:, number]
    return low.free[:, number], upper


Multiple = tuple[float, Expr, Values]
"""Cost of a number, the number, and its values at the samples."""


def _list_multiples(references: Mapping[Expr, float], selection: Selection) -> list[Multiple]:
    """Return references times or divided by a few symbols, with their values at the samples."""
    samples = selection.many
    factors = [sp.S.One]
    for count in range(1, _MOST_FACTORS + 1):
        for symbols in combinations(samples.symbols, count):
            factors += [sp.Mul(*map(sp.Pow, symbols, powers)) for powers in product((1, 2, -1), repeat=count)]
    sizes = [np.ones(samples.at.shape[1]), *map(samples.values, factors[1:])]
    found = []
    for reference, cost in references.items():
        size = samples.values(reference) if reference.free_symbols else np.ones(samples.at.shape[1])
        spend(10 * len(factors) * samples.at.shape[1])
        for factor, more in zip(factors, sizes, strict=True):
            if np.all(size * more > 0):
                found.append((cost + _count_factors(factor), reference * factor, size * more))
    return found


def _count_factors(product_of_powers: Expr) -> float:
    """Return the number of symbols in a product; those in the denominator count more."""
    powers = product_of_powers.as_powers_dict()
    return sum(float(power) if power > 0 else 1.5 for base, power in powers.items() if base != 1)


def _fit_multiples(place: int, bounds: Bounds, multiples: Sequence[Multiple]) -> Iterator[_Guess]:
    """Yield the multiples that are within the bounds of a coefficient at every sample."""
    low, high = bounds
    for cost, number, values in multiples:
        least, most = float(np.max(low / values)), float(np.min(high / values))
        for ratio in list_rationals(least, most, _LARGEST_DENOMINATOR):
            size = np.log2(float(max(ratio.p, ratio.q)))
            is_least = bool(np.all(np.abs(low - float(ratio) * values) <= _ROUNDING * np.abs(low)))
            yield _Guess(cost + size / 2, place, multiply_numbers(quotient(ratio), quotient(number)), is_least)
