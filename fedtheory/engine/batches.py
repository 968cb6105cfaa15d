"""Computes the expectations of many runs, those of equal shape together."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress

from fedtheory.arithmetic import FLOAT
from fedtheory.engine.moments import is_deterministic, rounds_repeat
from fedtheory.engine.moments.batch import Batch, Shape, get_shared_shape
from fedtheory.engine.run import Run
from fedtheory.errors import FedtheoryError

_LARGEST = 2**22
"""Limit on a batch's largest array, several of which fit into a small machine's memory."""
_MOST_MOMENTS = 2**24
"""Limit on the second moments of all rounds, for runs of definitions."""


def compute_trajectories(runs: Iterable[Run]) -> None:
    """Compute the trajectories of runs, those of equal shape together, and store each in its run.

    Runs that belong to no batch are left unchanged: they compute their trajectories on demand.
    """
    runs = list(runs)
    if defined := [run for run in runs if run.algorithm.defined is not None and _is_in_floats(run)]:
        _find_defined(defined)
    by_shape: dict[Shape, list[Run]] = {}
    for run in filter(_belongs_to_a_batch, runs):
        by_shape.setdefault(get_shared_shape((run.problem, run.algorithm)), []).append(run)
    for (clients, dimension, steps, _), alike in by_shape.items():
        most = _LARGEST // ((clients + max(steps) + 1) * (dimension + 1) ** 2)
        # A run of so many clients is computed alone, in blocks.
        for first in range(0, len(alike), most) if most else ():
            some = alike[first : first + most]
            batch = Batch([(run.problem, run.algorithm) for run in some])
            for run, found in zip(some, batch.trajectories(), strict=True):
                vars(run)["attempted_trajectory"] = found


def _is_in_floats(run: Run) -> bool:
    return run.problem.is_quadratic and run.problem.arithmetic is FLOAT


def _find_defined(runs: list[Run]) -> None:
    """Compute the trajectories of defined algorithms; if one fails, all are computed on demand."""
    from fedtheory.engine.joint import JointTrajectory

    if sum((run.algorithm.rounds + 1) * (run.problem.dimension + 1) ** 2 for run in runs) > _MOST_MOMENTS:
        return
    with suppress(FedtheoryError):
        found = JointTrajectory.compute_together([(run.problem, run.algorithm) for run in runs])
        for run, trajectory in zip(runs, found, strict=True):
            vars(run)["attempted_trajectory"] = trajectory


def _belongs_to_a_batch(run: Run) -> bool:
    """Return whether a run is in floats and its rounds are alike; an invalid run raises its error on demand."""
    if not _is_in_floats(run):
        return False
    try:
        if is_deterministic(run.problem, run.algorithm):
            return False
        return rounds_repeat(run.problem, run.algorithm) and run.problem.centred is not None
    except FedtheoryError:
        return False
