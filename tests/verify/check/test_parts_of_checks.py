"""Parts of checks, verdicts, shrinking and grades are tested with stand-ins for the other parts."""

from __future__ import annotations

from importlib import import_module
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from claim_symbols import WHERE, L, eta

from fedtheory.arithmetic import ENCLOSED, FLOAT, RATIONAL
from fedtheory.language.claim import Claim
from verify import verdict
from verify.check.escalation import escalate
from verify.check.outcome import Check
from verify.check.sides import Place
from verify.early_decisions import Decision
from verify.falsify.shrink import _Shrinking
from verify.grade.point_entries import _shorten_answer

CLAIM = Claim(id="t:one", lhs=eta, rhs=L, where=WHERE)


@pytest.mark.parametrize("arithmetic", [ENCLOSED, RATIONAL])
def test_only_floats_are_decided_by_others(arithmetic: Any) -> None:
    """A check in rationals or enclosures that is undecided stays so, and the run is not read again."""
    left_open = Check(CLAIM, arithmetic, True, None, is_steady=False)
    assert not left_open.is_decided
    assert escalate(left_open, lambda: pytest.fail("read again")) is left_open
    decided = Check(CLAIM, FLOAT, False, "not applicable")
    assert escalate(decided, lambda: pytest.fail("read again")) is decided


def _outcome(holds: bool | None, ratio: float, *, exact: bool = True, applicable: bool = True) -> Any:
    shown = SimpleNamespace(holds=holds, ratio=ratio, exact=exact, applicable=applicable, everywhere=True, complexity=1)
    shown.seconds, shown.is_trivial, shown.instance = 0.25, False, SimpleNamespace(run=lambda: ratio)
    return shown


@pytest.mark.parametrize(("refuted", "ratio"), [(True, 1.5), (False, 0.5)])
def test_numbers_of_a_verdict(*, refuted: bool, ratio: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """A refuted claim has the ratio of its counterexample; other claims have the largest ratio of their instances."""
    witness: Any = SimpleNamespace(ratio=1.5, table={"a": 1}, sides=None, reason="why")
    monkeypatch.setattr(verdict, "_find_counterexample", lambda *_: witness if refuted else None)
    monkeypatch.setattr(verdict, "_find_tightest", lambda *_: witness)
    monkeypatch.setattr(verdict, "count_exclusions", lambda _: ())
    outcomes = [_outcome(True, 0.25), _outcome(True, 0.5, exact=False), _outcome(None, 9.0, applicable=False)]
    found = verdict._find_verdict(CLAIM, outcomes, Decision("proved"))
    assert (found.verdict, found.worst_ratio) == ("refuted" if refuted else "proved", ratio)
    assert (found.instances, found.exact_instances, found.violations, found.undecided) == (2, 1, 0, 0)
    assert (found.seconds, found.run, found.reason) == (0.75, {"a": 1}, "why")


def test_verdicts_without_violations() -> None:
    """Open instances come first, then what decides; rates are asymptotic, other claims supported."""
    rate: Any = SimpleNamespace(rate=1)
    held, left_open = _outcome(True, 0.5), _outcome(None, 0.5)
    for claim, outcomes, decision, expected in (
        (CLAIM, [held, left_open], Decision("proved"), "undecided"),
        (CLAIM, [held], Decision("definition"), "definition"),
        (CLAIM, [], Decision("definition"), "definition"),
        (CLAIM, [], Decision("proved"), "not applicable"),
        (rate, [held], Decision(), "asymptotic"),
        (CLAIM, [held], Decision("proved"), "proved"),
        (CLAIM, [held], Decision(), "supported"),
    ):
        assert verdict._choose_positive_verdict(claim, outcomes, decision) == expected


def test_terms_at_a_place() -> None:
    """The entry at a place is found by its index along each axis, or by 0 along an axis of length one."""
    site: Any = SimpleNamespace(axes=("client", "step"))
    place = Place(site, {"client": 1, "step": 2})
    assert place._select_entry(np.array([[0, 1, 2], [3, 4, 5]])) == 5
    assert place._select_entry(np.array([[7], [8]])) == 8
    assert place._select_entry(np.array([[6, 7, 8]])) == 8
    assert Place(site, {})._select_entry(np.array([[9]])) == 9


def test_other_units_of_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """The origin moves, then each aspect that is still there is scaled, by each factor in turn."""
    shrink, table = import_module("verify.falsify.shrink"), {"a": 1, "b": 1}
    scalings = {name: SimpleNamespace(name=name) for name in "ab"}
    monkeypatch.setattr(shrink, "list_scalings", lambda _: scalings.values())
    monkeypatch.setattr(shrink, "find_scaling", lambda table, name: scalings[name] if name in table else None)
    monkeypatch.setattr(
        shrink, "apply_scaling", lambda table, scaling, factor: {**table, scaling.name: table[scaling.name] * factor}
    )
    monkeypatch.setattr(shrink, "translate", lambda table, origin: {**table, "at": origin})
    monkeypatch.setattr(shrink, "_list_origins", lambda _: [1, 2])
    monkeypatch.setattr(shrink, "_list_plain_factors", lambda _: [2, 5])

    def tried(*better: Any, lost: str = "") -> tuple[bool, list[Any]]:
        shrinking: Any = object.__new__(_Shrinking)
        shrinking.table, seen = table, list[Any]()

        def tries(other: Any) -> bool:
            seen.append(other)
            if other in better:
                shrinking.table = {key: value for key, value in other.items() if key != lost}
            return other in better

        shrinking._tries = tries
        return bool(shrinking._change_units()), seen

    moved = [{**table, "at": 1}, {**table, "at": 2}]
    scaled = [{"a": 2, "b": 1}, {"a": 5, "b": 1}, {"a": 1, "b": 2}, {"a": 1, "b": 5}]
    assert tried() == (False, moved + scaled)
    assert tried(scaled[0], lost="b") == (True, [*moved, {"a": 2, "b": 1}, {"a": 10}])
    assert tried(moved[1])[0] is True
    assert tried(scaled[3])[0] is True


def test_answers_of_the_length_of_a_cell() -> None:
    """Answers of up to 32000 characters are kept."""
    assert _shorten_answer("a" * 32_000) == "a" * 32_000
    assert _shorten_answer("a" * 32_001) == "a" * 32_000 + " [...]"
