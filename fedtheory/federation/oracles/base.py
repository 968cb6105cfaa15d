"""Gradient oracles: the stochastic gradients that clients observe.

Each oracle is unbiased, and its noise covariance is an affine function of the second moment of the point, which keeps
expectations in closed form.  Points are homogeneous, ``(1, x)``, so that one (d+1, d+1) matrix holds mean and
second moment together.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from fedtheory.arithmetic import Array, Number


@dataclass(frozen=True)
class StepBound:
    """Worst-case bound on a single stochastic gradient step, in coordinates whose zero is the optimum."""

    curvature: Number
    """Largest curvature of the objective of a sample."""
    push: Number
    """Largest norm of a stochastic gradient at zero, rounded up."""
    contraction: Number
    """Strong convexity of the objectives of all samples; zero if one has none."""
    law: str = ""
    """Noise law, if the moments alone do not bound the noise."""


@dataclass(frozen=True, eq=False)
class Draws:
    """All outcomes of one call of a client's oracle; for each of them, the noise is affine in the point."""

    probabilities: Array
    """Probabilities, (n,), summing to one."""
    maps: Array
    """``noise(x) = maps @ (1, x)``, (n, d, d+1)."""

    @cached_property
    def are_quiet(self) -> bool:
        """Whether there is only one outcome, without noise."""
        return len(self.probabilities) == 1 and not (self.maps != 0).any()


class Oracle(ABC):
    """An unbiased stochastic gradient for each of M clients in d dimensions."""

    depends_on_model: bool
    """Whether the noise covariance depends on the point (multiplicative noise)."""

    @abstractmethod
    def covariances(self, moments: Array, gradients: Array) -> Array:
        """Return noise covariances (M, d, d), averaged over points with second moments `moments` (M, d+1, d+1).

        `gradients` (M, d, d) are the second moments of the full gradients at these points.
        """

    @abstractmethod
    def pull_back(self, forms: Array, gradients: Array) -> Array:
        """Return forms in (1, x), (M, d+1, d+1), equal to the expectations of `forms` (M, d, d) in the noise at x.

        `gradients` (M, d+1, d+1) are the forms in (1, x) of `forms` in the full gradients.
        """

    @abstractmethod
    def sample(self, points: Array, generator: np.random.Generator) -> Array:
        """Return noise vectors (..., M, d) at float points (..., M, d), with one independent sample for each."""

    @abstractmethod
    def outcome(self, client: int, point: Array, generator: np.random.Generator) -> Array:
        """Return one outcome (d,) of a client's noise at a point, in the point's arithmetic."""

    @abstractmethod
    def draws(self, client: int, linear: Array) -> Draws:
        """Return a finite law of a client's noise with the oracle's moments; `linear` (M, d) gives the shape."""

    @abstractmethod
    def step_bound(self, hessians: Array, linear: Array) -> StepBound:
        """Return bounds on one step for objectives with H_i = `hessians` (M, d, d) and b_i = `linear` (M, d)."""

    @property
    def sample_products(self) -> int:
        """Number of multiplications of entries of single samples for the covariances of all clients in one step."""
        return 0

    def prepare(self, _evaluations: int) -> Oracle:
        """Return this oracle, with precomputed data if these make `_evaluations` covariances cheaper."""
        return self

    def as_floats(self) -> Oracle:
        """Return the oracle in double precision."""
        return self

    def select_clients(self, _clients: Sequence[int]) -> Oracle:
        """Return the oracle of the given clients, in that order, possibly with repetitions."""
        return self

    def translate(self, _origin: Array) -> Oracle:
        """Return the oracle in coordinates whose origin is the given point."""
        return self
