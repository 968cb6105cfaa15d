"""Limits of bounds for long runs: close to exact stationary errors, for unequal weights, and on the page."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from comparator_runs import line_run

from fedtheory import FLOAT, parse_run
from fedtheory.engine.run import Run
from fedtheory.language import quantities as q
from fedtheory.language.evaluation import compile_expression, whole_run
from fedtheory.language.registry import find
from fedtheory.sources.comparator.exhibits.data_sets import DataSetResults
from fedtheory.sources.comparator.statements import full_rounds as full
from fedtheory.sources.comparator.statements import strong_convexity as strong
from fedtheory.sources.comparator.statements.notation import (
    mu,
    sigma_y,
)
from verify.check import check

STRONG_STEP, LAST = find("comparator:strongly-convex.one-step"), find("comparator:strongly-convex.last-model")
STRONGLY_CONVEX: dict[str, dict[str, Any]] = {
    "one curvature": {"hessians": [[["1"]], [["1"]]], "local_step_size": "1/50", "local_steps": 1},
    "two curvatures": {"hessians": [[["1"]], [["6/5"]]], "linear": [["1/10"], ["-1/10"]], "local_step_size": "1/200"},
    "two dimensions": {
        "hessians": [[["1", "0"], ["0", "6/5"]]] * 2,
        "linear": [["1/10", "0"], ["-1/10", "1/10"]],
        "start": ["1", "1"],
        "local_step_size": "1/200",
    },
}


@pytest.mark.parametrize("changes", STRONGLY_CONVEX.values(), ids=STRONGLY_CONVEX)
def test_the_floor_is_near_the_stationary_error(changes: dict[str, Any]) -> None:
    """The floor is within a factor of four of the stationary error, and never below it."""
    assert 1 < floor_over_settled(line_run(FLOAT, **changes)) < 4


def test_the_floor_of_ridge_regression() -> None:
    """The floor is correct for diabetes data in batches of eight."""
    problem = {"kind": "least-squares", "data": "diabetes", "clients": 5, "split": "iid", "batch": 8, "ridge": 20}
    algorithm = {"local_step_size": 0.0003, "local_steps": 3, "rounds": 100}
    run = parse_run({"problem": problem, "algorithm": algorithm}, FLOAT)
    assert check(LAST, run).holds
    assert 1 < floor_over_settled(run) < 4


def floor_over_settled(run: Run) -> float:
    """Return the limit of the bound for many rounds, over the limit of the exact error."""
    floor = compile_expression(3 * strong.floor / (2 * mu), LAST.notation)(whole_run(run))
    return float(np.ravel(floor)[0] / q.limiting_distance_sq.on(run))


@pytest.mark.parametrize("weights", [["1/3", "2/3"], ["9/10", "1/10"], ["1/2", "1/2"]])
def test_unequal_shares(weights: list[str]) -> None:
    """For unequal weights only the general theorem applies; for equal ones it is slightly weaker."""
    run = line_run(weights=weights)
    found = check(find("comparator:shares.average-error"), run)
    assert found.holds
    equal = check(AVERAGE, run)
    assert equal.applicable == (weights[0] == weights[1])
    if equal.worst is not None and found.worst is not None:
        assert equal.worst.rhs <= found.worst.rhs


LESS_NOISE = find("comparator:drift.less-noise.one-step")


@pytest.mark.parametrize(("ridge", "step_size"), [(0.1, 1e-3), (1, 1e-3), (1, 1e-4), (20, 1e-4)])
def test_the_noise_in_the_mean_error_is_near_that_of_ridge_regression(ridge: float, step_size: float) -> None:
    """For one local step the floor is within a factor of four of the stationary error, for all curvatures."""
    problem = {"kind": "least-squares", "data": "diabetes", "clients": 5, "split": "iid", "batch": 8, "ridge": ridge}
    algorithm = {"local_step_size": step_size, "local_steps": 1, "rounds": 100}
    run = parse_run({"problem": problem, "algorithm": algorithm}, FLOAT)
    assert check(find("comparator:drift.less-noise"), run).holds
    at_optimum = {**LESS_NOISE.notation, sigma_y: q.noise_at_optimum}
    floor = float(np.ravel(compile_expression(full.REDUCED_NOISE, at_optimum)(whole_run(run)))[0])
    assert 1 < floor / q.limiting_suboptimality.on(run) < 4


def test_points_of_the_page() -> None:
    """Points on the page agree with checks of the claims; failing conditions leave a point out."""
    found = DataSetResults("diabetes")
    point = found.compute_point(0.005, 10)
    run = found.make_run(0.005).with_rounds(10)
    for claim, promised in ((AVERAGE, point.bound), (find("comparator:drift.average-error"), point.with_drift)):
        worst = check(claim, run).worst
        assert worst is not None
        assert promised == pytest.approx(worst.rhs)
        assert point.error == pytest.approx(worst.lhs)
    assert point.first_terms < point.bound
    assert found.compute_point(0.05, 10).bound is None


def test_other_batches_and_steps_of_the_page() -> None:
    """At the best step size of the theorem the bound is below the initial gap, and at most five times the error."""
    found = DataSetResults("diabetes", 32, 1)
    point = found.smallest_bound
    assert point.bound is not None
    assert point.error <= point.bound <= min(5 * point.error, found.base_run.initial_gap)
    bounds = (found.compute_point(factor * point.step_size).bound for factor in (0.7, 0.5))
    assert point.bound <= min(bound for bound in bounds if bound)


AVERAGE = find("comparator:average-error")
