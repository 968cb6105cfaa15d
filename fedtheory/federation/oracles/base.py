"""Gradient oracles: the stochastic gradients that clients observe.

Each oracle is unbiased, and its noise covariance is an affine function of the second moment of the point, which keeps
expectations in closed form.  Points are homogeneous, ``(1, x)``, so that one (d+1, d+1) matrix holds mean and
covariance together.
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
    """Worst-case bound on a single sampled step, in coordinates whose zero is the optimum."""

    curvature: Number
    """Largest curvature of an objective that is sampled."""
    push: Number
    """Largest length of a sampled gradient at zero, rounded up."""
    contraction: Number
    """Strong convexity that every sampled objective has; zero where one has none."""
    law: str = ""
    """Noise law, where the moments alone do not bound it."""


@dataclass(frozen=True, eq=False)
class Draws:
    """All that one call of a client's oracle can draw; the noise at a point is affine in it for each draw."""

    probabilities: Array
    """(n,), summing to one."""
    maps: Array
    """``noise(x) = maps @ (1, x)``, (n, d, d+1)."""

    @cached_property
    def are_quiet(self) -> bool:
        """Whether there is one draw, without noise."""
        return len(self.probabilities) == 1 and not (self.maps != 0).any()


class Oracle(ABC):
    """An unbiased stochastic gradient for each of M clients in d dimensions."""

    depends_on_model: bool
    """Whether the noise covariance changes with the point (multiplicative noise)."""

    @abstractmethod
    def covariances(self, moments: Array, gradients: Array) -> Array:
        """Noise covariances (M, d, d), averaged over points with second moments `moments` (M, d+1, d+1).

        `gradients` (M, d, d) are the second moments of the full gradients there.
        """

    @abstractmethod
    def pulled_back(self, forms: Array, gradients: Array) -> Array:
        """Forms in (1, x), (M, d+1, d+1), whose means at points are those of `forms` (M, d, d) in the noise there.

        `gradients` (M, d+1, d+1) are the forms in (1, x) of `forms` in the full gradients.
        """

    @abstractmethod
    def sample(self, points: Array, generator: np.random.Generator) -> Array:
        """Noise vectors (..., M, d) at float points (..., M, d): one independent draw for each."""

    @abstractmethod
    def outcome(self, client: int, point: Array, generator: np.random.Generator) -> Array:
        """One outcome (d,) of a client's noise at a point, in the point's arithmetic."""

    @abstractmethod
    def draws(self, client: int, linear: Array) -> Draws:
        """Return a finite law of a client's noise with the oracle's moments; `linear` (M, d) gives the shape."""

    @abstractmethod
    def step_bound(self, hessians: Array, linear: Array) -> StepBound:
        """Bounds on one step for objectives with H_i = `hessians` (M, d, d) and b_i = `linear` (M, d)."""

    @property
    def sample_products(self) -> int:
        """Products of numbers of single samples that the covariances of all clients take at one step."""
        return 0

    def prepare(self, _evaluations: int) -> Oracle:
        """This oracle, for which is found once what makes so many evaluations of its covariances cheaper."""
        return self

    def as_floats(self) -> Oracle:
        """Return the oracle in double precision."""
        return self

    def of(self, _clients: Sequence[int]) -> Oracle:
        """Return the oracle of some of the clients, in that order; a client may be named repeatedly."""
        return self

    def translated(self, _origin: Array) -> Oracle:
        """Return the oracle in coordinates whose origin is the given point."""
        return self
