"""Three arithmetics behind one set of names: machine floats, exact rationals, and enclosures of what is irrational.

The mathematics elsewhere is written once, on NumPy arrays.  Their element type decides: ``float64`` for sweeps, or
``object`` arrays of python-flint's `fmpq` for certificates.  Where a problem has no rational values the same arrays
hold a `Enclosure` next to each rational.  What the arithmetics cannot share (solving, eigenvalues, roots, parsing and
printing) is in objects with the same methods (`operations`).  Mixing a float with an exact number raises `TypeError`,
so none is ever rounded in silence.

Uses no other chapter.
"""

from functools import cache

from fedtheory.arithmetic.alike import group_equal_rows, map_equal_rows
from fedtheory.arithmetic.certified import CERTIFIED
from fedtheory.arithmetic.eigenvalues import largest_eigenvalues, smallest_eigenvalues
from fedtheory.arithmetic.enclosed import ENCLOSED
from fedtheory.arithmetic.floats import FLOAT
from fedtheory.arithmetic.midpoint_radius import MidpointRadius
from fedtheory.arithmetic.near import (
    floats_of_same_sign,
    plain_float,
    plain_floats,
    rational_above,
    rational_near,
    simplest_between,
    simplest_near,
)
from fedtheory.arithmetic.operations import Arithmetic, Array, Number
from fedtheory.arithmetic.products import product
from fedtheory.arithmetic.rationals import RATIONAL
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
    "floats_of_same_sign",
    "group_equal_rows",
    "largest_eigenvalues",
    "map_equal_rows",
    "plain_float",
    "plain_floats",
    "product",
    "rational_above",
    "rational_near",
    "select_arithmetic",
    "simplest_between",
    "simplest_near",
    "smallest_eigenvalues",
    "unanswered",
]

NEAR_TIE = 1e-9
"""Relative distance below which floats do not decide an inequality."""


def arithmetic_of(array: Array) -> Arithmetic:
    """The arithmetic that an array's element type stands for."""
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


def unanswered(arithmetic: Arithmetic, reason: str) -> NotApplicable:
    """The error for a question about rank or contraction whose answer is no: in floats rounding may have given it."""
    return NotApplicable(reason) if arithmetic.is_rigorous else Unresolved(reason)
