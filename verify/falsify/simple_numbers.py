"""Simple rationals: factors for the search, and simpler numbers for counterexamples."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

from flint import fmpq

from fedtheory.arithmetic import find_simplest_between, round_to_simplest

_ROUGH = 0.01
"""Relative distance within which a number is replaced by a shorter one."""
_ROUNDING = fmpq(1, 10**13)


def find_simple_power(exponent: float, relative: float) -> fmpq:
    """Return a simple rational within a relative distance of 2^exponent."""
    whole = round(exponent)
    power = fmpq(2) ** whole
    return power if whole == exponent else power * fmpq(round_to_simplest(2.0 ** (exponent - whole), relative))


def round_power(exponent: float | None) -> fmpq:
    """Return 2^exponent, approximately for non-integers; 0 for None."""
    return fmpq(0) if exponent is None else find_simple_power(exponent, _ROUGH)


def round_below(bound: float, relative: float = _ROUGH) -> fmpq:
    """Return a short rational that is at most a positive bound, and close to it."""
    whole = math.floor(math.log2(bound))
    scaled, allowed = (fmpq(*number.as_integer_ratio()) for number in (bound / 2.0**whole, relative))
    return find_simplest_between(scaled * (1 - allowed), scaled * (1 + _ROUNDING)) * fmpq(2) ** whole


def list_simpler(value: fmpq) -> Iterator[fmpq]:
    """Yield simpler rationals that may replace a number, the simplest first."""
    sign = -1 if value < 0 else 1
    exact = Fraction(int(abs(value).p), int(value.q))
    seen: set[Fraction] = {exact}
    for candidate in sorted(_list_near(exact), key=measure_length):
        if candidate not in seen and measure_length(candidate) < measure_length(exact):
            seen.add(candidate)
            yield fmpq(sign * candidate.numerator, candidate.denominator)
    if sign < 0:
        yield -value


def _list_near(value: Fraction) -> Iterator[Fraction]:
    """Yield small numbers, then neighbours of a positive number with few decimal or binary digits."""
    yield from (Fraction(0), Fraction(1), Fraction(2), Fraction(1, 2), Fraction(round(value)))
    for bound in (2, 4, 8, 32, 128, 1024):
        yield value.limit_denominator(bound)
        # The smaller neighbour is needed as well, since a condition may exclude larger numbers.
        yield Fraction(int(value * bound), bound)
    if value:
        yield 1 / Fraction(-int(-1 // value))
        exponent = value.numerator.bit_length() - value.denominator.bit_length()
        for digits in range(6):
            unit = Fraction(2) ** (exponent - digits)
            yield unit * round(value / unit)
            yield unit * int(value / unit)


def measure_length(value: Fraction | fmpq) -> int:
    """Return the effort that a number costs a reader: zero for 0, else its binary digits and its sign."""
    numerator, denominator = (value.p, value.q) if isinstance(value, fmpq) else (value.numerator, value.denominator)
    return (
        _count_digits(abs(int(numerator)))
        + (2 * _count_digits(int(denominator)) if denominator != 1 else 0)
        + (numerator < 0)
    )


def _count_digits(count: int) -> int:
    """Return twice the number of binary digits of an integer; powers of two count less."""
    if count == 0:
        return 0
    twos = (count & -count).bit_length() - 1
    return 2 * (count >> twos).bit_length() + twos.bit_length()
