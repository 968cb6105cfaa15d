"""Conversions between kinds of numbers: floats near rationals, rationals near or above any number."""

from __future__ import annotations

import math
from contextlib import suppress
from fractions import Fraction

import numpy as np
from flint import arb, fmpq

from fedtheory.arithmetic.enclosures import convert_to_ball
from fedtheory.arithmetic.operations import Array, Number


def plain_float(value: Number) -> float:
    """Return a float near a number of any arithmetic, for ordering and display."""
    if isinstance(value, fmpq):
        try:
            return float(value)
        except OverflowError:
            return math.inf if value > 0 else -math.inf
    known = convert_to_ball(value)
    return float(known.mid()) if isinstance(known, arb) else float(known)


def plain_floats(values: Array) -> Array:
    """Apply `plain_float` to every entry."""
    if values.dtype != object:
        return values
    if _are_rationals(values):
        with suppress(OverflowError):
            return values.astype(float)
    return np.asarray(_PLAIN_FLOATS(values), dtype=float)


def _are_rationals(values: Array) -> bool:
    """Return whether every entry is a rational."""
    return values.dtype == object and set(map(type, values.flat)) <= {fmpq}


def convert_keeping_signs(values: Array) -> Array:
    """Return floats with the signs of rationals, which are faster to compare; other numbers unchanged."""
    if not _are_rationals(values):
        return values
    signed = plain_floats(values)
    # Very small rationals would be rounded to zero.
    hidden = (signed == 0) & values.astype(bool)
    signed[hidden] = [1 if value > 0 else -1 for value in values[hidden]]
    return signed


_PLAIN_FLOATS = np.frompyfunc(plain_float, 1, 1)


def convert_to_nearest_float(numerator: int, denominator: int) -> float:
    """Return the float nearest to a fraction; infinite if the fraction exceeds the range of floats."""
    try:
        return numerator / denominator
    except OverflowError:
        return math.inf if numerator > 0 else -math.inf


def round_to_simplest(value: float, relative: float = 1e-9) -> fmpq:
    """Return a short rational within a relative distance of a float.

    It is the closest one with a denominator of at most 1, 10, 100, ..., for the first of these bounds that suffices.
    """
    exact, distance = Fraction(value), Fraction(relative * abs(value))
    approximations = map(exact.limit_denominator, _POWERS_OF_TEN)
    near = next((near for near in approximations if abs(near - exact) <= distance), exact)
    return fmpq(near.numerator, near.denominator)


def find_simplest_between(low: fmpq, high: fmpq) -> fmpq:
    """Return the rational of smallest denominator in the closed interval [low, high], for 0 <= low <= high."""
    whole = fmpq(low.ceil())
    if whole <= high:
        return whole
    below = whole - 1
    return below + 1 / find_simplest_between(1 / (high - below), 1 / (low - below))


_POWERS_OF_TEN = tuple(10**power for power in range(16))


def round_to_rational(value: Number) -> fmpq:
    """Return a number itself if it is rational, else a simple rational close to it."""
    return value if isinstance(value, fmpq) else round_to_simplest(plain_float(value))


def round_up_to_rational(value: Number) -> fmpq:
    """Return a positive number itself if it is rational, else a short rational slightly above it."""
    known = convert_to_ball(value)
    return round_up(known.upper().fmpq()) if isinstance(known, arb) else known


def round_up(value: fmpq) -> fmpq:
    """Round a positive rational up to one with a short denominator, by at most a ten-thousandth."""
    shift = 1
    while value * shift < 10_000:
        shift *= 10
    return fmpq(math.ceil(Fraction(int(value.p), int(value.q)) * shift), shift)


_MOST_BITS = 40
"""Most bits of the numerators of exact eigenvalues that are dyadic rationals; bounds on irrational ones have fifty."""


def is_rounded_root(value: object) -> bool:
    """Return whether a number may be an upper bound of an irrational root, as `upper_sqrt` returns it.

    Such bounds are dyadic rationals with many digits; an exact number of this form counts as a bound as well.
    """
    if not isinstance(value, fmpq):
        return False
    numerator, denominator = abs(int(value.p)), int(value.q)
    return numerator.bit_length() > _MOST_BITS and denominator & (denominator - 1) == 0
