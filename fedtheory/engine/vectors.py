"""Vectors of a proof, whatever they are made of: maps of random variables, or plain arrays."""

from __future__ import annotations

from abc import ABC, abstractmethod

from fedtheory.arithmetic import Array


class Vector(ABC):
    """A vector for each client (or one for all), closed under linear combination and linear maps."""

    @abstractmethod
    def __add__(self, other: Vector) -> Vector: ...

    @abstractmethod
    def scaled(self, factor: Array) -> Vector:
        """Multiplied by a scalar for each client, (..., 1) or (..., M)."""

    @abstractmethod
    def mapped(self, matrices: Array) -> Vector:
        """Multiplied by matrices (1 or M, d, d)."""

    @abstractmethod
    def averaged(self, weights: Array) -> Vector:
        """Weighted mean over clients, (M,) weights."""


class VectorSpace(ABC):
    """Where vectors live, and have inner products."""

    @abstractmethod
    def constant(self, vectors: Array) -> Vector:
        """Known vectors (1 or M, d)."""

    @abstractmethod
    def inner(self, left: Vector, right: Vector) -> Array:
        """(Expected) inner products, (..., 1 or M)."""
