"""Sums of scalar losses as functions that claims evaluate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fedtheory.arithmetic import Array
from fedtheory.engine.frames.path import PathVector, PlainFrame
from fedtheory.engine.objectives import Objectives
from fedtheory.engine.vectors import Vector, VectorSpace
from fedtheory.errors import NotApplicable
from fedtheory.federation.losses.terms import Terms


@dataclass(frozen=True, eq=False)
class LossObjectives(Objectives):
    """One objective for each of M clients."""

    terms: Terms
    """The problem, in coordinates relative to x*."""
    count: int
    """M, or 1 for an objective that is evaluated at every client's vector."""

    def gradients(self, clients: Sequence[int], points: Array) -> Array:
        return self.terms.of(clients).gradients(points)

    def gradient(self, _space: VectorSpace, at: Vector) -> Vector:
        points = self._select_points(at)
        found = self.terms.gradients(points)
        return PathVector(found[..., 0, :] if self.count == 1 else found)

    def value(self, space: VectorSpace, at: Vector) -> Array:
        assert isinstance(space, PlainFrame)
        found = self.terms.values(self._select_points(at))
        return space.of_outcomes(found[..., 0] if self.count == 1 else found)

    def scale(self, space: VectorSpace, at: Vector) -> Array:
        # All terms have one sign, so that nothing cancels.
        return abs(self.value(space, at))

    def _select_points(self, at: Vector) -> Array:
        """Return the points at which each objective is evaluated: (..., M, d), or (..., C, 1, d) for a single one."""
        if not isinstance(at, PathVector):
            raise NotApplicable("second moments do not determine values of losses that are not quadratic")
        if self.count == 1:
            return at.values[..., None, :]
        return np.broadcast_to(at.values, (*at.values.shape[:-2], self.count, at.values.shape[-1]))
