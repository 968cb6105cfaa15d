"""Numbers in plans, by hand: operations of exact errors, progress, and symbols of averages."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from planned_runs import a_run

from fedtheory.kernel.expressions import Average
from fedtheory.language.registry import find
from fedtheory.planner import bound, measurements, plan, run_costs


def test_operations_of_one_path(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each round costs a hundredth of the overhead plus the square of the stored numbers."""
    monkeypatch.setattr(run_costs, "is_deterministic", lambda _: True)
    monkeypatch.setattr(run_costs, "count_numbers", lambda _: 7)
    run: Any = SimpleNamespace()
    assert run_costs.count_operations(run, 3) == 3 * (run_costs._OVERHEAD / 100 + 49)


def test_progress_of_a_plan_counts_each_claim_and_what_comes_last() -> None:
    """Progress counts each claim and the final step, from none of n + 1 to all."""
    claims = [find("liu2022:thm-1"), find("renard2022:thm-2.1")]
    seen: list[tuple[int, int]] = []
    plan(a_run(), claims=claims, on_progress=lambda done, of: seen.append((done, of)))
    assert seen == [(0, 3), (1, 3), (2, 3), (3, 3)]


def test_symbols_of_means_are_real() -> None:
    """Symbols of averages are real and distinct; roots of conditions in them are real."""
    found = bound._choose_symbols_for_means(find("vlaski2023:claim.steady-state-noise"))
    assert found
    assert all(isinstance(mean, Average) for mean in found)
    assert len(set(found.values())) == len(found)
    assert all(symbol.is_real for symbol in found.values())


def test_a_run_with_the_constants_of_its_bound_is_not_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    """Other step sizes are tried only if constants of the run differ from those of the bound."""
    run: Any = SimpleNamespace(values={"L": 2.0}, value=lambda: 5.0)
    known: Any = SimpleNamespace(with_numbers=lambda _: SimpleNamespace(values={"L": 2.0}))
    errors: Any = SimpleNamespace(grid=[0.1, 0.2], is_large=False)
    edge: Any = SimpleNamespace(value=0.3)
    tried: list[list[float]] = []

    def values_at(steps: list[float], *_: Any) -> dict[float, float]:
        tried.append(steps)
        return dict.fromkeys(steps, 1.0)

    monkeypatch.setattr(measurements, "_find_bound_at", lambda *_: run)
    monkeypatch.setattr(measurements, "_evaluate_at", values_at)
    monkeypatch.setattr(measurements, "_refine_grid", lambda *_: [])
    best: Any = SimpleNamespace(step_size=0.25)
    found = measurements.measure_bound(None, best, known, errors, edge)  # type: ignore[arg-type]
    assert (found, tried) == (measurements.Measurements((), 5.0, 0.25, 5.0), [])
    run.values = {"L": 3.0}
    found = measurements.measure_bound(None, best, known, errors, edge)  # type: ignore[arg-type]
    assert found == measurements.Measurements(("L",), 5.0, 0.1, 1.0)
    assert tried == [[0.1, 0.2, 0.3], []]
