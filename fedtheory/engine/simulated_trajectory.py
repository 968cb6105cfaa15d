"""Trajectories of runs whose moments do not close: averages over simulated models."""

from __future__ import annotations

from functools import cached_property
from typing import NoReturn

import numpy as np

from fedtheory.arithmetic import Array
from fedtheory.engine.moments import Trajectory
from fedtheory.engine.moments.server import mean_over_rounds
from fedtheory.errors import NotApplicable


class SimulatedTrajectory(Trajectory):
    """Base class of trajectories on losses that are not quadratic, which have no recursion of moments."""

    def __getattr__(self, name: str) -> NoReturn:
        """Raise an error for attributes that only a recursion of moments of quadratics provides."""
        if name.startswith("__"):
            raise AttributeError(name)
        raise NotApplicable(f"moments do not close on {self.__dict__['problem'].description}, only on quadratics")

    @cached_property
    def mean_drift(self) -> Array:
        """(1/T) sum_n of `drift`, (K+1, M)."""
        return np.asarray(mean_over_rounds(self.drift))


def squared_norms(vectors: Array) -> Array:
    """Return |v|^2, (...), of vectors (..., d)."""
    return np.asarray((vectors * vectors).sum(axis=-1))
