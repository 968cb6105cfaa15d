"""Operations of every arithmetic."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Number = Any
"""A float, a rational (`fmpq`), or a rigorous enclosure of what is irrational (`arb`, or an `Enclosure`, of which a
`RootSum` is known exactly)."""


class Arithmetic(ABC):
    """The operations in which arithmetics differ."""

    name: str
    """Name on the command line."""
    kind: str
    """Kind: float, rational or enclosure."""
    numbers: str
    """Word for its numbers."""
    dtype: type
    is_rigorous: bool
    """Whether a decided comparison is proved; in floats it is not."""

    @abstractmethod
    def number(self, value: object, key: str) -> Number:
        """Read a TOML number or a rational string such as ``"1/20"``; `key` names it in errors."""

    @abstractmethod
    def text(self, value: Number) -> Any:
        """The value as JSON carries it: a number, or the string ``"p/q"``."""

    @abstractmethod
    def solve(self, matrix: Array, right: Array) -> Array:
        """Least-norm solution of ``matrix @ x = right``, `matrix` (d, d) symmetric; `InputError` if there is none."""

    def solve_to_digits(self, matrix: Array, right: Array) -> Array:
        """Solve as `solve` does; `Unresolved` where printed digits may be lost."""
        return self.solve(matrix, right)

    @abstractmethod
    def solve_regular(self, matrix: Array, right: Array) -> Array:
        """The solution of ``matrix @ x = right`` for a regular (d, d) matrix."""

    @abstractmethod
    def largest_eigenvalue(self, matrix: Array) -> Number:
        """Largest eigenvalue of a symmetric (d, d) matrix; in rationals never too small (see `is_psd`)."""

    @abstractmethod
    def are_psd(self, matrices: Array) -> Array:
        """Return whether each of the symmetric matrices (N, d, d) is positive semidefinite, (N,)."""

    def is_psd(self, matrix: Array) -> bool:
        """Return whether a symmetric matrix is positive semidefinite."""
        return bool(self.are_psd(matrix[None])[0])

    @abstractmethod
    def sqrt(self, value: Number) -> Number:
        """The non-negative root; in rationals a `RootSum` where it is irrational."""

    @abstractmethod
    def root(self, value: Number, degree: int) -> Number:
        """The non-negative root of a degree; in rationals a `RootSum` where it is irrational."""

    @abstractmethod
    def exp(self, value: Number) -> Number:
        """The exponential; in rationals an `arb` enclosure where it is irrational."""

    @abstractmethod
    def log(self, value: Number) -> Number:
        """The natural logarithm of a positive number; in rationals an `arb` enclosure where it is irrational."""

    @abstractmethod
    def upper_sqrt(self, value: Number) -> Number:
        """A number of this arithmetic that is at least the root, and equal to it where possible."""

    def array(self, values: object) -> Array:
        """An array of this arithmetic from nested lists, rationals, integers or floats."""
        given = np.asarray(values, dtype=object)
        flat = [self.number(value, "value") for value in given.ravel()]
        return self._fill(flat, given.shape)

    def zeros(self, *shape: int) -> Array:
        """An array of zeros."""
        return np.full(shape, self.number(0, "zero"), dtype=self.dtype)

    def identity(self, size: int) -> Array:
        """The (size, size) identity matrix."""
        identity = self.zeros(size, size)
        np.fill_diagonal(identity, self.number(1, "one"))
        return identity

    def difference(self, left: Array, right: Array, _size: Callable[[], Array]) -> Array:
        """``left - right``, sums of numbers up to `_size()`; in floats what rounding alone explains is zero."""
        difference: Array = left - right
        return difference

    def smallest_eigenvalue(self, matrix: Array) -> Number:
        """Smallest eigenvalue of a symmetric matrix; in rationals never too large."""
        return 0 - self.largest_eigenvalue(-matrix)

    def _fill(self, flat: list[Number], shape: tuple[int, ...]) -> Array:
        filled: Array = np.empty(len(flat), dtype=self.dtype)
        filled[:] = flat
        return filled.reshape(shape)
