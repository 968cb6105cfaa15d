"""Extreme eigenvalues of many symmetric matrices: in floats all at once, else once for each distinct matrix."""

from __future__ import annotations

from fedtheory.arithmetic.equal_rows import map_equal_rows
from fedtheory.arithmetic.floats import FLOAT
from fedtheory.arithmetic.operations import Arithmetic, Array


def largest_eigenvalues(arithmetic: Arithmetic, matrices: Array) -> Array:
    """Return the largest eigenvalue of each of the matrices (N, d, d), (N,); in rationals an upper bound."""
    if arithmetic is FLOAT:
        return FLOAT.largest_eigenvalues(matrices)
    return arithmetic.array(map_equal_rows(arithmetic.largest_eigenvalue, matrices))


def smallest_eigenvalues(arithmetic: Arithmetic, matrices: Array) -> Array:
    """Return the smallest eigenvalue of each of the matrices (N, d, d), (N,); in rationals a lower bound."""
    if arithmetic is FLOAT:
        return 0 - FLOAT.largest_eigenvalues(-matrices)
    return arithmetic.array(map_equal_rows(arithmetic.smallest_eigenvalue, matrices))
