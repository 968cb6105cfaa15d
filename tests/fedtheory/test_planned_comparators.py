"""Plans with bounds that have a comparator: it moves with the step size, and the bound says something on real data."""

from __future__ import annotations

import pytest
from planned_runs import a_run

from fedtheory import FLOAT, parse_run, planner
from fedtheory.engine.run import Run
from fedtheory.language import quantities as q
from fedtheory.language.registry import find
from fedtheory.planner.bound import bound_of_run
from fedtheory.planner.comparators import Comparators
from verify.check import check

CLAIM = find("comparator:average-error")


def diabetes(step_size: float = 0.001) -> Run:
    """Five clients with a fifth of the rows each, batches of eight."""
    problem = {"kind": "least-squares", "data": "diabetes", "clients": 5, "split": "iid", "batch": 8}
    algorithm = {"local_step_size": step_size, "local_steps": 5, "rounds": 50}
    return parse_run({"problem": problem, "algorithm": algorithm}, FLOAT)


@pytest.mark.parametrize("step_size", [1e-4, 0.003, 0.05])
@pytest.mark.parametrize("make", [a_run, diabetes], ids=["quadratics", "data"])
def test_numbers_are_those_of_the_run(make, step_size: float) -> None:
    """At every step size they are what the run itself has."""
    run = make(step_size)
    time = step_size * run.algorithm.work.steps[0] * run.algorithm.rounds
    found = Comparators.of(make(0.01)).numbers(time)
    assert found[q.comparator_suboptimality.name] == pytest.approx(q.comparator_suboptimality.on(run))
    for root in (q.comparator_distance, q.comparator_noise, q.comparator_dissimilarity):
        assert found[root.name] ** 2 == pytest.approx(root.on(run))


def test_a_bound_at_another_step_size_is_that_of_the_run() -> None:
    """And so with other rounds."""
    bound = bound_of_run(CLAIM, diabetes(0.001))
    there = bound.value({"local_step_size": 0.004})
    found = check(CLAIM, diabetes(0.004)).worst
    assert found is not None
    assert there == pytest.approx(found.rhs)
    assert bound.at({"rounds": 100, "local_step_size": 0.002}).values["comparator_distance"] > 0
    assert bound.depends_on(q.comparator_suboptimality.symbol, "rounds")


def test_it_says_something_on_real_data() -> None:
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
    assert found.remeasured is not None
    assert not found.remeasured.changed
    at_best = diabetes(found.optimum.step_size).comparator
    assert found.comparator is not None
    assert found.comparator.suboptimality == pytest.approx(at_best.suboptimality)
    assert found.comparator.distance_sq == pytest.approx(at_best.distance_sq)
    assert plan.claims[1].comparator is None
