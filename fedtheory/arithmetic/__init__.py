"""Three arithmetics with one interface: machine floats, exact rationals, and enclosures (intervals) of real numbers.

The mathematics elsewhere is written once, on NumPy arrays.  Their element type selects the arithmetic: ``float64``
for sweeps, or ``object`` arrays of python-flint's `fmpq` for exact results.  If a problem has irrational values, the
same arrays hold an `Enclosure` next to each rational.  Operations that differ (solving, eigenvalues, roots, parsing
and printing) are methods of one class for each arithmetic (`operations`).  Mixing a float with an exact number raises
`TypeError`, so that no exact number is rounded silently.

Uses no other package of fedtheory.
"""

from functools import cache

from fedtheory.arithmetic.certified import CERTIFIED
from fedtheory.arithmetic.enclosure_arithmetic import ENCLOSED
from fedtheory.arithmetic.equal_rows import group_equal_rows, map_equal_rows
from fedtheory.arithmetic.floats import FLOAT
from fedtheory.arithmetic.midpoint_radius import MidpointRadius
from fedtheory.arithmetic.operations import Arithmetic, Array, Number
from fedtheory.arithmetic.products import product, squared_norms, sum_with_weights
from fedtheory.arithmetic.rationals import RATIONAL
from fedtheory.arithmetic.rounding import (
    convert_keeping_signs,
    find_simplest_between,
    is_rounded_root,
    plain_float,
    plain_floats,
    round_to_rational,
    round_to_simplest,
    round_up_to_rational,
)
from fedtheory.errors import InputError, NotApplicable, Unresolved

__all__ = [
    "CERTIFIED",
    "ENCLOSED",
    "FLOAT",
    "NEAR_TIE",
    "RATIONAL",
    "Arithmetic",
    "Array",
    "MidpointRadius",
    "Number",
    "arithmetic_of",
    "convert_keeping_signs",
    "find_simplest_between",
    "group_equal_rows",
    "is_rounded_root",
    "map_equal_rows",
    "plain_float",
    "plain_floats",
    "product",
    "refuse_test",
    "round_to_rational",
    "round_to_simplest",
    "round_up_to_rational",
    "select_arithmetic",
    "squared_norms",
    "sum_with_weights",
]

NEAR_TIE = 1e-9
"""Relative distance of two floats below which an inequality between them is undecided."""


def arithmetic_of(array: Array) -> Arithmetic:
    """Return the arithmetic of an array's element type."""
    given: object = array
    if isinstance(given, MidpointRadius):
        return CERTIFIED
    return RATIONAL if array.dtype == object else FLOAT


@cache
def select_arithmetic(name: str) -> Arithmetic:
    """Return the arithmetic called ``float`` or ``rational``."""
    known = {arithmetic.name: arithmetic for arithmetic in (FLOAT, RATIONAL)}
    if name not in known:
        raise InputError("arithmetic", f"expected one of {', '.join(known)}, got {name!r}")
    return known[name]


def refuse_test(arithmetic: Arithmetic, reason: str) -> NotApplicable:
    """Return the error for a failed test of rank or contraction.

    In floats the error is `Unresolved`, because rounding may be the cause.
    """
    return NotApplicable(reason) if arithmetic.is_rigorous else Unresolved(reason)
