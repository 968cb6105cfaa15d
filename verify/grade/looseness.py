"""Find the largest excess of an answer over the reference, over all joint values of its symbols.

The test runs have few clients and rounds, so a missing factor such as 1/M gives a small excess on them, although the
excess is unbounded in the number of clients. Therefore both expressions are also compared with each symbol at three
very different sizes, in all combinations that the conditions allow.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Literal

import sympy as sp

from fedtheory.kernel.expressions import Expr
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.language.quantities.quantity import Quantity
from fedtheory.planner.bound import get_compiler
from verify.grade.equality import compute_value
from verify.grade.equations import eliminate_equations

_SCALES = (2**8, 2**16)
"""Ratios of a symbol's sizes, in the first and in the second comparison."""
_GROWS = 1.5
"""Increase between the two comparisons above which an excess may be unbounded."""
_CANDIDATES = 24
"""Largest number of points that are evaluated again with many digits."""
_AGREES = 1e-3
"""Relative difference up to which floats and many digits agree."""

Change = Literal["grows", "falls", "tends to 1"]
Growth = tuple[tuple[sp.Symbol, Change], ...]
"""Symbols, each with its change."""


@dataclass(frozen=True)
class Looseness:
    """The largest excess of an answer over the reference."""

    excess: float | None
    """The largest quotient; infinite if it is unbounded, None if nothing could be compared."""
    growth: Growth = ()
    """Changes of symbols along which the quotient is unbounded; empty if none is known."""


@dataclass(frozen=True)
class _Range:
    """The sizes of a symbol: a base times powers of a scale; for momentum, the sizes of one minus the symbol."""

    powers: tuple[int, ...]
    base: sp.Rational = sp.S.One
    is_complement: bool = False

    def change(self, power: int) -> Change:
        """Return the change of the symbol as the scale grows."""
        if self.is_complement:
            return "tends to 1"
        return "grows" if power > 0 else "falls"

    def size_at(self, power: int, scale: Expr) -> Expr:
        """Return the size at a power of the scale."""
        size = self.base * scale**power
        return 1 - size if self.is_complement else size


_BOTH = _Range((0, -1, 1))
_RANGES: Mapping[Quantity, _Range] = {
    q.clients: _Range((0, 1), sp.Integer(2)),
    q.rounds: _Range((0, 1, 2)),
    q.iterations: _Range((0, 1, 2)),
    q.local_steps: _Range((0, 1)),
    q.local_step_size: _Range((0, -1, -2, -3), sp.Rational(1, 32)),
    q.server_step_size: _BOTH,
    q.smoothness: _BOTH,
    q.strong_convexity: _Range((0, -1, 1), sp.Rational(1, 2)),
    q.noise_deviation: _BOTH,
    q.gradient_dissimilarity: _BOTH,
    q.initial_distance: _BOTH,
    q.initial_gap: _Range((0, -1, 1), sp.Rational(1, 4)),
    q.second_moment: _Range((0, -1, 1), sp.Integer(2)),
    q.momentum: _Range((0, -1), sp.Rational(1, 2), is_complement=True),
}
"""Quantities that can be chosen freely, up to the orderings below; the ranges are those of actual runs."""
_SETTINGS = {q.clients, q.rounds, q.iterations, q.local_steps, q.local_step_size, q.server_step_size, q.momentum}
"""Quantities that are settings of the algorithm; the others are constants of the problem."""
_ORDERINGS: Sequence[tuple[Quantity, Quantity, int]] = (
    (q.strong_convexity, q.smoothness, 1),
    (q.noise_deviation, q.second_moment, 1),
    (q.gradient_dissimilarity, q.second_moment, 2),
)
"""Pairs of quantities, and factors such that the first is at most the factor times the second on every run."""

Powers = tuple[int, ...]


def measure_looseness(claim: Claim, answer: Expr) -> Looseness | None:
    """Return the largest excess over the values of symbols; None if some symbols cannot be chosen freely."""
    solved = eliminate_equations(claim.conditions, (answer, claim.relations[0].right))
    if solved is None:
        return None
    conditions, sides = solved
    symbols = _list_symbols(*sides, *conditions)
    if not all(claim.where.get(symbol) in _RANGES for symbol in symbols):
        return None
    place = _Places(replace(claim, conditions=tuple(conditions)), symbols, *sides)
    near, far = (dict(place.excesses(scale)) for scale in _SCALES)
    unbounded = _find_simplest_unbounded(place, near, far)
    if unbounded is not None:
        return Looseness(math.inf, place.growth(unbounded))
    return Looseness(max(_confirm(place, near, _SCALES[0]), _confirm(place, far, _SCALES[1])))


def _list_symbols(*formulas: Expr) -> tuple[sp.Symbol, ...]:
    used = set().union(*(formula.free_symbols for formula in formulas))
    return tuple(sorted(used, key=str))


class _Places:
    """Two expressions at combinations of sizes of their symbols; a point has one power per symbol."""

    def __init__(self, claim: Claim, symbols: tuple[sp.Symbol, ...], answer: Expr, reference: Expr) -> None:
        self._symbols, self._answer, self._reference = symbols, answer, reference
        self._quantities = [claim.where[symbol] for symbol in symbols]
        self._ranges = [_RANGES[quantity] for quantity in self._quantities]
        function_of = get_compiler(symbols)
        self._sides = function_of(answer), function_of(reference)
        self._slacks = [function_of(slack) for slack in _list_slacks(claim, symbols)]

    def excesses(self, scale: int) -> Iterator[tuple[Powers, float]]:
        """Yield the quotient at each point that the conditions allow, if both expressions are positive."""
        sizes = [{p: float(one.size_at(p, sp.Integer(scale))) for p in one.powers} for one in self._ranges]
        for powers in product(*(one.powers for one in self._ranges)):
            numbers = [size[power] for size, power in zip(sizes, powers, strict=True)]
            if not all(slack(numbers) >= 0 for slack in self._slacks):
                continue
            answer, reference = (side(numbers) for side in self._sides)
            if 0 < answer < math.inf and 0 < reference < math.inf:
                yield powers, answer / reference

    def confirm(self, powers: Powers, scale: int) -> float | None:
        """Return the quotient with many digits; None if it has no value."""
        values = {s: sp.Float(value, 60) for s, value in self._values(powers, sp.Integer(scale)).items()}
        answer, reference = compute_value(self._answer, values), compute_value(self._reference, values)
        if answer is None or reference is None or not reference > 0:
            return None
        return float(answer / reference)

    def is_unbounded(self, powers: Powers) -> bool:
        """Return whether the quotient, as a rational function of the scale, tends to infinity."""
        root = sp.Symbol("t", positive=True)
        # A root of the scale becomes the variable, so that all powers are integers.
        values = self._values(powers, root ** _find_common_denominator(self._answer, self._reference))
        quotient = self._answer.xreplace(values) / self._reference.xreplace(values)
        if not quotient.is_rational_function(root):
            return False
        numerator, denominator = sp.cancel(sp.together(quotient)).as_numer_denom()
        return bool(sp.degree(numerator, root) > sp.degree(denominator, root))

    def growth(self, powers: Powers) -> Growth:
        """Return the changes of the symbols that lead to a point."""
        places = zip(self._symbols, powers, self._ranges, strict=True)
        return tuple((symbol, one.change(power)) for symbol, power, one in places if power)

    def _values(self, powers: Powers, scale: Expr) -> dict[sp.Symbol, Expr]:
        places = zip(self._symbols, powers, self._ranges, strict=True)
        return {symbol: one.size_at(power, scale) for symbol, power, one in places}

    def effort(self, powers: Powers) -> tuple[int, int, int, Powers]:
        """Return a sort key: the number of changes, with those of the problem's constants first."""
        changed = [claimed for claimed, power in zip(self._quantities, powers, strict=True) if power]
        constants = sum(quantity not in _SETTINGS for quantity in changed)
        return len(changed), constants, sum(map(abs, powers)), powers


def _find_common_denominator(*sides: Expr) -> int:
    """Return the least common denominator of the exponents."""
    exponents = [power.exp for side in sides for power in side.atoms(sp.Pow)]
    return math.lcm(*(int(exponent.q) for exponent in exponents if exponent.is_Rational))


def _list_slacks(claim: Claim, symbols: tuple[sp.Symbol, ...]) -> Iterator[Expr]:
    """Yield expressions that are non-negative where the conditions and the orderings of quantities hold."""
    symbol_of = {claim.where[symbol]: symbol for symbol in symbols}
    for condition in claim.conditions:
        yield condition.gts - condition.lts
    for smaller, larger, factor in _ORDERINGS:
        if smaller in symbol_of and larger in symbol_of:
            yield factor * symbol_of[larger] - symbol_of[smaller]
    if {q.initial_gap, q.initial_distance, q.smoothness} <= symbol_of.keys():
        gap, distance, smoothness = (symbol_of[n] for n in (q.initial_gap, q.initial_distance, q.smoothness))
        yield smoothness * distance**2 / 2 - gap


def _find_simplest_unbounded(
    place: _Places, near: Mapping[Powers, float], far: Mapping[Powers, float]
) -> Powers | None:
    """Return the point with the fewest changes at which the quotient is unbounded; None without one."""
    growing = [powers for powers, excess in far.items() if excess > _GROWS * near.get(powers, math.inf)]
    simplest_first = sorted(growing, key=place.effort)
    return next((powers for powers in simplest_first[:_CANDIDATES] if place.is_unbounded(powers)), None)


def _confirm(place: _Places, excesses: Mapping[Powers, float], scale: int) -> float:
    """Return the largest quotient on which floats and many digits agree; zero without one."""
    largest_first = sorted(excesses, key=lambda powers: (-excesses[powers], powers))
    for powers in largest_first[:_CANDIDATES]:
        exact = place.confirm(powers, scale)
        if exact is not None and abs(exact - excesses[powers]) <= _AGREES * exact:
            return exact
    return 0.0
