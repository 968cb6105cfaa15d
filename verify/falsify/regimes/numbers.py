"""Convert the coordinates of a point to rationals: powers of two if possible, else short numbers."""

from __future__ import annotations

import math

from flint import fmpq

from fedtheory.arithmetic import simplest_between
from verify.falsify.rounding import find_simple_power

_ROUGH = 0.01
"""Relative distance within which a number of a point is replaced by a shorter one."""
_ROUNDING = fmpq(1, 10**13)


def round_power(exponent: float | None) -> fmpq:
    """Return 2^exponent, approximately for non-integers; 0 for None."""
    return fmpq(0) if exponent is None else find_simple_power(exponent, _ROUGH)


def round_below(bound: float, relative: float = _ROUGH) -> fmpq:
    """Return a short rational that is at most a positive bound, and close to it."""
    whole = math.floor(math.log2(bound))
    scaled = fmpq(*(bound / 2.0**whole).as_integer_ratio())
    return simplest_between(scaled * (1 - _convert_exactly(relative)), scaled * (1 + _ROUNDING)) * fmpq(2) ** whole


def _convert_exactly(number: float) -> fmpq:
    return fmpq(*number.as_integer_ratio())
