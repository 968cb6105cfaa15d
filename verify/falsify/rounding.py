"""Simple rationals: factors for the search, and simpler numbers for a counterexample."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from flint import fmpq

from fedtheory.arithmetic import simplest_near


def factor_of(exponent: float, relative: float) -> fmpq:
    """A simple rational within a relative distance of 2^exponent."""
    whole = round(exponent)
    power = fmpq(2) ** whole
    return power if whole == exponent else power * fmpq(simplest_near(2.0 ** (exponent - whole), relative))


def simplest_between(low: fmpq, high: fmpq) -> fmpq:
    """The rational of smallest denominator in the closed interval [low, high], for 0 <= low <= high."""
    whole = fmpq(low.ceil())
    if whole <= high:
        return whole
    below = whole - 1
    return below + 1 / simplest_between(1 / (high - below), 1 / (low - below))


def simpler(value: fmpq) -> Iterator[fmpq]:
    """Simpler rationals to try for a number, the simplest first."""
    sign = -1 if value < 0 else 1
    exact = Fraction(int(abs(value).p), int(value.q))
    tried: list[Fraction] = [Fraction(0), Fraction(1), Fraction(round(exact)), Fraction(2), Fraction(1, 2)]
    tried += [exact.limit_denominator(bound) for bound in (2, 4, 8, 32, 128, 1024)]
    tried += [Fraction(2) ** _exponent(exact), Fraction(2) ** (_exponent(exact) - 1)]
    # The smaller neighbour as well: a condition may allow no more than the number itself.
    tried += [Fraction(int(exact * bound), bound) for bound in (1, 2, 4, 8, 32)]
    tried += [1 / Fraction(-int(-1 // exact))] if exact else []
    seen: set[Fraction] = {exact}
    for candidate in sorted(tried, key=weight_of):
        if candidate not in seen and weight_of(candidate) < weight_of(exact):
            seen.add(candidate)
            yield fmpq(sign * candidate.numerator, candidate.denominator)
    if sign < 0:
        yield -value


def _exponent(value: Fraction) -> int:
    return value.numerator.bit_length() - value.denominator.bit_length()


def weight_of(value: Fraction | fmpq) -> int:
    """How much a number asks of a reader: nothing for zero, then its digits in binary, and its sign."""
    top, below = (value.p, value.q) if isinstance(value, fmpq) else (value.numerator, value.denominator)
    top, below = int(top), int(below)
    return 2 * (abs(top).bit_length() + 2 * (below.bit_length() - 1)) + (top < 0)
