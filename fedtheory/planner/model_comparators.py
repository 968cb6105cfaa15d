"""The comparator of a run on linear models for any step size, number of local steps and rounds, by Newton's method."""

from __future__ import annotations

import math
from bisect import bisect
from functools import lru_cache

from fedtheory.arithmetic import Array
from fedtheory.engine.linear_models import LinearModelRun
from fedtheory.engine.linear_models.comparator import find_comparator_model
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
    QuadraticComparators,
)


class ModelComparators(Comparators):
    """Comparators of linear models by Newton's method, which starts from the point of the nearest known length."""

    def __init__(self, problem: LinearModelProblem) -> None:
        super().__init__()
        self._problem = problem
        self._points: dict[float, Array] = {}
        self._lengths: list[float] = []

    def _measure(self, length: float) -> dict[str, float]:
        place = bisect(self._lengths, length)
        neighbours = self._lengths[max(place - 1, 0) : place + 1]
        near = min(neighbours, key=lambda other: abs(math.log(other / length)), default=None)
        found = find_comparator_model(self._problem, length, None if near is None else self._points[near])
        self._points[length] = found.point
        self._lengths.insert(place, length)
        curvatures = self._problem.known_everywhere.client_smoothness
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
    return _get_model_comparators(run.problem) if isinstance(run, LinearModelRun) else QuadraticComparators(run, names)


@lru_cache(maxsize=4)
def _get_model_comparators(problem: LinearModelProblem) -> ModelComparators:
    return ModelComparators(problem)
