"""Machine floats (IEEE double precision)."""

from __future__ import annotations

import copyreg
import math
from collections.abc import Callable

import numpy as np
from flint import fmpq

from fedtheory.arithmetic.enclosures import Enclosure
from fedtheory.arithmetic.operations import Arithmetic, Array, Number
from fedtheory.arithmetic.reading import abridge, read_fraction
from fedtheory.arithmetic.rounding import convert_to_nearest_float, plain_float
from fedtheory.errors import InputError, Unresolved

_REACH = 1e60
"""Largest number accepted in floats: products of a few such numbers do not overflow."""
_LEAST = 1e-60
"""Smallest positive number accepted in floats."""
_FLAT, _FAINT = 1e-12, 1e-9
"""Singular values, relative to the largest, below which others count as zero, and below which they lose digits."""
_NUMBERS = (float, fmpq, Enclosure, np.floating)
_FEW_ROUNDINGS = 16 * float(np.finfo(float).eps)


class FloatArithmetic(Arithmetic):
    """IEEE double precision."""

    name = "float"
    kind = "float"
    numbers = "floats"
    dtype = float
    is_rigorous = False

    def number(self, value: object, key: str) -> float:
        if isinstance(value, _NUMBERS):
            number = plain_float(value)
        elif type(value) is int:
            number = convert_to_nearest_float(value, 1)
        else:
            number = convert_to_nearest_float(*read_fraction(value, key).as_integer_ratio())
        if not math.isfinite(number):
            raise InputError(key, f"expected a finite number, got {abridge(value)}")
        if abs(number) > _REACH:
            raise InputError(key, f"expected at most {_REACH:g} in floats, got {number:g}")
        return number

    def positive(self, value: object, key: str) -> float:
        """Read a positive number; raise `InputError` if it is too small for floats."""
        number = self.number(value, key)
        if not number >= _LEAST:
            raise InputError(key, f"expected at least {_LEAST:g} in floats, got {abridge(str(value))}")
        return number

    def array(self, values: object) -> Array:
        # The range is checked only for numbers that are read; here they may be computed.
        given = values if isinstance(values, np.ndarray) else np.asarray(values, dtype=object)
        if given.dtype.kind in "fiu" or all(isinstance(v, float) and math.isfinite(v) for v in given.ravel()):
            return given.astype(float)
        return super().array(values)

    def zeros(self, *shape: int) -> Array:
        # The allocator returns zeroed memory at no cost.
        return np.zeros(shape)

    def identity(self, size: int) -> Array:
        return np.eye(size)

    def text(self, value: Number) -> float | None:
        number = plain_float(value)
        return number if math.isfinite(number) else None

    def solve(self, matrix: Array, right: Array) -> Array:
        return _solve(matrix, right)[0]

    def solve_to_digits(self, matrix: Array, right: Array) -> Array:
        solution, values = _solve(matrix, right)
        steep = values > 8 * len(values) * np.finfo(float).eps * values.max(initial=0.0)
        is_faint = (values[steep] < _FAINT * values.max(initial=0.0)).any()
        return _solve_scaled(matrix, right) if is_faint else solution

    def solve_regular(self, matrix: Array, right: Array) -> Array:
        return np.asarray(np.linalg.solve(matrix, right))

    def difference(self, left: Array, right: Array, _size: Callable[[], Array]) -> Array:
        difference: Array = left - right
        return np.where(np.abs(difference) <= _FEW_ROUNDINGS * _size(), 0.0, difference)

    def largest_eigenvalue(self, matrix: Array) -> float:
        return float(self.largest_eigenvalues(matrix[None])[0])

    def largest_eigenvalues(self, matrices: Array) -> Array:
        values = _compute_eigenvalues(matrices)
        # Rounding may return a tiny eigenvalue instead of zero: singular matrices are common here.
        rounding = 8 * values.shape[-1] * np.finfo(float).eps * np.abs(values).max(axis=-1, initial=0.0)
        return np.where(np.abs(values[..., -1]) > rounding, values[..., -1], 0.0)

    def are_psd(self, matrices: Array) -> Array:
        scales = np.abs(matrices).max(axis=(1, 2), initial=0.0)
        return np.asarray(_compute_eigenvalues(matrices)[:, 0] >= -1e-10 * scales)

    def sqrt(self, value: Number) -> Number:
        # The root of a negative number is NaN, which makes every comparison undecided.
        with np.errstate(invalid="ignore"):
            return np.sqrt(value)

    def root(self, value: Number, degree: int) -> Number:
        with np.errstate(invalid="ignore"):
            return np.sqrt(value) if degree == 2 else np.power(value, 1 / degree)

    def exp(self, value: Number) -> Number:
        # A large exponent gives infinity; a check then reports that the value is outside the range of floats.
        with np.errstate(over="ignore"):
            return np.exp(value)

    def log(self, value: Number) -> Number:
        # The logarithm of a number that is not positive is NaN or infinite, which makes every comparison undecided.
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.log(value)

    def upper_sqrt(self, value: Number) -> Number:
        return math.sqrt(value)


def _compute_eigenvalues(matrices: Array) -> Array:
    """Compute the eigenvalues of symmetric matrices (..., d, d), in rising order, (..., d)."""
    # A call of LAPACK takes longer than a 1x1 matrix needs.
    values: Array = matrices[..., 0] if matrices.shape[-1] == 1 else np.linalg.eigvalsh(matrices)
    return values


def _solve(matrix: Array, right: Array) -> tuple[Array, Array]:
    """Return the least-norm solution of a system, and the singular values of its matrix.

    Raises `InputError` if there is none.
    """
    solution, _, _, values = np.linalg.lstsq(matrix, right, rcond=_FLAT)
    scale = np.abs(right).max(initial=0.0) + np.abs(matrix).max(initial=0.0) * np.abs(solution).max(initial=0.0)
    if np.abs(matrix @ solution - right).max(initial=0.0) > 1e-8 * scale:
        raise InputError("", "the linear system has no solution")
    return solution, values


def _solve_scaled(matrix: Array, right: Array) -> Array:
    """Solve a symmetric system with scaled unknowns; raise `Unresolved` if the result has no correct digits."""
    scales = 1 / np.sqrt(np.where(np.diag(matrix) > 0, np.diag(matrix), 1.0))
    scaled, _, _, values = np.linalg.lstsq(scales[:, None] * matrix * scales, scales * right, rcond=_FLAT)
    if values.min() < _FAINT * values.max():
        condition = f"condition number {values.max() / values.min():.2g}"
        raise Unresolved(f"too ill-conditioned for floats ({condition}): --arithmetic rational")
    return np.asarray(scales * scaled)


FLOAT = FloatArithmetic()
# Arithmetics are compared by identity, so unpickling must return this object.
copyreg.pickle(FloatArithmetic, lambda _one: "FLOAT")
