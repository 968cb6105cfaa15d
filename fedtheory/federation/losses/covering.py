"""Verified computations with smooth functions on an interval: largest values, and zeros.

A function is given by its jet: value, first and second derivative at a point, or enclosures
of these over an interval.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from flint import arb, ctx

from fedtheory.errors import Unresolved

_MOST_PIECES = 20_000


def _choose_width() -> arb:
    """Return the relative width at which an enclosure, such as that of a plateau, is narrow enough."""
    return arb(2) ** (-3 * ctx.prec // 4)


@dataclass(frozen=True)
class Jet:
    """A function and its first two derivatives at a point or over an interval."""

    value: arb
    slope: arb
    curvature: arb

    def __add__(self, other: Jet) -> Jet:
        return Jet(self.value + other.value, self.slope + other.slope, self.curvature + other.curvature)

    def scale(self, factor: arb) -> Jet:
        """Return the function times a number."""
        return Jet(self.value * factor, self.slope * factor, self.curvature * factor)

    def square(self) -> Jet:
        """Return the square of the function."""
        value, slope, curvature = self.value, self.slope, self.curvature
        return Jet(value * value, 2 * value * slope, 2 * (slope * slope + value * curvature))


Function = Callable[[arb], Jet]


def enclose_largest(function: Function, left: arb, right: arb, floor: arb | None = None) -> arb:
    """Return an enclosure of the largest value on an interval with exact ends, by branch and bound.

    Values below `floor` need not be distinguished from it.
    """
    covering = _Covering(function, floor)
    covering.add(function(left).value)
    covering.add(function(right).value)
    # Pieces that cannot be decided are divided down to this width, and then enclosed as a whole.
    pieces, narrowest = [(left, right)], (right - left) * arb(2) ** (-ctx.prec // 4)
    for _ in range(_MOST_PIECES):
        if not pieces:
            return covering.largest()
        low, high = pieces.pop()
        middle = ((low + high) / 2).mid()
        if not covering.cover(low, middle, high, narrowest):
            pieces += [(low, middle), (middle, high)]
    raise Unresolved("the supremum over all of space could not be enclosed")


class _Covering:
    """Bounds on the largest value found so far."""

    def __init__(self, function: Function, floor: arb | None) -> None:
        self._function = function
        self._low = arb.neg_inf() if floor is None else floor.lower()
        self._high = self._low

    def add(self, value: arb) -> None:
        """Add a value that is attained."""
        self._low, self._high = max(self._low, value.lower()), max(self._high, value.upper())

    def largest(self) -> arb:
        """Return the enclosure, once the whole interval is covered."""
        return self._low.union(self._high)

    def cover(self, low: arb, middle: arb, high: arb, narrowest: arb) -> bool:
        """Update the bounds by an interval; return whether it need not be divided."""
        whole = low.union(high)
        over, at = self._function(whole), self._function(middle).value
        self._low = max(self._low, at.lower())
        close = at + over.slope * (whole - middle)
        if over.value.upper() <= self._low or close.upper() <= self._low:
            return True
        if close.upper() - self._low < abs(close).upper() * _choose_width():
            self.add(close)
            return True
        if over.slope > 0 or over.slope < 0:
            self.add(self._function(high if over.slope > 0 else low).value)
            return True
        if over.curvature < 0:
            # If the function is concave, its largest value is at an end or at a zero of the derivative.
            peak = run_interval_newton(lambda x: (self._function(x).slope, self._function(x).curvature), whole)
            places = (low, high) if peak is None else (low, high, peak)
            values = [self._function(place).value for place in places]
            if peak is None or values[-1].rad() < abs(values[-1]).upper() * _choose_width():
                for value in values:
                    self.add(value)
                return True
        if high - low < narrowest:
            self.add(close)
            return True
        return False


def run_interval_newton(slopes: Callable[[arb], tuple[arb, arb]], start: arb) -> arb | None:
    """Return the zero of a function in an interval on which its derivative has one sign; None if there is none.

    `slopes` gives the function and its derivative.
    """
    within = start
    while True:
        middle = within.mid()
        found = middle - slopes(middle)[0] / slopes(within)[1]
        if not found.is_finite():
            return within
        if not within.overlaps(found):
            return None
        narrower = within.intersection(found)
        if not narrower.rad() < within.rad() / 2:
            return narrower
        within = narrower


def enclose_zero(function: Function, low: arb, high: arb) -> arb:
    """Return the zero of an increasing function between a point where it is negative and one where it is positive."""
    while True:
        whole = low.union(high)
        over, at = function(whole), function(whole.mid()).value
        if over.slope > 0 and abs(at / over.slope).upper() < (high - low) / 4:
            found = run_interval_newton(lambda x: (function(x).value, function(x).slope), whole)
            assert found is not None
            return found
        # If the zero is at the middle, the sign there is undecided; the sign at the other point is then certain.
        for place in (whole.mid(), (low + (high - low) / 3).mid()):
            at = function(place).value
            if at > 0 or at < 0:
                low, high = (low, place) if at > 0 else (place, high)
                break
        else:
            raise Unresolved("the minimiser could not be enclosed")
