"""Runs with random clocks: schedules are sampled, and given a schedule all expectations are exact.

Averages over schedules have a confidence interval; nothing else is sampled.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from fedtheory.arithmetic import FLOAT, Array
from fedtheory.engine.moments import Trajectory
from fedtheory.engine.run import Run
from fedtheory.engine.sampling import ReplicaMeans, estimate_of
from fedtheory.errors import Diverging, InputError


@dataclass(frozen=True, eq=False)
class DrawnRuns:
    """Expectations over noise and schedules, n = 0 .. T."""

    times: ReplicaMeans
    """Average clock time of the server updates n = 1 .. T."""
    mean: Array
    """E x^n, (T+1, d); the average over schedules."""
    suboptimality: ReplicaMeans
    distance_sq: ReplicaMeans
    gradient_sq: ReplicaMeans


def average_over_schedules(run: Run, schedules: int, seed: int, confidence: float = 0.99) -> DrawnRuns:
    """Average the exact expectations of a float run over sampled schedules.

    Raises `InputError` for fewer than two schedules or a run in rationals, and
    `Diverging` if a schedule's numbers leave double precision.
    """
    if run.arithmetic is not FLOAT:
        raise InputError("algorithm.clock.law", "expected --arithmetic float: random schedules are averaged in floats")
    if schedules < 2:
        raise InputError("schedules", f"expected at least 2, got {schedules}")
    generator = np.random.default_rng(seed)
    trajectories = [_follow_schedule(run, generator) for _ in range(schedules)]

    def estimated(name: str) -> ReplicaMeans:
        return estimate_of(np.stack([getattr(trajectory, name) for trajectory in trajectories], axis=1), confidence)

    times = np.array([trajectory.algorithm.schedule.times[1:] for trajectory in trajectories])
    return DrawnRuns(
        estimate_of(times.T, confidence),
        np.mean([trajectory.server_mean for trajectory in trajectories], axis=0),
        estimated("server_suboptimality"),
        estimated("server_distance_sq"),
        estimated("server_gradient_sq"),
    )


def _follow_schedule(run: Run, generator: np.random.Generator) -> Trajectory:
    """Return the trajectory of a run under a sampled schedule."""
    algorithm = run.algorithm
    drawn = replace(algorithm, drawn=algorithm.clock.draw(algorithm.rounds, generator))
    try:
        return Trajectory(run.problem, drawn).require_finite()
    except Diverging as reason:
        raise Diverging(f"under one of the sampled schedules, {reason}") from None
