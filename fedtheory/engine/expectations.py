"""The contract of trajectories: the expectations of a run that every engine provides, with their shapes.

The server's models are x^n, n = 0 .. T, and k = 0 .. K counts local steps, K the largest number of them of a client.
Values are in the arithmetic of the problem.  The average of the clients' iterates after k local steps from x^n is
xbar^{n,k}; where clients start from older models, it is the virtual iterate of fraboni2022, eq. (7).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from fedtheory.arithmetic import Array, Number
from fedtheory.errors import Diverging, NotApplicable
from fedtheory.federation import Algorithm
from fedtheory.federation.clock import Update
from fedtheory.federation.problem import Problem

if TYPE_CHECKING:
    from fedtheory.engine.moments.live import LiveModels
    from fedtheory.engine.moments.recursion import Recursion


@dataclass(frozen=True)
class Divergence:
    """The reason why a run has no stationary limit."""

    round: int | None
    """First server update whose numbers leave double precision; None if all of them fit."""
    reason: str


class Expectations(ABC):
    """The expectations of a run; a value that does not exist for the run raises `NotApplicable` with the reason.

    An engine defines the abstract members.  The others follow from these, unless the engine computes them faster, or
    belong to quadratics alone.
    """

    problem: Problem
    algorithm: Algorithm

    @cached_property
    def divergence(self) -> Divergence | None:
        """The reason why the run diverges; None if it does not."""
        return None

    def require_finite(self) -> Self:
        """Return this trajectory if all its rounds fit into the arithmetic; else raise `Diverging`."""
        if self.divergence is not None and self.divergence.round is not None:
            raise Diverging(f"the run diverges at round {self.divergence.round}: {self.divergence.reason}")
        return self

    @property
    @abstractmethod
    def server_mean(self) -> Array:
        """E x^n, (T+1, d)."""

    @property
    @abstractmethod
    def server_suboptimality(self) -> Array:
        """E F(x^n) - F*, (T+1,)."""

    @property
    @abstractmethod
    def server_distance_sq(self) -> Array:
        """E|x^n - x*|^2, (T+1,)."""

    @property
    @abstractmethod
    def server_gradient_sq(self) -> Array:
        """E|grad F(x^n)|^2, (T+1,)."""

    @property
    @abstractmethod
    def total_descent(self) -> Any:
        """F(x^0) - E F(x^T)."""

    @property
    @abstractmethod
    def local_suboptimality(self) -> Array:
        """E F(xbar^{n,k}) - F*, (T, K+1)."""

    @property
    @abstractmethod
    def local_distance_sq(self) -> Array:
        """E|xbar^{n,k} - x*|^2, (T, K+1)."""

    @property
    @abstractmethod
    def local_gradient_sq(self) -> Array:
        """E|grad F(xbar^{n,k})|^2, (T, K+1)."""

    @property
    @abstractmethod
    def drift(self) -> Array:
        """E|x_i^{n,k} - xbar^{n,k}|^2, (T, K+1, M)."""

    @abstractmethod
    def mean_difference_sq(self, factors: Array) -> Array:
        """Return (1/T) sum_n E|sum_i c_i (x_i^{n,k} - xbar^{n,k})|^2 for the factors c_i of the clients, (K+1,)."""

    # The last model and time averages.

    @cached_property
    def final_mean(self) -> Array:
        """E x^T, (d,)."""
        mean: Array = self.server_mean[-1]
        return mean

    @cached_property
    def final_suboptimality(self) -> Any:
        """E F(x^T) - F*."""
        return self.server_suboptimality[-1]

    @cached_property
    def final_distance_sq(self) -> Any:
        """E|x^T - x*|^2."""
        return self.server_distance_sq[-1]

    @cached_property
    def mean_server_suboptimality(self) -> Any:
        """(1/T) sum_{n<T} E F(x^n) - F*."""
        return mean_over_rounds(self.server_suboptimality[:-1])

    @cached_property
    def mean_server_gradient_sq(self) -> Any:
        """(1/T) sum_{n<T} E|grad F(x^n)|^2."""
        return mean_over_rounds(self.server_gradient_sq[:-1])

    @cached_property
    def last_local_suboptimality(self) -> Array:
        """`local_suboptimality` of the last round, (K+1,)."""
        last: Array = self.local_suboptimality[-1]
        return last

    @cached_property
    def mean_local_suboptimality(self) -> Array:
        """(1/T) sum_n of `local_suboptimality`, (K+1,)."""
        return np.asarray(mean_over_rounds(self.local_suboptimality))

    @cached_property
    def mean_local_gradient_sq(self) -> Array:
        """(1/T) sum_n of `local_gradient_sq`, (K+1,)."""
        return np.asarray(mean_over_rounds(self.local_gradient_sq))

    @cached_property
    def mean_drift(self) -> Array:
        """(1/T) sum_n of `drift`, (K+1, M)."""
        return np.asarray(mean_over_rounds(self.drift))

    # Values that follow from second moments, which are known on quadratics alone.

    @cached_property
    def moments(self) -> Array:
        """E[(1, x^n - c)(1, x^n - c)'], (T+1, d+1, d+1), c the centre of the problem: x* where F has a minimiser."""
        raise self._explain_missing_moments()

    @cached_property
    def recursion(self) -> Recursion:
        """The linear maps of second moments over server updates."""
        raise self._explain_missing_moments()

    def rounds(self) -> Iterator[tuple[Update, LiveModels]]:
        """Yield every update with the models that are live before it."""
        raise self._explain_missing_moments()

    def evaluate_at_virtual_iterates(self, _forms: Array) -> Array:
        """Return expectations of forms (C, d+1, d+1) in (1, theta^{n,k} - x*) of fraboni2022, eq. (7), (T, K+1, C)."""
        raise self._explain_missing_moments()

    def largest_after_local_steps(self, _forms: Array) -> Number:
        """Return the largest of `evaluate_at_virtual_iterates` after k = 1 .. K local steps."""
        raise self._explain_missing_moments()

    def local_second_moments(self, _forms: Array) -> Array:
        """Return expectations of forms in (1, x_i^{n,k} - x*), one for each client, (T, K, M), k = 0 .. K-1."""
        raise self._explain_missing_moments()

    def largest_local_second_moment(self, _forms: Array) -> Number:
        """Return the largest of `local_second_moments`."""
        raise self._explain_missing_moments()

    def _explain_missing_moments(self) -> NotApplicable:
        """Return the error for values that only second moments of quadratics provide."""
        return NotApplicable(f"moments do not close on {self.problem.description}, only on quadratics")


def mean_over_rounds(values: Array) -> Any:
    """Return (1/T) sum over the first axis."""
    return values.sum(axis=0) / len(values)
