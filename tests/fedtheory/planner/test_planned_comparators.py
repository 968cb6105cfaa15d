"""Plans with bounds that have a comparator, which depends on the step size; they are meaningful on real data."""

from __future__ import annotations

import math

import numpy as np
import pytest
from planned_runs import a_run

from fedtheory import FLOAT, parse_run, planner
from fedtheory.engine.run import Run
from fedtheory.errors import Diverging
from fedtheory.language import quantities as q
from fedtheory.language.registry import find
from fedtheory.planner.bound import bound_of_run
from fedtheory.planner.comparators import QuadraticComparators
from verify.check import check

CLAIM, WITH_DRIFT = find("comparator:average-error"), find("comparator:drift.average-error")


def diabetes(step_size: float = 0.001, *, batch: int = 8, local_steps: int = 5, rounds: int = 50) -> Run:
    """Return five clients with a fifth of the rows each."""
    problem = {"kind": "least-squares", "data": "diabetes", "clients": 5, "split": "iid", "batch": batch}
    algorithm = {"local_step_size": step_size, "local_steps": local_steps, "rounds": rounds}
    return parse_run({"problem": problem, "algorithm": algorithm}, FLOAT)


def error(run: Run) -> float:
    """Return the average error over all local steps; infinite if the run diverges."""
    try:
        return float(q.average_suboptimality.on(run))
    except Diverging:
        return math.inf


@pytest.mark.parametrize("step_size", [1e-4, 0.003, 0.05])
@pytest.mark.parametrize("make", [a_run, diabetes], ids=["quadratics", "data"])
def test_numbers_are_those_of_the_run(make, step_size: float) -> None:
    """At every step size the numbers are those of the run."""
    run = make(step_size)
    time = step_size * run.algorithm.work.steps[0] * run.algorithm.rounds
    found = QuadraticComparators(make(0.01)).numbers(time)
    assert found[q.comparator_suboptimality.name] == pytest.approx(q.comparator_suboptimality.on(run))
    for root in (q.comparator_distance, q.comparator_noise, q.comparator_dissimilarity):
        assert found[root.name] ** 2 == pytest.approx(root.on(run))


def test_a_bound_at_another_step_size_is_that_of_the_run() -> None:
    """The bound at another step size, or other rounds, is that of the run."""
    bound = bound_of_run(CLAIM, diabetes(0.001))
    there = bound.value({"local_step_size": 0.004})
    found = check(CLAIM, diabetes(0.004)).worst
    assert found is not None
    assert there == pytest.approx(found.rhs)
    assert bound.with_numbers({"rounds": 100, "local_step_size": 0.002}).values["comparator_distance"] > 0
    assert bound.depends_on(q.comparator_suboptimality.symbol, "rounds")


def test_the_bound_is_informative_on_real_data() -> None:
    """The bound at its own best step size is below the initial gap, and at most five times the exact error there."""
    run = diabetes()
    plan = planner.plan(run, claims=[CLAIM, find("renard2022:thm-2.1.sharp")])
    found = plan.recommended
    assert found is not None
    assert found.claim is CLAIM
    assert found.optimum is not None
    assert found.exact is not None
    assert found.optimum.value < q.initial_gap.on(run)
    assert found.optimum.value < 5 * found.exact.error_at_choice
    assert found.measurements is not None
    assert not found.measurements.changed
    at_best = diabetes(found.optimum.step_size).comparator
    assert found.comparator is not None
    assert found.comparator.suboptimality == pytest.approx(at_best.suboptimality)
    assert found.comparator.distance_sq == pytest.approx(at_best.distance_sq)
    assert plan.claims[1].comparator is None


@pytest.mark.parametrize(
    "changes",
    [{"batch": 1, "rounds": 20}, {"batch": 32, "rounds": 10}, {"local_steps": 20, "rounds": 5}],
    ids=["small batches", "large batches", "long rounds"],
)
def test_the_step_size_to_use_is_near_the_best(changes: dict[str, int]) -> None:
    """The step size to use is the best one by exact errors; that of the best proved bound is within a factor of
    four.
    """
    plan = planner.plan(diabetes(**changes), claims=[CLAIM, WITH_DRIFT], error="average")
    best = min(np.geomspace(2e-4, 0.4, 23), key=lambda step: error(diabetes(float(step), **changes)))
    assert plan.step_size == pytest.approx(best, rel=0.4)
    found = plan.recommended
    assert found is not None
    assert found.optimum is not None
    assert found.claim is WITH_DRIFT
    assert best / 4 <= found.optimum.step_size <= best * 4
    there = check(WITH_DRIFT, diabetes(found.optimum.step_size, **changes)).worst
    assert there is not None
    assert found.optimum.value == pytest.approx(there.rhs)
    assert there.lhs <= there.rhs <= 5 * there.lhs
