"""Finds the step size with the smallest exact error of a run."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from fedtheory.arithmetic import NEAR_TIE, plain_float
from fedtheory.engine.batches import compute_trajectories
from fedtheory.engine.run import Run
from fedtheory.errors import Diverging, NotApplicable
from fedtheory.federation.problem import Problem
from fedtheory.language.quantities import RunQuantity

BASE = 4.0
"""Step sizes of the search are powers of this number with real exponents, divided by L."""
GRID = tuple(float(exponent) for exponent in range(-4, 2))
"""Exponents of the coarse grid."""
_FURTHEST = 12
"""Limit on the extension of the grid if its best point is an end."""
_TOLERANCE, _EVALUATIONS, _FEW_EVALUATIONS = 0.02, 7, 2
"""Tolerance of the refined search, in exponents; and the number of errors that it evaluates; of large runs fewer."""
_LARGE = 2**20
"""Numbers of the maps of all clients from which on a run is large: it is followed in blocks of clients."""


@dataclass(frozen=True)
class ExactOptimum:
    """The best step size found, and the exact error there."""

    step_size: float
    error: float


class ExactErrors:
    """Exact errors of a run at other local step sizes; runs and errors are cached."""

    def __init__(self, run: Run) -> None:
        self.run = _prepare(run)
        self.planned = plain_float(max(run.algorithm.work.step_sizes))
        self._runs: dict[str, Run] = {_round(self.planned): self.run}
        self._best: dict[str, ExactOptimum | None] = {}

    @property
    def grid(self) -> tuple[float, ...]:
        """The step sizes of the coarse search, from 1/(256 L) to 4/L."""
        return tuple(self.step(exponent) for exponent in GRID)

    @cached_property
    def is_large(self) -> bool:
        """Return whether there are so many clients that each step size takes long: fewer of them are then tried."""
        problem = self.run.problem
        return problem.is_quadratic and problem.clients * (problem.dimension + 1) ** 2 > _LARGE

    @cached_property
    def _scale(self) -> float:
        """Return 1/L for the smoothness L of the run; the planned step size if all objectives are affine."""
        smoothness = plain_float(self.run.smoothness)
        return 1 / smoothness if smoothness > 0 else self.planned

    def step(self, exponent: float) -> float:
        """Return the step size of an exponent of the search: that power of four, divided by L."""
        return float(BASE**exponent) * self._scale

    def run_with(self, step_size: float) -> Run:
        """Return the run with another local step size; clients with different ones keep their ratios.

        Step sizes that differ by rounding share a run.
        """
        key = _round(step_size)
        if key not in self._runs:
            self._runs[key] = _prepare(self.run.with_step_factor(step_size / self.planned))
        return self._runs[key]

    def error(self, quantity: RunQuantity, step_size: float) -> float:
        """Return the exact error at a step size.

        The error is infinite if the run diverges, NaN if it is not defined.
        """
        try:
            with np.errstate(all="ignore"):
                error = plain_float(quantity.on(self.run_with(step_size)))
        except Diverging:
            return math.inf
        except NotApplicable:
            return math.nan
        return error if math.isfinite(error) else math.inf

    def best(self, quantity: RunQuantity) -> ExactOptimum | None:
        """Return the step size with the smallest exact error; None if the error decreases down to the smallest one.

        The search is logarithmic, see `find_lowest`; all errors of a run share its coarse grid.
        """
        if quantity.name not in self._best:
            self._best[quantity.name] = self._search(quantity)
        return self._best[quantity.name]

    def _search(self, quantity: RunQuantity) -> ExactOptimum | None:
        """Search for the step size with the least exact error; None if the error is not known."""
        if math.isnan(self.error(quantity, self.planned)):
            return None
        compute_trajectories(run for run in map(self.run_with, self.grid) if "attempted_trajectory" not in vars(run))
        evaluations = _FEW_EVALUATIONS if self.is_large else _EVALUATIONS
        found = find_lowest(lambda exponent: self.error(quantity, self.step(exponent)), GRID, evaluations)
        return None if found is None else ExactOptimum(self.step(found[0]), found[1])


def _prepare(run: Run) -> Run:
    """Return the run with formulas for many rounds where these are known."""
    return run.with_many_rounds() if isinstance(run.problem, Problem) else run


def _round(step_size: float) -> str:
    """Format a step size with 12 digits."""
    return f"{step_size:.12g}"


def find_lowest(
    score: Callable[[float], float], coarse: Sequence[float], evaluations: int = _EVALUATIONS
) -> tuple[float, float] | None:
    """Return the exponent with the lowest score, and that score; None if scores only decrease towards small exponents.

    A coarse grid, which is extended where its best point is an end, then so many `evaluations` of Brent's method about
    that point.  If the scores have several minima, the coarse grid decides which is found.  They are infinite where a
    run diverges.
    """
    from scipy.optimize import minimize_scalar

    known = {float(exponent): score(float(exponent)) for exponent in coarse}
    for direction in (-1.0, 1.0):
        while (end := min(known, key=lambda e: -direction * e)) == (best := _find_best_exponent(known)) and abs(
            end
        ) < _FURTHEST:
            known[end + direction] = score(end + direction)
    if best <= min(known) or not known[best] < known[min(known)] - NEAR_TIE * abs(known[best]):
        return None
    # Brent's parabolas need finite numbers.
    finite = [value for value in known.values() if math.isfinite(value)]
    ceiling = max(finite) + (max(finite) - min(finite))

    def evaluate(exponent: float) -> float:
        known[exponent] = score(exponent)
        return min(known[exponent], ceiling)

    options: Any = {"xatol": _TOLERANCE, "maxiter": evaluations}
    minimize_scalar(lambda x: evaluate(float(x)), bounds=(best - 1, best + 1), method="bounded", options=options)
    best = _find_best_exponent(known)
    return (best, known[best]) if math.isfinite(known[best]) else None


def _find_best_exponent(known: Mapping[float, float]) -> float:
    """Return the exponent with the lowest score.

    Among equal scores the largest exponent is returned, so that constant scores end the search.
    """
    smallest = min(known.values())
    return max(exponent for exponent, value in known.items() if value == smallest)
