"""Bounds at other step sizes are used only if they are better than the present one."""

from __future__ import annotations

import pytest
from planned_runs import a_run

from fedtheory.planner.coverage import covering_claims
from fedtheory.planner.exact_optimum import ExactErrors
from fedtheory.planner.planning import _measure, _plan_claim
from fedtheory.planner.recommendation import build_answer
from fedtheory.planner.rounds_needed import FINAL, find_planned_and_best


@pytest.mark.long
def test_runs_are_made_for_bounds_of_a_better_kind_only() -> None:
    """Runs are built only for bounds of a better kind, with the constants at each bound's best step size."""
    errors = ExactErrors(a_run())
    reached = find_planned_and_best(errors, FINAL, None)
    assert reached is not None
    plans = [_plan_claim(errors, claim, None) for claim in covering_claims()]
    asked = []

    def measured(plan):
        asked.append(plan.claim.id)
        return _measure(errors, plan)

    found = build_answer(errors, reached, None, plans, measured)
    every = [plan if plan.optimum is None else _measure(errors, plan) for plan in plans]
    expected = build_answer(errors, reached, None, every)
    for one, other in ((found.promise, expected.promise), (found.elsewhere, expected.elsewhere)):
        assert (one is None) is (other is None)
        if one is not None and other is not None:
            assert (one.plan.claim.id, one.step_size, one.value) == (other.plan.claim.id, other.step_size, other.value)
    assert len(asked) < sum(plan.optimum is not None for plan in plans)
