"""Exact expected losses over clock time, for one setting of a run at several step sizes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Literal

import numpy as np
from flint import fmpq

from fedtheory.arithmetic import FLOAT, RATIONAL, Array, plain_float
from fedtheory.engine.moments import Trajectory, build_trajectory
from fedtheory.engine.moments.noise_maps import NoiseMaps
from fedtheory.engine.moments.recursion import Recursion
from fedtheory.federation import Algorithm, LocalWork, fedavg
from fedtheory.federation.aggregation import compute_time_based_weights
from fedtheory.federation.clock import Clock, Policy
from fedtheory.federation.problem import Problem
from fedtheory.federation.update_rule import repeat_for_clients
from fedtheory.sources.fraboni2022.experiments.hardware import spread_times

Weighting = Literal["Identical", "Time-based"]
"""Aggregation weights: d_i = 1, or the closed forms of Section 4."""
WEIGHTINGS: tuple[Weighting, Weighting] = ("Identical", "Time-based")

FINAL_FRACTION = 0.05
"""Fraction of the server's updates over which a final value is averaged."""


@dataclass(frozen=True, eq=False)
class Curve:
    """Exact expectations along one run."""

    step_size: float
    times: Array
    """Times t^0 .. t^N, (N+1,); of a diverging run up to the last model that double precision can represent."""
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
        return float("inf") if self.diverges else average_last(self.loss)

    @property
    def fluctuation(self) -> float:
        """Return the deviation of E L(theta^n) over the last 5% of the updates; infinite if the run diverges."""
        return float("inf") if self.diverges else float(take_last(self.loss).std())

    @property
    def final_model_variance(self) -> float:
        """Return the average of `model_variance` over the last 5% of the updates; infinite if the run diverges."""
        return float("inf") if self.diverges else average_last(self.model_variance)

    def compute_weighted_loss(self, shares: Array) -> Array:
        """Return ``sum_i shares[i] E L_i(theta^n)``, (N+1,)."""
        losses: Array = self.client_losses @ shares
        return losses

    def compute_spread(self, shares: Array) -> Array:
        """Return the standard deviation over the clients, with weights `shares`, of their expected losses, (N+1,)."""
        deviations = self.client_losses - self.compute_weighted_loss(shares)[:, None]
        spread: Array = np.sqrt((deviations * deviations) @ shares)
        return spread

    def find_first_time_below(self, level: float) -> float:
        """Return the time of the first model with a smaller loss; infinite if there is none."""
        below = np.flatnonzero(self.loss < level)
        return float(self.times[below[0]]) if below.size else float("inf")


def take_last(values: Array) -> Array:
    """Return the last 5% of the values, at least one."""
    return values[-max(1, round(FINAL_FRACTION * len(values))) :]


def average_last(values: Array) -> float:
    """Return the average of the last 5% of the values, at least one."""
    return float(take_last(values).mean())


@dataclass(frozen=True, eq=False)
class CurvesByStepSize:
    """Curves of one scenario at several step sizes."""

    curves: tuple[Curve, ...]
    """Curves in ascending order of step sizes, up to the first that diverges."""

    @cached_property
    def best(self) -> Curve:
        """Return the curve with the smallest final loss."""
        return min(self.curves, key=lambda curve: curve.final_loss)

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

    def make_algorithm(self, step_size: float) -> Algorithm:
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

    def compute_curve(self, step_size: float) -> Curve:
        """Return the expected losses and variances along the run at a local step size."""
        trajectory = self.compute_trajectory(step_size)
        times = [0.0, *(plain_float(time) for time in trajectory.algorithm.times(self.problem.weights))]
        return Curve(
            step_size,
            np.array(times[: len(trajectory.moments)]),
            trajectory.server_suboptimality + self.problem.optimal_value,
            _compute_client_losses(trajectory),
            _compute_model_variance(trajectory),
            trajectory.divergence is not None,
        )

    def compute_trajectory(self, step_size: float) -> Trajectory:
        """Return the first and second moments of the models at a local step size."""
        algorithm = self.make_algorithm(step_size)
        noise_maps = _compute_noise_maps(self.problem, self.local_steps, step_size)
        return build_trajectory(self.problem, algorithm, Recursion(self.problem, algorithm, noise_maps=noise_maps))

    def compute_curves(self, step_sizes: Sequence[float]) -> CurvesByStepSize:
        """Return the curves for ascending step sizes, up to the first that diverges."""
        curves: list[Curve] = []
        for step_size in step_sizes:
            curves.append(self.compute_curve(step_size))
            if curves[-1].diverges:
                break
        return CurvesByStepSize(tuple(curves))


@lru_cache(maxsize=12)
def _compute_noise_maps(problem: Problem, local_steps: int, step_size: float) -> NoiseMaps:
    """Return the noise of the local steps, shared by scenarios that differ in policy, hardware or weights."""
    work = LocalWork((local_steps,) * problem.clients, repeat_for_clients(step_size, problem.weights))
    return NoiseMaps.from_work(problem.centred, work)


def make_scenario(
    problem: Problem, policy: Policy, slower: int, weighting: Weighting, *, local_steps: int, horizon: int
) -> Scenario:
    """Return the scenario of runs up to the time `horizon` with the hardware F`slower`.

    The slowest client needs one unit of time for its local work, the fastest one 1 - `slower`/100.
    """
    clock = Clock(policy, spread_times(problem.clients, slower))
    weights = FLOAT.array([1] * problem.clients)
    if weighting == "Time-based":
        weights = FLOAT.array(compute_time_based_weights(clock, RATIONAL.array(problem.weights)))
    return Scenario(problem, clock, weights, local_steps, clock.updates_within(fmpq(horizon)))


def _compute_client_losses(trajectory: Trajectory) -> Array:
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
    """Return E|theta^n - E theta^n|^2, (N+1,); distances and means are relative to the optimum."""
    means = trajectory.moments[:, 1:, 0]
    variances: Array = trajectory.server_distance_sq - (means * means).sum(axis=1)
    return variances
