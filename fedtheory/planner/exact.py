"""The step size that really is best: the smallest exact error of the run's own problem."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from fedtheory.arithmetic import NEAR_TIE, plain_float
from fedtheory.engine.run import Run
from fedtheory.errors import Diverging, NotApplicable
from fedtheory.language.quantities import Quantity

_BASE = 4.0
"""Step sizes of the search are whole or broken powers of this, over L."""
_LOWEST, _HIGHEST, _FURTHER = -5, 2, -12
"""Exponents of the coarse grid, and how far down it goes where its lowest end is the best."""
_HALVINGS = 5


@dataclass(frozen=True)
class ExactOptimum:
    """The best step size found, and the exact error there."""

    step_size: float
    error: float


class ExactErrors:
    """Exact errors of a run at other local step sizes; runs and errors are computed once."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.planned = plain_float(max(run.algorithm.work.step_sizes))
        self._runs: dict[float, Run] = {self.planned: run}
        self._best: dict[str, ExactOptimum | None] = {}

    @property
    def grid(self) -> tuple[float, ...]:
        """The step sizes of the coarse search, from 1/(1024 L) to 16/L."""
        return tuple(self._step(exponent) for exponent in range(_LOWEST, _HIGHEST + 1))

    @cached_property
    def _scale(self) -> float:
        return 1 / plain_float(self.run.smoothness)

    def _step(self, exponent: float) -> float:
        return float(_BASE**exponent) * self._scale

    def at(self, step_size: float) -> Run:
        """The run with another local step size; clients with different ones keep their proportions."""
        if step_size not in self._runs:
            self._runs[step_size] = self.run.with_step_factor(step_size / self.planned)
        return self._runs[step_size]

    def error(self, quantity: Quantity, step_size: float) -> float:
        """The exact error at a step size; infinite where the run diverges, NaN where the error is not defined."""
        try:
            with np.errstate(all="ignore"):
                error = plain_float(quantity.on(self.at(step_size)))
        except Diverging:
            return math.inf
        except NotApplicable:
            return math.nan
        return error if math.isfinite(error) else math.inf

    def best(self, quantity: Quantity) -> ExactOptimum | None:
        """The step size with the smallest exact error; None where none is better than the smallest one tried.

        A grid in logs whose spacing is halved about its best point, then the vertex
        of a parabola through the last three; all errors of a run share the grid.
        The error need not have one valley only: the coarse grid decides which.
        """
        if quantity.name not in self._best:
            self._best[quantity.name] = self._search(quantity)
        return self._best[quantity.name]

    def _search(self, quantity: Quantity) -> ExactOptimum | None:
        if math.isnan(self.error(quantity, self.planned)):
            return None
        known = {float(e): self.error(quantity, self._step(e)) for e in range(_LOWEST, _HIGHEST + 1)}
        lowest = min(known)
        while known[lowest] <= min(known.values()) and lowest > _FURTHER:
            lowest -= 1
            known[lowest] = self.error(quantity, self._step(lowest))
        best = min(known, key=lambda exponent: known[exponent])
        if not known[best] < known[lowest] * (1 - NEAR_TIE) or not math.isfinite(known[best]):
            return None
        return self._refined(quantity, known, best)

    def _refined(self, quantity: Quantity, known: dict[float, float], best: float) -> ExactOptimum:
        spacing = 1.0
        for _ in range(_HALVINGS):
            spacing /= 2
            for exponent in (best - spacing, best + spacing):
                known[exponent] = self.error(quantity, self._step(exponent))
            best = min(known, key=lambda exponent: known[exponent])
        vertex = best + spacing * _vertex(*(known.get(best + side * spacing, math.inf) for side in (-1, 0, 1)))
        known[vertex] = self.error(quantity, self._step(vertex))
        best = min(known, key=lambda exponent: known[exponent])
        return ExactOptimum(self._step(best), known[best])


def _vertex(left: float, middle: float, right: float) -> float:
    """Where a parabola through three equally spaced points is lowest, in units of the spacing from the middle."""
    bend = left - 2 * middle + right
    return (left - right) / (2 * bend) if 0 < bend < math.inf else 0.0
