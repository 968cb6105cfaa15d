"""Answers of a plan and the work for them by hand: facts, empty listings, one worker that has one work at a time."""

from __future__ import annotations

import math
from concurrent.futures import Future
from types import SimpleNamespace
from typing import Any

import pytest

from fedtheory.language import quantities as q
from fedtheory.planner import ahead
from fedtheory.planner.answer import Answer
from fedtheory.planner.listing import listing
from fedtheory.planner.travel import packed


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
    """What to run and its error; the edge of divergence and a promise where there is one."""
    always = {"step size to use": "0.25", "rounds": "7", "exact final_suboptimality then": "0.5"}
    assert _facts() == always
    assert _facts(diverges_from=2.0) == always | {"diverges from the step size": "2"}
    promise = SimpleNamespace(step_size=0.125, value=3.0, plan=SimpleNamespace(claim=SimpleNamespace(id="t:bound")))
    assert _facts(promise=promise) == always | {"t:bound promises there": "3"}
    assert _facts(promise=promise, is_covered=False) == always | {"t:bound promises at the step size 0.125": "3"}


def test_no_bound_covers_a_run_without_bounds() -> None:
    found = listing(SimpleNamespace(claims=(), answer=None, recommended=None))  # type: ignore[arg-type]
    assert found.title == "bounds at smaller step sizes: none covers the run"
    assert (list(found.rows), found.remark) == ([], "")


class _Worker:
    """Futures of what is submitted, to be ended by hand."""

    def __init__(self) -> None:
        self.futures: list[Future[bytes]] = []

    def submit(self, *_: object) -> Future[bytes]:
        self.futures.append(Future())
        return self.futures[-1]


def _double(_errors: object, number: int) -> int:
    return 2 * number


def test_the_worker_has_one_work_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """It gets the first one at once, then the one that was begun last; this process does what it has not begun."""
    worker = _Worker()
    monkeypatch.setattr(ahead, "workers", lambda _: worker)
    work = ahead.Ahead(SimpleNamespace(), "run.toml")  # type: ignore[arg-type]
    ends = [work.begun(_double, number) for number in (1, 2, 3, 4)]
    assert len(worker.futures) == 1
    assert ends[1]() == 4
    worker.futures[0].set_result(packed(20))
    assert len(worker.futures) == 2
    worker.futures[1].set_result(packed(80))
    assert len(worker.futures) == 3
    assert [ends[0](), ends[3]()] == [20, 80]
    work.stop()
    worker.futures[2].set_result(packed(60))
    assert ends[2]() == 60
    again = work.begun(_double, 5)
    assert len(worker.futures) == 4
    work.stop()
    worker.futures[3].set_result(packed(100))
    assert again() == 100


def test_without_a_worker_all_is_done_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(ahead, "workers")
    work = ahead.Ahead(SimpleNamespace())  # type: ignore[arg-type]
    assert [work.begun(_double, number)() for number in (1, 2)] == [2, 4]
