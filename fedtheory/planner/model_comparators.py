"""The comparator of a run on linear models for any step size, number of local steps and rounds, by Newton's method."""

from __future__ import annotations

import math
from bisect import bisect
from functools import lru_cache

from fedtheory.arithmetic import Array
from fedtheory.engine.linear_models import LinearModelRun
from fedtheory.engine.linear_models.comparator import comparator_at
from fedtheory.engine.run import Run
from fedtheory.federation.linear_models import LinearModelProblem
from fedtheory.planner.comparators import (
    CURVED_DISSIMILARITY,
    CURVED_NOISE,
    DISSIMILARITY,
    DISTANCE,
    GAP,
    NAMES,
    NOISE,
    Comparators,
)


class ModelComparators(Comparators):
    """Minimisers of ``F(y) + |x^0 - y|^2 / (2s)`` for s = eta tau T; each search starts from the nearest known one."""

    def __init__(self, problem: LinearModelProblem) -> None:
        # The attributes of quadratic comparators are not set.
        self.__dict__.update(_problem=problem, _points={}, _times=[], found={})

    def _at(self, time: float) -> dict[str, float]:
        """Return the quantities of the comparator at this time, started from the nearest known point."""
        problem: LinearModelProblem = self.__dict__["_problem"]
        points: dict[float, Array] = self.__dict__["_points"]
        times: list[float] = self.__dict__["_times"]
        place = bisect(times, time)
        near = min(times[max(place - 1, 0) : place + 1], key=lambda other: abs(math.log(other / time)), default=None)
        found = comparator_at(problem, time, None if near is None else points[near])
        points[time] = found.point
        times.insert(place, time)
        curvatures = problem.known_everywhere.client_smoothness
        squares = {
            DISTANCE: found.distance_sq,
            NOISE: found.noise_sq,
            DISSIMILARITY: found.dissimilarity_sq,
            CURVED_NOISE: found.noise_sq_with(curvatures),
            CURVED_DISSIMILARITY: found.dissimilarity_sq_with(curvatures),
        }
        return {GAP: found.suboptimality, **{name: math.sqrt(square) for name, square in squares.items()}}


def get_comparators(run: Run, names: frozenset[str] = NAMES) -> Comparators:
    """Return the comparators of a run; those of linear models are cached for all claims about a problem."""
    return _get_comparators(run.problem) if isinstance(run, LinearModelRun) else Comparators.of(run, names)


@lru_cache(maxsize=4)
def _get_comparators(problem: LinearModelProblem) -> ModelComparators:
    return ModelComparators(problem)
