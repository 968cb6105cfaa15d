"""Exact error of mini-batch FedAvg on three data sets, and the bounds for it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np

from fedtheory.arithmetic import FLOAT, Array, plain_float, plain_floats
from fedtheory.engine.run import Run
from fedtheory.errors import Diverging
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.language.evaluation import Compiled, compile_expression, whole_run
from fedtheory.runfile import parse_run
from fedtheory.sources.comparator.statements.full_rounds import CLAIMS

BATCH, LOCAL_STEPS, ROUNDS = 8, 5, 100
DATA: dict[str, dict[str, Any]] = {
    "digits 3 and 8": {"data": "digits:3-8", "clients": 10, "split": "dirichlet", "concentration": 0.1},
    "breast cancer": {"data": "breast_cancer", "clients": 8, "split": "dirichlet", "concentration": 0.3},
    "diabetes": {"data": "diabetes", "clients": 5, "split": "iid"},
}
"""Data sets with their splits."""
_LENGTHS = np.geomspace(0.05, 12.8, 17)
"""Lengths of a round, eta L tau, at which errors are computed; diverging runs are left out."""
_DIVERGED = 100
"""Ratio of the error to the initial gap above which a run counts as diverging."""
_BASE_STEP = 0.001
HORIZONS = (1, 3, 10, 30, ROUNDS)

THEOREM, WITH_DRIFT = (
    next(claim for claim in CLAIMS if claim.id == name)
    for name in ("comparator:average-error", "comparator:drift.average-error")
)


@dataclass(frozen=True)
class Point:
    """The exact error of one run, and the bounds for it."""

    step_size: float
    rounds: int
    error: float
    """(1/(tau T)) sum of E F(xbar^{t,k}) - F*."""
    bound: float | None
    """Bound of the theorem; None if the step size is too large."""
    with_drift: float | None
    """Bound with the exact drift of the run."""
    first_terms: float
    """F(y) - F* + |x^0 - y|^2/(2 eta tau T)."""


@dataclass(frozen=True, eq=False)
class DataSetResults:
    """Errors and bounds of FedAvg on one data set."""

    name: str
    batch: int = BATCH
    local_steps: int = LOCAL_STEPS

    def make_run(self, step_size: float) -> Run:
        """Return FedAvg with mini-batches at a step size."""
        problem = {"kind": "least-squares", "batch": self.batch, **DATA[self.name]}
        algorithm = {"local_step_size": step_size, "local_steps": self.local_steps, "rounds": ROUNDS}
        return parse_run({"problem": problem, "algorithm": algorithm}, FLOAT)

    @cached_property
    def base_run(self) -> Run:
        """Return the run of which all others are copies, with other step sizes and rounds."""
        return self.make_run(_BASE_STEP)

    def compute_point(self, step_size: float, rounds: int = ROUNDS) -> Point:
        """Return the error and the bounds of the run with a step size and a number of rounds."""
        run = self.base_run.with_step_factor(step_size / _BASE_STEP).with_rounds(rounds)
        y = run.comparator
        first = y.suboptimality + y.distance_sq / (2 * step_size * self.local_steps * rounds)
        error = plain_float(q.average_suboptimality.on(run))
        return Point(
            step_size, rounds, error, evaluate_bound(THEOREM, run), evaluate_bound(WITH_DRIFT, run), plain_float(first)
        )

    @property
    def _step_sizes(self) -> list[float]:
        scale = plain_float(self.base_run.smoothness) * self.local_steps
        return [float(length) / scale for length in _LENGTHS]

    @cached_property
    def over_step_sizes(self) -> Sequence[Point]:
        """Return points from small step sizes up to step sizes that no theorem covers."""
        points = []
        for step_size in self._step_sizes:
            with suppress(Diverging):
                points.append(self.compute_point(step_size))
        return [point for point in points if point.error <= _DIVERGED * plain_float(self.base_run.initial_gap)]

    @cached_property
    def smallest_bound(self) -> Point:
        """Return the point with the smallest bound of the theorem; the exact error is computed only there."""
        runs = {size: self.base_run.with_step_factor(size / _BASE_STEP) for size in self._step_sizes}
        bounds = {size: evaluate_bound(THEOREM, run) for size, run in runs.items()}
        return self.compute_point(min(bounds, key=lambda size: _or_infinite(bounds[size])))

    @cached_property
    def best(self) -> Point:
        """Return the point of `over_step_sizes` with the smallest bound of the theorem."""
        return min(self.over_step_sizes, key=lambda point: _or_infinite(point.bound))

    @cached_property
    def best_with_drift(self) -> Point:
        """Return the point with the smallest bound with the exact drift."""
        return min(self.over_step_sizes, key=lambda point: _or_infinite(point.with_drift))

    @cached_property
    def best_run(self) -> Point:
        """Return the point with the smallest exact error."""
        return min(self.over_step_sizes, key=lambda point: point.error)

    @cached_property
    def over_rounds(self) -> Sequence[Point]:
        """Return points over rounds at the step size with the smallest bound."""
        return [*(self.compute_point(self.best.step_size, rounds) for rounds in HORIZONS[:-1]), self.best]


def _or_infinite(bound: float | None) -> float:
    return np.inf if bound is None else bound


def evaluate_bound(claim: Claim, run: Run) -> float | None:
    """Return the right side of a bound on a run; None if a condition fails."""
    slacks, right = _compile(claim)
    if min(_read_float(slack(whole_run(run))) for slack in slacks) < 0:
        return None
    return _read_float(right(whole_run(run)))


@cache
def _compile(claim: Claim) -> tuple[Sequence[Compiled], Compiled]:
    """Compile the slacks of the conditions and the right side."""
    slacks = [compile_expression(one.rhs - one.lhs, claim.notation) for one in claim.conditions]
    return slacks, compile_expression(claim.relations[0].right, claim.notation)


def _read_float(values: Array) -> float:
    return float(plain_floats(values).ravel()[0])
