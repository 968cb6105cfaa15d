"""Runs that a search for counterexamples counts, over all of its parts, by hand."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from verify.falsify import search_result
from verify.falsify.run_tables import CheckedRun


@pytest.mark.parametrize("by_regimes", [True, False])
@pytest.mark.parametrize("clear", [True, False])
def test_runs_of_all_parts_are_counted(by_regimes: bool, clear: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Small runs alone where one of them is clear; the last search where the regimes found nothing."""
    claim: Any = "claim"
    shown: list[Any] = []
    state = SimpleNamespace(looked=100, applicable=200, left_open=300, violation=None)
    found = SimpleNamespace(arithmetic=SimpleNamespace(is_rigorous=True), holds=True)
    regimes = SimpleNamespace(
        evaluations=10, applicable=20, left_open=30, counterexample="violation" if by_regimes else None
    )
    for name, result in {
        "resolve": claim,
        "_search_small_runs": SimpleNamespace(table="easy", looked=1, applicable=2),
        "_confirm": CheckedRun("easy", found),
        "is_clear": clear,
        "_search_by_regimes": regimes,
        "search": state,
        "_compute_deadline": 9.0,
        "_shrink_violation": ("table", found),
    }.items():
        monkeypatch.setattr(search_result, name, lambda *_, result=result, **__: result)
    end = search_result.falsify(claim, 5.0, on_progress=lambda done, whole: shown.append((done, whole)))
    parts = [1] if clear else [1, 10] if by_regimes else [1, 10, 100]
    assert end.looked == sum(parts)
    assert end.applicable == 2 * sum(parts)
    assert end.left_open == 3 * sum(parts[1:])
    assert (end.run, end.found, end.verdict) == ("easy" if clear else "table", found, "not refuted")
    assert shown[-1] == (5, 5)
    found.holds = False
    again = search_result.falsify(claim, 5.0)
    assert (again.verdict, again.left_open) == ("refuted", 0)
