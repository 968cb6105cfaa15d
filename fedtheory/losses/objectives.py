"""Sums of scalar losses as the functions that claims evaluate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fedtheory.arithmetic import Array
from fedtheory.errors import NotApplicable
from fedtheory.losses.terms import Terms
from fedtheory.objectives import Objectives

if TYPE_CHECKING:
    from fedtheory.frames import Frame, Vector


@dataclass(frozen=True, eq=False)
class LossObjectives(Objectives):
    """One objective for each of M clients."""

    terms: Terms
    """In coordinates centred at x*."""
    count: int
    """M, or 1 for an objective that is evaluated at every client's vector."""

    def gradients(self, clients: Sequence[int], points: Array) -> Array:
        return self.terms.of(clients).gradients(points)

    def gradient(self, _frame: Frame, at: Vector) -> Vector:
        from fedtheory.frames import PathVector

        points = self._points(at)
        found = self.terms.gradients(points)
        return PathVector(found[..., 0, :] if self.count == 1 else found)

    def value(self, frame: Frame, at: Vector) -> Array:
        from fedtheory.frames.path import PlainFrame

        assert isinstance(frame, PlainFrame)
        found = self.terms.values(self._points(at))
        return frame.of_outcomes(found[..., 0] if self.count == 1 else found)

    def scale(self, frame: Frame, at: Vector) -> Array:
        # All terms are of one sign: none cancels another.
        return abs(self.value(frame, at))

    def _points(self, at: Vector) -> Array:
        """Where each objective is evaluated: (..., M, d), or (..., C, 1, d) for a single one."""
        from fedtheory.frames import PathVector

        if not isinstance(at, PathVector):
            raise NotApplicable("moments say nothing about losses that are not quadratic")
        if self.count == 1:
            return at.values[..., None, :]
        return np.broadcast_to(at.values, (*at.values.shape[:-2], self.count, at.values.shape[-1]))
