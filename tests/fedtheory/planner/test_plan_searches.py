"""Searches of a plan over settings and step sizes against lists of their trials."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import sympy as sp
from test_plan_thresholds import ETA, _bound

from fedtheory.planner import advice, alternatives
from fedtheory.planner.advice import ClaimPlan
from fedtheory.planner.alternatives import Alternatives
from fedtheory.planner.bound import ROUNDS, STEP
from fedtheory.planner.outcomes import ErrorAtStepSize
from fedtheory.planner.regimes import regime_map
from fedtheory.planner.rounds_needed import RoundsNeeded


@pytest.mark.parametrize(
    ("values", "expected", "looked_at"),
    [
        ({16: 9, 32: 8, 64: 20, 128: 20}, 32, [16, 32, 64, 128, 4, 2]),
        ({16: 20, 32: 5}, 32, [16, 32, 64, 128, 4, 2]),
        ({4: 5, 2: 20, 1: 1}, 1, [16, 32, 4, 2, 1]),
        ({4: 20, 2: 20, 1: 1}, None, [16, 32, 4, 2]),
        ({}, None, [16, 32, 4, 2]),
    ],
)
def test_local_steps_that_are_better(
    values: dict[int, int], expected: int | None, looked_at: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Local steps are doubled, then halved, each until two in a row are no better."""
    monkeypatch.setattr(alternatives, "_get_batch_size", lambda _: None)
    asked = []

    def at(count: int, _batch: None) -> tuple[int, int]:
        asked.append(count)
        return count, values.get(count, 99)

    planned = (8, 10)
    search: Any = SimpleNamespace(
        planned=planned,
        steps=8,
        run=None,
        find_setting=at,
        is_cheap=lambda _: True,
        _is_better=lambda one, other: one[1] < other[1],
    )
    found = Alternatives.find_better_local_steps(search)
    assert (None if found is None else found[0]) == expected  # type: ignore[index]
    assert asked == looked_at
    search.is_cheap = lambda count: count == 16
    found = Alternatives.find_better_local_steps(search)
    assert (None if found is None else found[0]) == (16 if values.get(16, 99) < 10 else None)  # type: ignore[index]
    search.steps = None
    assert Alternatives.find_better_local_steps(search) is None


def test_targets_of_bounds_that_need_no_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """Targets are computed for bounds without measured quantities, at the best step size."""
    monkeypatch.setattr(advice, "find_rounds_at_best_step", lambda _sizes, accuracy: accuracy)
    for self_contained, accuracy, optimum, expected in (
        (True, 0.1, 1, 0.1),
        (False, 0.1, 1, None),
        (True, None, 1, None),
        (True, 0.1, None, None),
    ):
        given = SimpleNamespace(accuracy=accuracy, optimum=optimum, _sizes=1, self_contained=self_contained)
        assert ClaimPlan.target_at_best.func(given) == expected  # type: ignore[arg-type]


def test_a_map_has_41_points_on_each_axis() -> None:
    """A map covers three decades around the values; counts are integers, and each point names the largest term."""
    bound = _bound(1 / (ETA * sp.Symbol("T", positive=True)) + ETA)
    found = regime_map(bound, STEP, ROUNDS)
    assert len(found.across_values) == 41
    assert found.across_values[[0, 20, 40]] == pytest.approx(0.1 * 10 ** np.array([-1.5, 0, 1.5]))
    assert list(found.up_values) == sorted({round(x) for x in np.geomspace(1, 10 * 10**1.5, 41)})
    for row, rounds in enumerate(found.up_values):
        for column, step in enumerate(found.across_values):
            at = {"eta": step, "T": rounds}
            values = [float(term.xreplace({s: at[s.name] for s in term.free_symbols})) for term in found.terms]
            assert values[found.dominating[row, column]] == max(values)
    assert found.admissible.all()
    assert len(regime_map(bound, STEP, ROUNDS, points=7).across_values) == 7


def test_larger_step_sizes_are_asked_first() -> None:
    """The fewest rounds so far limit smaller step sizes; a step size without success does not."""
    needed = {1.0: 30, 2.0: 20, 4.0: 50, 8.0: None}
    asked = []

    def outcome(size: float, _one: Any, most: int, *, is_asked: bool) -> ErrorAtStepSize:
        asked.append((size, most, is_asked))
        rounds = needed[size]
        reached = is_asked and rounds is not None and rounds <= most
        return ErrorAtStepSize(size, rounds if reached and rounds is not None else most, 0.1, reached, False)

    def of(sizes: list[float]) -> list[Any]:
        known = [needed[2 * size] for size in sizes]
        return [SimpleNamespace(error=lambda n, own=own: 0.0 if own is not None and own <= n else 1.0) for own in known]

    search: Any = SimpleNamespace(
        errors=SimpleNamespace(planned=2.0, run=SimpleNamespace(algorithm=SimpleNamespace(rounds=100))),
        accuracy=0.5,
        _evaluate_closed_form=outcome,
    )
    found = RoundsNeeded._compute_errors(search, SimpleNamespace(scale_steps_by_each=of), [1.0, 2.0, 4.0, 8.0])  # type: ignore[arg-type]
    assert asked == [(8.0, 100, True), (4.0, 100, True), (2.0, 50, True), (1.0, 20, False)]
    assert [(one.step_size, one.rounds, one.reached) for one in found] == [
        (1.0, 20, False),
        (2.0, 20, True),
        (4.0, 50, True),
        (8.0, 100, False),
    ]
