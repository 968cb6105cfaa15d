"""Enclosures: intervals that contain a real number, for values that are not rational.

An `Enclosure` takes part in arrays next to rationals.  Every operation encloses the true result; every comparison is
either certain or raises `Unresolved`, so that no branch depends on a guess.  Radii follow the working precision.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import numpy as np
from flint import arb, ctx, fmpq
from numpy.typing import NDArray

from fedtheory.errors import NotApplicable, Unresolved

Array = NDArray[Any]

ENCLOSURE_BITS = 256
"""Default precision of enclosures, in bits."""


def precise_enclosures(bits: int = ENCLOSURE_BITS) -> Any:
    """Return a context manager in which enclosures have at least `bits` bits; a larger outer precision is kept."""
    return ctx.workprec(max(ctx.prec, bits))


class Enclosure:
    """A real number inside an `arb` interval; combines with whole numbers and rationals, never with floats."""

    __slots__ = ("interval",)

    def __init__(self, interval: arb) -> None:
        self.interval = interval

    def __repr__(self) -> str:
        return f"Enclosure({self.interval.str(15)})"

    def plain(self) -> Any:
        """Return the `arb` interval itself, whose comparisons are False if the intervals overlap."""
        return self.interval

    def __add__(self, other: object) -> Enclosure:
        return self._combine(other, lambda mine, theirs: mine + theirs)

    __radd__ = __add__

    def __sub__(self, other: object) -> Enclosure:
        # A number minus itself is zero, however wide its enclosure is.
        return Enclosure(arb(0)) if self is other else self._combine(other, lambda mine, theirs: mine - theirs)

    def __rsub__(self, other: object) -> Enclosure:
        return self._combine(other, lambda mine, theirs: theirs - mine)

    def __mul__(self, other: object) -> Enclosure:
        return self**2 if self is other else self._combine(other, lambda mine, theirs: mine * theirs)

    __rmul__ = __mul__

    def __truediv__(self, other: object) -> Enclosure:
        return self._combine(other, lambda mine, theirs: mine / theirs)

    def __rtruediv__(self, other: object) -> Enclosure:
        return self._combine(other, lambda mine, theirs: theirs / mine)

    def __pow__(self, exponent: int) -> Enclosure:
        return Enclosure(_raise_to_power(self.interval, int(exponent)))

    def __neg__(self) -> Enclosure:
        return Enclosure(-self.interval)

    def __abs__(self) -> Enclosure:
        return Enclosure(abs(self.interval))

    def __eq__(self, other: object) -> bool:
        return self is other or not self._compare(other, arb.__ne__, arb.__eq__)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __lt__(self, other: object) -> bool:
        return self is not other and self._compare(other, arb.__lt__, arb.__ge__)

    def __le__(self, other: object) -> bool:
        return self is other or self._compare(other, arb.__le__, arb.__gt__)

    def __gt__(self, other: object) -> bool:
        return not self <= other

    def __ge__(self, other: object) -> bool:
        return not self < other

    def __bool__(self) -> bool:
        return self != 0

    __hash__ = None  # type: ignore[assignment]

    def _combine(self, other: object, operation: Callable[[arb, Any], arb]) -> Enclosure:
        """Return the enclosure of an operation with another operand."""
        theirs = _convert_operand(other)
        return NotImplemented if theirs is None else Enclosure(operation(self.interval, theirs))

    def _compare(self, other: object, holds: Callable[..., Any], fails: Callable[..., Any]) -> bool:
        """Return whether a comparison is certain to hold or certain to fail."""
        theirs = _convert_operand(other)
        if theirs is None:
            raise TypeError(f"an enclosure cannot be compared with {type(other).__name__}")
        if holds(self.interval, theirs):
            return True
        if fails(self.interval, theirs):
            return False
        raise Unresolved(f"enclosures of {ctx.prec} bits cannot separate two numbers")

    def sqrt(self) -> Enclosure:
        """Return the square root; raise `Unresolved` unless the number is certainly non-negative."""
        _ = self >= 0
        return Enclosure(self.interval.sqrt())

    def root(self, degree: int) -> Enclosure:
        """Return the root of the given degree; raise `Unresolved` unless the number is certainly non-negative."""
        _ = self >= 0
        return Enclosure(self.interval.root(degree))

    def exp(self) -> Enclosure:
        """Return the exponential; NumPy calls this method and `log` by name."""
        return Enclosure(self.interval.exp())

    def log(self) -> Enclosure:
        """Return the natural logarithm; raise an error unless the number is certainly positive."""
        if not self > 0:
            raise NotApplicable("the claim takes the logarithm of a number that is not positive on this run")
        return Enclosure(self.interval.log())

    def expm1(self) -> Enclosure:
        """Return ``exp(x) - 1``."""
        return Enclosure(self.interval.expm1())

    def log1p(self) -> Enclosure:
        """Return ``log(1 + x)``."""
        return Enclosure(self.interval.log1p())

    def tanh(self) -> Enclosure:
        """Return the hyperbolic tangent."""
        return Enclosure(self.interval.tanh())


def _raise_to_power(base: arb, exponent: int) -> arb:
    """Return a whole power by repeated squaring.

    Flint uses logarithms, which fail for an interval that contains zero.
    """
    if exponent < 0:
        return 1 / _raise_to_power(base, -exponent)
    half = _raise_to_power(base, exponent // 2) if exponent > 1 else arb(1)
    return half * half * base if exponent % 2 else half * half


def _convert_operand(other: object) -> arb | fmpq | int | None:
    """Return the other operand as a number of FLINT or an int; None if its type is not supported."""
    if isinstance(other, Enclosure):
        return other.interval
    if isinstance(other, fmpq | arb) or type(other) is int:
        return other
    return int(other) if isinstance(other, np.integer) else None


def enclose(value: Any) -> Enclosure:
    """Return a number of exact arithmetic as an enclosure."""
    return value if isinstance(value, Enclosure) else Enclosure(arb(value))


def convert_to_ball(value: Any) -> Any:
    """Return the plain `arb` of an enclosure, whose comparisons are False if the intervals overlap."""
    return value.interval if isinstance(value, Enclosure) else value


def is_enclosed(value: Any) -> bool:
    """Return whether a number is known only by an interval around it."""
    return isinstance(convert_to_ball(value), arb)


def convert_inexact(values: Any) -> Any:
    """Replace each enclosure of an array by its interval, unless the number is known exactly."""
    is_enclosed = values.dtype == object and any(issubclass(kind, Enclosure) for kind in set(map(type, values.flat)))
    return _PLAIN(values) if is_enclosed else values


def replace_by_interval(value: Any) -> Any:
    """Return an enclosure as its interval, unless the number is known exactly; return other numbers unchanged."""
    return value.plain() if isinstance(value, Enclosure) else value


_PLAIN = np.frompyfunc(replace_by_interval, 1, 1)


def convert_to_balls(values: Any) -> Any:
    """Return an array of exact numbers as plain `arb` intervals, for arithmetic without comparisons."""
    return _BALLS(values)


_BALLS = np.frompyfunc(arb, 1, 1)


def enclose_numbers(values: Any) -> Any:
    """Return an array of exact numbers as enclosures; floats stay floats."""
    given = np.asarray(values)
    return _ENCLOSED(given) if given.dtype == object else values


_ENCLOSED = np.frompyfunc(enclose, 1, 1)


def largest(values: Sequence[Any] | Array) -> Any:
    """Return the largest of numbers of any arithmetic; an enclosure of it if intervals overlap."""
    # Arrays of midpoints and radii have a faster maximum.
    given: Any = values if hasattr(values, "enclosures") else np.asarray(values)
    if not isinstance(given, np.ndarray):
        return given.max()
    return reduce(_choose_larger, given.ravel()) if given.dtype == object else given.max()


def smallest(values: Sequence[Any] | Array) -> Any:
    """Return the smallest of numbers of any arithmetic; an enclosure of it if intervals overlap."""
    given = np.asarray(values)
    return reduce(_choose_smaller, given.ravel()) if given.dtype == object else given.min()


def maximum(left: Any, right: Any) -> Any:
    """Return the larger of two arrays, entry by entry."""
    return np.maximum(left, right) if left.dtype != object else np.frompyfunc(_choose_larger, 2, 1)(left, right)


def minimum(left: Any, right: Any) -> Any:
    """Return the smaller of two arrays, entry by entry."""
    return np.minimum(left, right) if left.dtype != object else np.frompyfunc(_choose_smaller, 2, 1)(left, right)


def _choose_larger(one: Any, other: Any) -> Any:
    """Return the larger of two numbers, or an enclosure of the maximum if the order is undecided."""
    order = _is_at_least(one, other)
    if order is None:
        return Enclosure(arb(convert_to_ball(one)).max(arb(convert_to_ball(other))))
    return one if order else other


def _choose_smaller(one: Any, other: Any) -> Any:
    """Return the smaller of two numbers, or an enclosure of the minimum if the order is undecided."""
    order = _is_at_least(other, one)
    if order is None:
        return Enclosure(arb(convert_to_ball(one)).min(arb(convert_to_ball(other))))
    return one if order else other


def _is_at_least(one: Any, other: Any) -> bool | None:
    """Return whether a number is at least another one; None if their intervals overlap."""
    try:
        if one >= other:
            return True
        return False if one < other else None
    except Unresolved:
        return None
