"""Objectives that are known by their values and gradients at points, not as quadratic forms."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from fedtheory.arithmetic import Array
from fedtheory.engine.frames.path import PathVector, PlainFrame
from fedtheory.engine.objectives import Objectives
from fedtheory.engine.vectors import Vector, VectorSpace
from fedtheory.errors import NotApplicable


@dataclass(frozen=True, eq=False)
class PointObjectives(Objectives):
    """Functions of points in coordinates relative to x*."""

    values_at: Callable[[Array], Array]
    """Values (..., M) of the objectives at points (..., M, d)."""
    gradients_at: Callable[[Array], Array]
    """Gradients (..., M, d) of the objectives at points (..., M, d)."""
    gradients_of: Callable[[Sequence[int], Array], Array]
    """Gradients (..., C, d) of some of the objectives, each at its own point (..., C, d)."""
    count: int
    """M; 1 for an objective that is evaluated at every client's vector."""

    def gradients(self, clients: Sequence[int], points: Array) -> Array:
        return self.gradients_of(clients, points)

    def gradient(self, _space: VectorSpace, at: Vector) -> Vector:
        return PathVector(self.gradients_at(self._select_points(at)))

    def value(self, space: VectorSpace, at: Vector) -> Array:
        assert isinstance(space, PlainFrame)
        return space.average_outcomes(self.values_at(self._select_points(at)))

    def scale(self, space: VectorSpace, at: Vector) -> Array:
        # All terms have one sign, so that nothing cancels.
        return abs(self.value(space, at))

    def _select_points(self, at: Vector) -> Array:
        """Return the point of each objective; raise `NotApplicable` for vectors in expectation."""
        if not isinstance(at, PathVector):
            raise NotApplicable("second moments do not determine values of losses that are not quadratic")
        if self.count == 1:
            return at.values
        return np.broadcast_to(at.values, (*at.values.shape[:-2], self.count, at.values.shape[-1]))
