"""Abstract vectors of a claim: affine maps of random variables, or plain arrays."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from weakref import WeakKeyDictionary

from fedtheory.arithmetic import Array


class LinearMaps:
    """Matrices (..., 1 or M, d, d), one for each client or one for all, with cached products."""

    def __init__(self, matrices: Array) -> None:
        self.matrices = matrices
        self._after = WeakKeyDictionary[LinearMaps, LinearMaps]()
        self._grams = WeakKeyDictionary[LinearMaps, Array]()

    @cached_property
    def at_one_step(self) -> LinearMaps:
        """Return the maps without an axis over steps, which stacks of several runs may have before the clients."""
        return LinearMaps(self.matrices[:, 0]) if self.matrices.ndim > 4 else self

    @cached_property
    def transposed(self) -> Array:
        """Return A', (..., 1 or M, d, d)."""
        return self.matrices.swapaxes(-1, -2)

    def compose(self, other: LinearMaps | None) -> LinearMaps:
        """Return the product A B; None is the identity."""
        if other is None:
            return self
        if other not in self._after:
            self._after[other] = LinearMaps(self.matrices @ other.matrices)
        return self._after[other]

    def gram(self, other: LinearMaps | None) -> Array:
        """Return A' B, (..., 1 or M, d, d); None is the identity."""
        if other is None:
            return self.transposed
        if other not in self._grams:
            self._grams[other] = self.transposed @ other.matrices
        return self._grams[other]


class Vector(ABC):
    """A vector for each client (or one for all), closed under linear combination and linear maps."""

    @abstractmethod
    def __add__(self, other: Vector) -> Vector: ...

    @abstractmethod
    def scale(self, factor: Array) -> Vector:
        """Return the vectors multiplied by a scalar for each client, (..., 1) or (..., M)."""

    @abstractmethod
    def transform(self, maps: LinearMaps) -> Vector:
        """Return the vectors multiplied by matrices."""

    @abstractmethod
    def average(self, weights: Array) -> Vector:
        """Return the weighted average over clients, with weights (M,)."""


class VectorSpace(ABC):
    """Space of vectors with an inner product."""

    @abstractmethod
    def constant(self, vectors: Array) -> Vector:
        """Return known vectors (1 or M, d)."""

    @abstractmethod
    def inner(self, left: Vector, right: Vector) -> Array:
        """Return (expected) inner products, (..., 1 or M)."""
