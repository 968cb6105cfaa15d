"""Answers of a plan and their computation, by hand: facts, empty listings, and a single worker."""

from __future__ import annotations

import math
from concurrent.futures import Future
from types import SimpleNamespace
from typing import Any

import pytest
import sympy as sp
from planned_runs import THEOREM
from test_plan_thresholds import ETA, _bound

from fedtheory.language import quantities as q
from fedtheory.planner import worker
from fedtheory.planner.advice import ClaimPlan
from fedtheory.planner.bound import compute_slack
from fedtheory.planner.outcomes import ErrorAtStepSize
from fedtheory.planner.pickling import pack
from fedtheory.planner.plan_rows import list_bounds
from fedtheory.planner.recommendation import Answer
from fedtheory.planner.rounds_needed import RoundsNeeded


def _facts(*, promise: Any = None, diverges_from: float = math.inf, is_covered: bool = True) -> dict[str, str]:
    found = SimpleNamespace(
        best=SimpleNamespace(step_size=0.25, rounds=7, error=0.5),
        run=SimpleNamespace(errors_are="exact"),
        error=q.final_suboptimality,
        reached=SimpleNamespace(diverges_from=diverges_from),
        promise=promise,
        is_covered=is_covered,
    )
    return Answer.facts(found)  # type: ignore[arg-type]


def test_facts_of_an_answer() -> None:
    """An answer has the run and its error, and the edge of divergence and a guarantee if they exist."""
    always = {"step size to use": "0.25", "rounds": "7", "exact final_suboptimality then": "0.5"}
    assert _facts() == always
    assert _facts(diverges_from=2.0) == always | {"diverges from the step size": "2"}
    promise = SimpleNamespace(step_size=0.125, value=3.0, plan=SimpleNamespace(claim=SimpleNamespace(id="t:bound")))
    assert _facts(promise=promise) == always | {"t:bound promises there": "3"}
    assert _facts(promise=promise, is_covered=False) == always | {"t:bound promises at the step size 0.125": "3"}


def test_bounds_that_cover_the_run_are_listed_alone() -> None:
    """Bounds that cover the run are listed; others on request, or if none covers it."""
    bound = _bound(1 / ETA + ETA)
    covers, other, nothing = (
        ClaimPlan(THEOREM, q.final_suboptimality, applicable, None, bound=given)
        for applicable, given in ((True, bound), (False, bound), (True, None))
    )

    def listed(*plans: ClaimPlan, every: bool = False) -> list[ClaimPlan]:
        found = SimpleNamespace(claims=plans, answer=None, recommended=None)
        return [plan for plan, _ in list_bounds(found, every=every).rows]  # type: ignore[arg-type]

    assert listed(other, covers, nothing) == [covers]
    assert listed(other, nothing) == [other]
    assert listed(other, covers, every=True) == [other, covers]


def test_no_bound_covers_a_run_without_bounds() -> None:
    found = list_bounds(SimpleNamespace(claims=(), answer=None, recommended=None))  # type: ignore[arg-type]
    assert found.title == "bounds at smaller step sizes: none covers the run"
    assert (list(found.rows), found.remark) == ([], "")


def test_conditions_at_their_edge() -> None:
    """A near tie satisfies a condition, a strict condition fails, and an equation fails on either side."""
    x = sp.Symbol("x")
    given = [(x <= 1, 1.0, True), (x < 1, 1.0, False), (x >= 1, 1.0, True), (x > 1, 1.0, False), (x < 1, 0.5, True)]
    given += [(x > 1, 1.5, True), (sp.Eq(x, 1), 1.0, True), (sp.Eq(x, 1), 1.5, False), (sp.Eq(x, 1), 0.5, False)]
    for condition, left, holds in given:
        assert compute_slack(condition, left, 1.0).holds is holds
    assert compute_slack(x <= 1, 1.0 + 1e-15, 1.0).holds
    assert not compute_slack(x < 1, 1.0 + 1e-15, 1.0).holds


@pytest.mark.parametrize(("reached", "longer"), [([True, False], 0), ([False, True], 0), ([False, False], 2)])
def test_more_rounds_than_planned(reached: list[bool], longer: int) -> None:
    """If one step size reaches the target in the planned rounds, no longer run is simulated."""
    asked = []

    def outcome(step_size: float, rounds: int) -> ErrorAtStepSize:
        asked.append(rounds)
        return ErrorAtStepSize(step_size, rounds, 0.1, rounds > 40, False)

    tried = [ErrorAtStepSize(1.0 / (n + 1), 10, 0.5 - n / 10, one, False) for n, one in enumerate(reached)]
    search = SimpleNamespace(
        errors=SimpleNamespace(run=SimpleNamespace(algorithm=SimpleNamespace(rounds=10))),
        accuracy=0.3,
        largest=4.0,
        outcome=outcome,
        _try_step_sizes=lambda _: tried,
        _sort_lasting=lambda found: found,
        _make_rank=lambda one: (not one.reached, one.error),
        _is_affordable=lambda _: True,
        _is_quick=True,
        _limit_rounds=lambda _best, rounds: rounds,
        _choose_lasting=lambda best, _found: best,
    )
    found = RoundsNeeded._search_by_runs(search)  # type: ignore[arg-type]
    assert found.reached
    assert (max(asked) > 10) is (longer > 0)


class _Worker:
    """Futures of submitted tasks, which the test completes."""

    def __init__(self) -> None:
        self.futures: list[Future[bytes]] = []

    def submit(self, *_: object) -> Future[bytes]:
        self.futures.append(Future())
        return self.futures[-1]


def _double(_errors: object, number: int) -> int:
    return 2 * number


def test_the_worker_has_one_work_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """The worker gets the first task, then the latest one; this process does tasks that are not started."""
    stand_in = _Worker()
    monkeypatch.setattr(worker, "workers", lambda _: stand_in)
    work = worker.PlanWorker(SimpleNamespace(), "run.toml")  # type: ignore[arg-type]
    ends = [work.start(_double, number) for number in (1, 2, 3, 4)]
    assert len(stand_in.futures) == 1
    assert ends[1]() == 4
    stand_in.futures[0].set_result(pack(20))
    assert len(stand_in.futures) == 2
    stand_in.futures[1].set_result(pack(80))
    assert len(stand_in.futures) == 3
    assert [ends[0](), ends[3]()] == [20, 80]
    work.stop()
    stand_in.futures[2].set_result(pack(60))
    assert ends[2]() == 60
    again = work.start(_double, 5)
    assert len(stand_in.futures) == 4
    work.stop()
    stand_in.futures[3].set_result(pack(100))
    assert again() == 100
    busy, waiting = (work.start(_double, number) for number in (6, 7))
    work.stop()
    stand_in.futures[4].set_result(pack(120))
    assert len(stand_in.futures) == 5
    assert (busy(), waiting()) == (120, 14)


def test_without_a_worker_all_is_done_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(worker, "workers")
    work = worker.PlanWorker(SimpleNamespace())  # type: ignore[arg-type]
    assert [work.start(_double, number)() for number in (1, 2)] == [2, 4]
