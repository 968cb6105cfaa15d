"""Objectives as functions that claims evaluate: F alone, or F_i of each client, in coordinates relative to x*."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from fedtheory.arithmetic import Array
from fedtheory.engine.vectors import LinearMaps, Vector, VectorSpace


class Objectives(ABC):
    """One objective for each of M clients, or a single one for all of them."""

    @abstractmethod
    def gradients(self, clients: Sequence[int], points: Array) -> Array:
        """Return the gradients of C of the objectives, (..., C, d), each at its own point (..., C, d)."""

    @abstractmethod
    def gradient(self, space: VectorSpace, at: Vector) -> Vector:
        """Return the gradients at a vector of a space."""

    @abstractmethod
    def value(self, space: VectorSpace, at: Vector) -> Array:
        """Return the (expected) values at a vector of a space, (..., 1 or M)."""

    @abstractmethod
    def scale(self, space: VectorSpace, at: Vector) -> Array:
        """Return the size of the terms that cancel in the values, for bounds on rounding errors."""


@dataclass(frozen=True, eq=False)
class QuadraticObjectives(Objectives):
    """``x'Hx/2 - b'x + c``."""

    hessians: Array
    """(1 or M, d, d)."""
    linear: Array
    """(1 or M, d)."""
    constants: Array
    """A number, or (M,)."""

    @cached_property
    def curvatures(self) -> LinearMaps:
        """The Hessians as maps of vectors."""
        return LinearMaps(self.hessians)

    def gradients(self, clients: Sequence[int], points: Array) -> Array:
        chosen = list(clients)
        gradients: Array = (self.hessians[chosen] @ points[..., None])[..., 0] - self.linear[chosen]
        return gradients

    def gradient(self, space: VectorSpace, at: Vector) -> Vector:
        return at.transform(self.curvatures) + space.constant(-self.linear)

    def value(self, space: VectorSpace, at: Vector) -> Array:
        curved = space.inner(at, at.transform(self.curvatures)) / 2
        values: Array = curved - space.inner(space.constant(self.linear), at) + self.constants
        return values

    def scale(self, space: VectorSpace, at: Vector) -> Array:
        curved = abs(space.inner(at, at.transform(self.curvatures))) / 2
        sizes: Array = curved + abs(space.inner(space.constant(self.linear), at)) + abs(self.constants)
        return sizes
