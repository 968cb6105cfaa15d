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
"""Lengths of a round that are tried, eta L tau; diverging runs are skipped."""
_BLOWN_UP = 100
"""Number of initial gaps above which a run counts as diverging."""
HORIZONS = (1, 3, 10, 30, ROUNDS)

THEOREM, WITH_DRIFT = (
    next(claim for claim in CLAIMS if claim.id == name)
    for name in ("comparator:average-error", "comparator:drift.average-error")
)


@dataclass(frozen=True)
class Point:
    """One run: its exact error and the bounds for it."""

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
class OnData:
    """Results on one data set."""

    name: str
    batch: int = BATCH
    local_steps: int = LOCAL_STEPS

    def run(self, step_size: float, rounds: int = ROUNDS) -> Run:
        """FedAvg with mini-batches."""
        problem = {"kind": "least-squares", "batch": self.batch, **DATA[self.name]}
        algorithm = {"local_step_size": step_size, "local_steps": self.local_steps, "rounds": rounds}
        return parse_run({"problem": problem, "algorithm": algorithm}, FLOAT)

    @cached_property
    def planned(self) -> Run:
        """Return a run whose constants all other runs share."""
        return self.run(0.001)

    def point(self, step_size: float, rounds: int = ROUNDS) -> Point:
        """Return one run with its bounds."""
        run = self.planned.with_step_factor(step_size / 0.001).with_rounds(rounds)
        y = run.comparator
        first = y.suboptimality + y.distance_sq / (2 * step_size * self.local_steps * rounds)
        error = plain_float(q.average_suboptimality.on(run))
        return Point(
            step_size, rounds, error, evaluate_bound(THEOREM, run), evaluate_bound(WITH_DRIFT, run), plain_float(first)
        )

    @cached_property
    def over_step_sizes(self) -> Sequence[Point]:
        """Return runs from short steps up to steps that no theorem covers."""
        scale = plain_float(self.planned.smoothness) * self.local_steps
        points = []
        for length in _LENGTHS:
            with suppress(Diverging):
                points.append(self.point(float(length) / scale))
        return [point for point in points if point.error <= _BLOWN_UP * plain_float(self.planned.initial_gap)]

    @cached_property
    def most_promised(self) -> Point:
        """Return the point with the smallest bound of the theorem; exact errors are computed only there."""
        scale = plain_float(self.planned.smoothness) * self.local_steps
        sizes = [float(length) / scale for length in _LENGTHS]
        found = {size: evaluate_bound(THEOREM, self.planned.with_step_factor(size / 0.001)) for size in sizes}
        return self.point(min(sizes, key=lambda size: np.inf if (bound := found[size]) is None else bound))

    @cached_property
    def best(self) -> Point:
        """Return the point with the smallest bound of the theorem."""
        return min(self.over_step_sizes, key=lambda point: np.inf if point.bound is None else point.bound)

    @cached_property
    def best_with_drift(self) -> Point:
        """Return the point with the smallest bound with the exact drift."""
        return min(self.over_step_sizes, key=lambda point: np.inf if point.with_drift is None else point.with_drift)

    @cached_property
    def best_run(self) -> Point:
        """Return the point with the smallest exact error."""
        return min(self.over_step_sizes, key=lambda point: point.error)

    @cached_property
    def over_rounds(self) -> Sequence[Point]:
        """Return runs over rounds at that step size."""
        return [*(self.point(self.best.step_size, rounds) for rounds in HORIZONS[:-1]), self.best]


def evaluate_bound(claim: Claim, run: Run) -> float | None:
    """Return the right side of a bound on a run; None if a condition fails."""
    slacks, right = _compile(claim)
    if min(_format_number(slack(whole_run(run))) for slack in slacks) < 0:
        return None
    return _format_number(right(whole_run(run)))


@cache
def _compile(claim: Claim) -> tuple[Sequence[Compiled], Compiled]:
    """Compile the slacks of the conditions and the right side."""
    slacks = [compile_expression(one.rhs - one.lhs, claim.notation) for one in claim.conditions]
    return slacks, compile_expression(claim.relations[0].right, claim.notation)


def _format_number(values: Array) -> float:
    return float(plain_floats(values).ravel()[0])
