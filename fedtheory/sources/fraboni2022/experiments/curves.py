"""Exact expected losses of one scenario over clock time, and the best step size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Literal

import numpy as np
from flint import fmpq

from fedtheory.arithmetic import FLOAT, RATIONAL, Array, plain_float
from fedtheory.engine.moments import Trajectory, trajectory_of
from fedtheory.engine.moments.noise_maps import NoiseMaps
from fedtheory.engine.moments.recursion import Recursion
from fedtheory.federation import Algorithm, LocalWork, fedavg
from fedtheory.federation.aggregation import time_based_weights
from fedtheory.federation.clock import Clock, Policy
from fedtheory.federation.problem import Problem
from fedtheory.federation.rule import repeat_for_clients
from fedtheory.sources.fraboni2022.experiments.hardware import spread_times

Weighting = Literal["Identical", "Time-based"]
"""``d_i = 1``, or the closed forms of fraboni2022, Section 4."""

LAST = 0.05
"""Fraction of the server's updates over which a final value is averaged."""


@dataclass(frozen=True, eq=False)
class Curve:
    """Exact expectations along one run."""

    step_size: float
    times: Array
    """Times t^0 .. t^N, or up to the last model of a diverging run in double precision."""
    loss: Array
    """E L(theta^n), (N+1,)."""
    client_losses: Array
    """E L_i(theta^n), (N+1, M)."""
    model_variance: Array
    """E|theta^n - E theta^n|^2, (N+1,)."""
    diverges: bool

    @property
    def final_loss(self) -> float:
        """Return the average of E L(theta^n) over the last 5% of the updates; infinite if the run diverges."""
        return float("inf") if self.diverges else float(take_last(self.loss).mean())

    @property
    def fluctuation(self) -> float:
        """Return the standard deviation of E L(theta^n) over the last 5% of the updates; infinite if the run
        diverges.
        """
        return float("inf") if self.diverges else float(take_last(self.loss).std())

    @property
    def final_model_variance(self) -> float:
        """Return the average of E|theta^n - E theta^n|^2 over the last 5% of the updates; infinite if the run
        diverges.
        """
        return float("inf") if self.diverges else float(take_last(self.model_variance).mean())

    def weighted_loss(self, shares: Array) -> Array:
        """Return ``sum_i shares[i] E L_i(theta^n)``, (N+1,)."""
        losses: Array = self.client_losses @ shares
        return losses

    def spread(self, shares: Array) -> Array:
        """Return the standard deviation over the clients, with weights `shares`, of their expected losses, (N+1,)."""
        apart = self.client_losses - self.weighted_loss(shares)[:, None]
        deviations: Array = np.sqrt((apart * apart) @ shares)
        return deviations

    def first_below(self, level: float) -> float:
        """Return the time of the first model with a smaller loss; infinite if there is none."""
        below = np.flatnonzero(self.loss < level)
        return float(self.times[below[0]]) if below.size else float("inf")


def take_last(values: Array) -> Array:
    """Return the last 5% of the values, at least one."""
    return values[-max(1, round(LAST * len(values))) :]


@dataclass(frozen=True, eq=False)
class Tuned:
    """One scenario at several step sizes."""

    curves: tuple[Curve, ...]
    """Curves in ascending order of step sizes; of diverging ones only the first."""

    @cached_property
    def best(self) -> Curve:
        """Return the curve with the smallest final loss."""
        return min(self.curves, key=lambda curve: curve.final_loss)

    @property
    def by_step_size(self) -> dict[float, Curve]:
        """Return the curves by their step sizes."""
        return {curve.step_size: curve for curve in self.curves}

    @property
    def largest_stable(self) -> float:
        """Return the largest step size at which the run does not diverge; zero if there is none."""
        return max((curve.step_size for curve in self.curves if not curve.diverges), default=0.0)


@dataclass(frozen=True, eq=False)
class Scenario:
    """All settings of a run except its step size."""

    problem: Problem
    clock: Clock
    weights: Array
    """d_i, (M,)."""
    local_steps: int
    rounds: int
    server_step_size: float = 1

    def algorithm(self, step_size: float) -> Algorithm:
        """Return the run's algorithm at a local step size."""
        return fedavg(
            self.problem,
            rounds=self.rounds,
            local_step_size=step_size,
            local_steps=self.local_steps,
            server_step_size=self.server_step_size,
            clock=self.clock,
            aggregation=self.weights,
        )

    def curve(self, step_size: float) -> Curve:
        """Return the expected losses at a local step size."""
        trajectory = self.trajectory(step_size)
        times = [0.0, *(plain_float(time) for time in trajectory.algorithm.times(self.problem.weights))]
        return Curve(
            step_size,
            np.array(times[: len(trajectory.moments)]),
            trajectory.server_suboptimality + self.problem.optimal_value,
            compute_client_losses(trajectory),
            _compute_model_variance(trajectory),
            trajectory.divergence is not None,
        )

    def trajectory(self, step_size: float) -> Trajectory:
        """Return the moments of the models at a local step size."""
        algorithm = self.algorithm(step_size)
        noise_maps = _compute_noise_maps(self.problem, self.local_steps, step_size)
        return trajectory_of(self.problem, algorithm, Recursion(self.problem, algorithm, noise_maps=noise_maps))

    def tuned(self, step_sizes: Sequence[float]) -> Tuned:
        """Return the curves for ascending step sizes, up to the first that diverges."""
        curves: list[Curve] = []
        for step_size in step_sizes:
            curves.append(self.curve(step_size))
            if curves[-1].diverges:
                break
        return Tuned(tuple(curves))


@lru_cache(maxsize=12)
def _compute_noise_maps(problem: Problem, local_steps: int, step_size: float) -> NoiseMaps:
    """Return the noise of local steps, which does not depend on policy, hardware and weights."""
    work = LocalWork((local_steps,) * problem.clients, repeat_for_clients(step_size, problem.weights))
    return NoiseMaps.of(problem.centred, work)


def make_scenario(
    problem: Problem, policy: Policy, slower: int, weighting: Weighting, *, local_steps: int, horizon: int
) -> Scenario:
    """Return runs up to the time `horizon` with the hardware F`slower`, whose slowest client needs one unit of time."""
    clock = Clock(policy, spread_times(problem.clients, slower))
    weights = FLOAT.array([1] * problem.clients)
    if weighting == "Time-based":
        weights = FLOAT.array(time_based_weights(clock, RATIONAL.array(problem.weights)))
    return Scenario(problem, clock, weights, local_steps, clock.updates_within(fmpq(horizon)))


def compute_client_losses(trajectory: Trajectory) -> Array:
    """Return E L_i(theta^n), (N+1, M), from the second moments of the server's model."""
    centred = trajectory.problem.centred
    size = centred.dimension + 1
    forms = FLOAT.zeros(centred.clients, size, size)
    forms[:, 0, 0] = centred.constants
    forms[:, 0, 1:] = -centred.linear
    forms[:, 1:, 1:] = centred.hessians / 2
    losses: Array = trajectory.moments.reshape(-1, size * size) @ forms.reshape(-1, size * size).T
    return losses


def _compute_model_variance(trajectory: Trajectory) -> Array:
    means = trajectory.moments[:, 1:, 0]
    variances: Array = trajectory.server_distance_sq - (means * means).sum(axis=1)
    return variances
