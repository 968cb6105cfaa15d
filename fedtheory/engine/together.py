"""Runs together: the expectations of many runs, those of one shape in one computation."""

from __future__ import annotations

from collections.abc import Iterable

from fedtheory.arithmetic import FLOAT
from fedtheory.engine.moments import rounds_repeat
from fedtheory.engine.moments.batch import Batch, Shape, shape_of
from fedtheory.engine.run import Run
from fedtheory.errors import FedtheoryError
from fedtheory.federation.problem import Problem

_LARGEST = 2**22
"""Numbers of a batch's largest array, a few of which fit into a small machine's memory."""


def find_together(runs: Iterable[Run]) -> None:
    """Find the trajectories of runs, many at once where rounds are alike; each run then knows its own.

    Runs that belong to no batch are left as they are: they find theirs when they are asked.
    """
    by_shape: dict[Shape, list[Run]] = {}
    for run in filter(_belongs_to_a_batch, runs):
        by_shape.setdefault(shape_of((run.problem, run.algorithm)), []).append(run)
    for (clients, dimension, steps, _), alike in by_shape.items():
        most = max(1, _LARGEST // ((clients + max(steps) + 1) * (dimension + 1) ** 2))
        for first in range(0, len(alike), most):
            _find(alike[first : first + most])


def _belongs_to_a_batch(run: Run) -> bool:
    """Whether its rounds are alike, in floats; what refuses to be a run says so when it is asked."""
    if not isinstance(run.problem, Problem) or run.problem.arithmetic is not FLOAT:
        return False
    try:
        return rounds_repeat(run.problem, run.algorithm) and run.problem.centred is not None
    except FedtheoryError:
        return False


def _find(runs: list[Run]) -> None:
    batch = Batch([(run.problem, run.algorithm) for run in runs])
    for run, found in zip(runs, batch.trajectories(), strict=True):
        vars(run)["attempted_trajectory"] = found
