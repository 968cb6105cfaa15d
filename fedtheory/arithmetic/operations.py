"""Abstract interface of the arithmetics."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedtheory.arithmetic.equal_rows import map_equal_rows

Array = NDArray[Any]
Number = Any
"""A float, a rational (`fmpq`), an interval (`arb`), or an `Enclosure`; the subclass `RootSum` of `Enclosure` is
known exactly."""


class Arithmetic(ABC):
    """The operations that each arithmetic implements in its own way."""

    name: str
    """Name on the command line."""
    kind: str
    """Kind: float, rational or enclosure."""
    numbers: str
    """Word for its numbers in messages."""
    dtype: type
    is_rigorous: bool
    """Whether comparisons are exact; in floats they are not."""

    @abstractmethod
    def number(self, value: object, key: str) -> Number:
        """Read a TOML number or a rational string such as ``"1/20"``; `key` names it in errors."""

    @abstractmethod
    def text(self, value: Number) -> Any:
        """Return the value for JSON: a number, or the string ``"p/q"``."""

    @abstractmethod
    def solve(self, matrix: Array, right: Array) -> Array:
        """Return the least-norm solution of ``matrix @ x = right``, `matrix` (d, d) symmetric.

        Raises `InputError` if there is none.
        """

    def solve_to_digits(self, matrix: Array, right: Array) -> Array:
        """Solve as `solve` does; raise `Unresolved` if printed digits may be wrong."""
        return self.solve(matrix, right)

    @abstractmethod
    def solve_regular(self, matrix: Array, right: Array) -> Array:
        """Return the solution of ``matrix @ x = right`` for an invertible (d, d) matrix."""

    @abstractmethod
    def largest_eigenvalue(self, matrix: Array) -> Number:
        """Return the largest eigenvalue of a symmetric (d, d) matrix; in rationals an upper bound (see `is_psd`)."""

    def largest_eigenvalues(self, matrices: Array) -> Array:
        """Return the largest eigenvalue of each of the matrices (N, d, d), (N,); in rationals an upper bound."""
        return self.array(map_equal_rows(self.largest_eigenvalue, matrices))

    def smallest_eigenvalues(self, matrices: Array) -> Array:
        """Return the smallest eigenvalue of each of the matrices (N, d, d), (N,); in rationals a lower bound."""
        return 0 - self.largest_eigenvalues(-matrices)

    @abstractmethod
    def are_psd(self, matrices: Array) -> Array:
        """Return whether each of the symmetric matrices (N, d, d) is positive semidefinite, (N,)."""

    def is_psd(self, matrix: Array) -> bool:
        """Return whether a symmetric matrix is positive semidefinite."""
        return bool(self.are_psd(matrix[None])[0])

    @abstractmethod
    def sqrt(self, value: Number) -> Number:
        """Return the non-negative root; in rationals a `RootSum` if it is irrational."""

    @abstractmethod
    def root(self, value: Number, degree: int) -> Number:
        """Return the non-negative root of a degree; in rationals a `RootSum` if it is irrational."""

    @abstractmethod
    def exp(self, value: Number) -> Number:
        """Return the exponential; in rationals an `arb` interval if it is irrational."""

    @abstractmethod
    def log(self, value: Number) -> Number:
        """Return the natural logarithm of a positive number; in rationals an `arb` interval if it is irrational."""

    @abstractmethod
    def upper_sqrt(self, value: Number) -> Number:
        """Return an upper bound of the square root in this arithmetic, equal to the root if possible."""

    def array(self, values: object) -> Array:
        """Return an array of this arithmetic from nested lists, rationals, integers or floats."""
        given = np.asarray(values, dtype=object)
        flat = [self.number(value, "value") for value in given.ravel()]
        return self._fill(flat, given.shape)

    def zeros(self, *shape: int) -> Array:
        """Return an array of zeros."""
        return np.full(shape, self.number(0, "zero"), dtype=self.dtype)

    def identity(self, size: int) -> Array:
        """Return the (size, size) identity matrix."""
        identity = self.zeros(size, size)
        np.fill_diagonal(identity, self.number(1, "one"))
        return identity

    def difference(self, left: Array, right: Array, _size: Callable[[], Array]) -> Array:
        """Return ``left - right`` for sums of terms up to `_size()`.

        In floats, a difference within rounding error is zero.
        """
        difference: Array = left - right
        return difference

    def smallest_eigenvalue(self, matrix: Array) -> Number:
        """Return the smallest eigenvalue of a symmetric matrix; in rationals a lower bound."""
        return 0 - self.largest_eigenvalue(-matrix)

    def _fill(self, flat: list[Number], shape: tuple[int, ...]) -> Array:
        filled: Array = np.empty(len(flat), dtype=self.dtype)
        filled[:] = flat
        return filled.reshape(shape)
