"""Errors of a run over its rounds, and the first round from which they stay below a target."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from fedtheory.arithmetic import Array, plain_floats
from fedtheory.engine.linear_models import LinearModelRun
from fedtheory.engine.linear_models.trajectory import CONFIDENCE, ReplicaTrajectory
from fedtheory.engine.run import Run
from fedtheory.engine.sampling import estimate_of
from fedtheory.errors import Diverging
from fedtheory.language import quantities as q
from fedtheory.language.quantities import RunQuantity
from fedtheory.planner.deterministic_runs import compute_path_errors, is_deterministic


@dataclass(frozen=True, eq=False)
class ErrorCurve:
    """The error after 1 .. T rounds."""

    errors: Array
    """Exact errors or averages over replicas, (T,); infinite if the run diverges."""
    half_widths: Array
    """Half the lengths of the 95 % intervals of averages over replicas, (T,); zero for exact errors."""

    def find_first_below(self, target: float) -> int | None:
        """Return the first round with an error of at most the target after which none is above it; None without one.

        An average over replicas is at most the target, or above it, only if its whole interval is: the smallest of
        several averages is often too small by chance, and random errors about the target never stay below it.
        """
        above = np.flatnonzero(~(self.errors - self.half_widths <= target))
        first = int(above[-1]) + 1 if len(above) else 0
        below = np.flatnonzero((self.errors + self.half_widths)[first:] <= target)
        return first + int(below[0]) + 1 if len(below) else None


def measure_curve(run: Run, error: RunQuantity) -> ErrorCurve:
    """Return the error after 1 .. T rounds; raise `NotApplicable` if the run has no such error."""
    errors = compute_errors(run, error)
    trajectory = run.trajectory if isinstance(run, LinearModelRun) and np.isfinite(errors[-1]) else None
    if not isinstance(trajectory, ReplicaTrajectory):
        return ErrorCurve(errors, np.zeros_like(errors))
    if error is q.final_suboptimality:
        found = trajectory.interval("suboptimality")
        return ErrorCurve(errors, (found.high - found.low)[1:] / 2)
    groups = [
        _average_over_rounds(one.local_suboptimality[:, 1:].mean(axis=1)) for one in trajectory.average_by_group()
    ]
    if len(groups) == 1:
        return ErrorCurve(errors, np.zeros_like(errors))
    estimate = estimate_of(np.stack(groups, axis=1), CONFIDENCE)
    return ErrorCurve(errors, (estimate.high - estimate.low) / 2)


def compute_errors(run: Run, error: RunQuantity) -> Array:
    """Return the final or the average error after 1 .. T rounds, (T,); infinite if the run diverges.

    Raises `NotApplicable` if the run has no such error.
    """
    with np.errstate(all="ignore"):
        try:
            if error is q.final_suboptimality and is_deterministic(run):
                return compute_path_errors(run, run.algorithm.rounds)
            if error is q.final_suboptimality:
                return plain_floats(run.trajectory.server_suboptimality[1:])
            per_round = plain_floats(np.asarray(q.round_suboptimality.on(run))).reshape(-1)
        except Diverging:
            return np.full(run.algorithm.rounds, math.inf)
    return _average_over_rounds(per_round)


def _average_over_rounds(per_round: Array) -> Array:
    """Return the average of the first 1 .. T values, (T,)."""
    averages: Array = np.cumsum(per_round) / np.arange(1, len(per_round) + 1)
    return averages
