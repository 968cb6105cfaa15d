"""Parts of checks that few runs reach, with stand-ins, against values by hand."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from fedtheory.arithmetic import FLOAT, RATIONAL
from fedtheory.errors import InputError
from verify.check import escalation, monte_carlo


def test_groups_of_replicas_that_agree_are_no_estimates(monkeypatch: pytest.MonkeyPatch) -> None:
    """Intervals are about the value of all replicas, at the tightest place; equal groups estimate nothing."""
    monkeypatch.setattr(monte_carlo, "decide", lambda whole, _: whole.slack)
    monkeypatch.setattr(monte_carlo, "find_tightest_places", lambda whole, _: int(np.argmin(whole.slack)))
    monkeypatch.setattr(monte_carlo, "plain_floats", np.asarray)
    monkeypatch.setattr(monte_carlo, "_decide", lambda operator, slack, replicas: (operator, slack, replicas))
    spread = SimpleNamespace(high=np.array([5.0]), mean=np.array([3.0]))
    monkeypatch.setattr(monte_carlo, "estimate_of", lambda *_: spread)
    link = SimpleNamespace(relation=SimpleNamespace(operator="<="))

    def sides(slack: list[float], lhs: list[float]) -> Any:
        return SimpleNamespace(slack=np.array(slack), lhs=np.array(lhs), link=link)

    run: Any = SimpleNamespace(replicas=40)
    whole = sides([9.0, 1.0], [4.0, 6.0])
    found = monte_carlo._estimate(whole, [sides([9.0, 1.5], [4.0, 5.0]), sides([9.0, 0.5], [4.0, 7.0])], run)
    assert found is not None
    left, decision = found
    assert (left.low, left.high, left.replicas) == (4.0, 8.0, 40)
    assert decision == ("<=", (-1.0, 3.0), 40)
    assert monte_carlo._estimate(whole, [sides([8.0, 1.0], [4.0, 6.0])], run) is None
    assert monte_carlo._estimate(whole, [sides([1.5], [5.0])], run) is None
    assert monte_carlo._differ(np.array([1.0, 1.0]), 1.0 + 1e-13) is False
    assert monte_carlo._differ(np.array([1.0, 1.0]), 1.0 + 1e-11) is True


def test_rates_that_floats_leave_open(monkeypatch: pytest.MonkeyPatch) -> None:
    """An exact limit decides first, then ladders in rationals if they are short; no other answer replaces floats."""
    exact = SimpleNamespace(with_rounds=lambda rounds: ("long", rounds))
    answers: dict[str, Any] = {}
    monkeypatch.setattr(escalation, "_check_rate_closer", lambda found, _: answers["closer"] or found)
    monkeypatch.setattr(escalation, "_estimate_cost", lambda _: answers["cost"])
    monkeypatch.setattr(escalation, "check", lambda _claim, _run: answers["ladders"])
    monkeypatch.setattr(escalation, "replace", lambda of, **changes: (of.word, changes["final_decision"].holds))

    def answered(word: str, *, holds: Any = True, decided: bool = True, arithmetic: Any = RATIONAL) -> Any:
        return SimpleNamespace(word=word, holds=holds, is_decided=decided, arithmetic=arithmetic)

    def escalated(closer: Any, ladders: Any, cost: int = 1, exactly: Any = lambda: exact, **changes: Any) -> Any:
        answers.update(closer=closer, ladders=ladders, cost=cost)
        found: Any = SimpleNamespace(**{"rate": 1, "is_steady": True, "claim": None, **changes})
        found.is_decided, found.arithmetic = False, FLOAT
        decided = escalation._escalate_rate(found, exactly)
        return "same" if decided is found else decided

    assert escalated(answered("limit"), answered("ladders")) == ("limit", True)
    assert escalated(None, answered("ladders", holds=False)) == ("ladders", False)
    assert escalated(None, answered("ladders"), cost=escalation._BUDGET) == ("ladders", True)
    assert escalated(None, answered("ladders"), cost=escalation._BUDGET + 1) == "same"
    assert escalated(None, answered("ladders", decided=False)) == "same"
    assert escalated(None, answered("ladders", arithmetic=FLOAT)) == "same"
    assert escalated(answered("limit"), None, rate=None) == "same"
    assert escalated(answered("limit"), None, is_steady=False) == "same"

    def refuse() -> Any:
        raise InputError("run", "too long")

    assert escalated(answered("limit"), None, exactly=refuse) == "same"


def test_near_ties_of_proved_claims(monkeypatch: pytest.MonkeyPatch) -> None:
    """A proof decides a near tie if the conditions certainly hold, but neither a violation nor an empty check."""
    known: dict[str, Any] = {"proved": True, "conditions": ("holds",)}
    monkeypatch.setattr(escalation, "_is_proved", lambda _: known["proved"])
    monkeypatch.setattr(escalation, "_check_conditions_exactly", lambda _claim, _run: known["conditions"])
    monkeypatch.setattr(
        escalation, "replace", lambda _found, **changes: (changes["conditions"], changes["final_decision"])
    )

    def settled(holds: Any = None, comparisons: Any = (1,)) -> Any:
        found: Any = SimpleNamespace(comparisons=comparisons, holds=holds, claim=None)
        return escalation._decide_by_proof(found, None)  # type: ignore[arg-type]

    conditions, decision = settled()
    assert (conditions, decision.holds, decision.by) == (("holds",), True, "by its proof")
    assert settled(holds=False) is None
    assert settled(holds=True) is None
    assert settled(comparisons=()) is None
    known["conditions"] = None
    assert settled() is None
    known.update(proved=False, conditions=())
    assert settled() is None
    known["proved"] = True
    assert settled()[0] == ()
