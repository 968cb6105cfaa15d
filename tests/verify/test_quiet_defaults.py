"""Calls without options: one process, no search, and the same search for a violation each time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from claim_symbols import WHERE, D, L, eta

from fedtheory import FLOAT, Run, fedavg, quadratic
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.planner import planning
from verify import verdict
from verify.falsify.regimes import search_regimes

BOUND = Claim(id="t:bound", lhs=q.final_distance_sq, rhs=10**9 * (1 + D**2), where=WHERE, conditions=[eta * L <= 1])


def test_a_verdict_is_neither_searched_nor_shared(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def found(targets: Any, jobs: int, search: float, in_full: bool, _on_progress: Any) -> Iterator[Any]:
        asked.append((list(targets), jobs, search, in_full))
        return iter(())

    monkeypatch.setattr(verdict, "_find_verdicts", found)
    monkeypatch.setattr(verdict, "_read_cached", lambda *_: None)
    verdict.verify("renard2022:lemma-2.3")
    verdict.verify(["renard2022:lemma-2.3"], jobs=2, search=3, in_full=True)
    assert asked == [(["renard2022:lemma-2.3"], 1, 0, False), (["renard2022:lemma-2.3"], 2, 3, True)]
    asked.clear()
    for targets, jobs in ((["renard2022:lemma-2.3", BOUND], 1), ([BOUND], 1), (["renard2022:lemma-2.3"] * 2, 2)):
        # Claims themselves do not travel to other processes.
        verdict.verify(targets, jobs=2)
        assert asked.pop()[1] == jobs


def test_a_plan_starts_no_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """The work is shared among as many processes as are asked for, one by default."""

    class Asked(Exception):
        """The number of processes is recorded."""

    def ahead(_errors: Any, jobs: int) -> Any:
        raise Asked(jobs)

    monkeypatch.setattr(planning, "start_worker", ahead)
    array = FLOAT.array
    problem = quadratic(array([[[1.0]]]), array([[0.0]]), array([1.0]))
    run = Run(problem, fedavg(problem, rounds=2, local_step_size=0.5))
    with pytest.raises(Asked, match="1"):
        planning.plan(run, claims=[])
    with pytest.raises(Asked, match="3"):
        planning.plan(run, claims=[], jobs=3)


@pytest.mark.long
def test_a_search_begins_with_seed_zero() -> None:
    """The default search tries the same runs as with seed zero, and other runs with another seed."""
    usual, zero, one = (search_regimes(BOUND, 150, **seed) for seed in ({}, {"seed": 0}, {"seed": 1}))
    assert usual.regimes == zero.regimes
    assert usual.regimes != one.regimes
