"""Ends of searches in plans, by hand: diverging runs, more rounds, corrections of refuted bounds."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from fedtheory.planner import coverage, deterministic_runs, rounds_needed
from fedtheory.planner.deterministic_runs import compute_path_errors
from fedtheory.planner.outcomes import ErrorAtStepSize
from fedtheory.planner.rounds_needed import RoundsNeeded


def _errors(monkeypatch: pytest.MonkeyPatch, step: list[list[float]], state: list[float], rounds: int) -> list[float]:
    size = len(state)
    parts = np.array(step), np.array(state), np.eye(size)
    monkeypatch.setattr(
        deterministic_runs, "build_joint_trajectory", lambda _: SimpleNamespace(mean_round=lambda: parts)
    )
    centred = SimpleNamespace(hessian=2 * np.eye(size))
    algorithm = SimpleNamespace(rounds_are_alike=True)
    run: Any = SimpleNamespace(
        with_rounds=lambda _: None, problem=SimpleNamespace(centred=centred), algorithm=algorithm
    )
    found: list[float] = compute_path_errors(run, rounds).tolist()
    return found


def test_errors_of_a_path(monkeypatch: pytest.MonkeyPatch) -> None:
    """Errors are squares of 1/2, 1/4, ...; after an overflow all are infinite."""
    assert _errors(monkeypatch, [[0.5]], [1.0], 3) == [1 / 4, 1 / 16, 1 / 64]
    assert _errors(monkeypatch, [[1e100]], [1.0], 3) == [1e200, math.inf, math.inf]
    lost = _errors(monkeypatch, [[1e100, -1e100], [0.0, 1e100]], [1.0, 1.0], 6)
    assert lost[0] == pytest.approx(1e200)
    assert lost[1:] == [math.inf] * 5


@pytest.mark.parametrize("affordable", [0, 1, 2])
def test_more_rounds_are_tried_near_the_best_step_size(affordable: int) -> None:
    """Rounds are multiplied by four while affordable, at step sizes near the best and below the largest."""
    asked: list[tuple[float, int]] = []

    def outcome(size: float, rounds: int) -> ErrorAtStepSize:
        asked.append((size, rounds))
        return ErrorAtStepSize(size, rounds, 2.0 + abs(size - 0.5), False, False)

    search: Any = SimpleNamespace(
        accuracy=1.0,
        largest=0.5,
        errors=SimpleNamespace(run=SimpleNamespace(algorithm=SimpleNamespace(rounds=5))),
        _try_step_sizes=lambda rounds: [outcome(0.25, rounds), outcome(0.5, rounds)],
        _sort_lasting=lambda found: found,
        _is_affordable=lambda rounds: rounds <= 5 * rounds_needed._LONGER**affordable,
        outcome=outcome,
        _is_quick=True,
        _has_equal_rounds=True,
        _limit_rounds=lambda _, rounds: rounds,
        _choose_lasting=lambda best, _: best,
    )
    search._make_rank = lambda one: RoundsNeeded._make_rank(search, one)
    best = RoundsNeeded._search_by_runs(search)
    near = [0.5 * factor for factor in rounds_needed._NEAR if factor <= 1]
    most = 5 * rounds_needed._LONGER**affordable
    expected = [(0.25, 5), (0.5, 5)]
    for tried in range(1, affordable + 1):
        expected += [(size, 5 * rounds_needed._LONGER**tried) for size in near]
    assert asked[: len(expected)] == expected
    assert {rounds for _, rounds in asked[len(expected) :]} == {most}
    assert all(size <= 0.5 for size, _ in asked)
    assert not best.reached


def test_repairs_are_bounds_that_plans_use(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first usable correction of a refuted bound is chosen."""
    monkeypatch.setattr(coverage, "repairs_of", lambda _: ["other", "first", "second"])
    for covering, found in ((("second", "first"), "first"), (("second",), "second"), ((), None)):
        monkeypatch.setattr(coverage, "covering_claims", lambda covering=covering: covering)
        repaired: Any = coverage.repair_of("refuted")  # type: ignore[arg-type]
        assert repaired == found
