"""Costs of exact numbers, and the arithmetic that decides if floats do not, against values by hand."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from claim_symbols import WHERE, L, eta

from fedtheory.arithmetic import ENCLOSED, FLOAT, RATIONAL
from fedtheory.errors import Diverging, NotApplicable
from fedtheory.federation.oracles import ExactOracle
from fedtheory.language.claim import Claim
from verify import verdict
from verify.check import escalation, one_run
from verify.check.joint_checks import RunsTogether
from verify.check.joint_comparison import compare_by_run
from verify.check.outcome import Check

CLAIM = Claim(id="t:one", lhs=eta, rhs=L, where=WHERE)


def _run(arithmetic: Any = RATIONAL, **problem: Any) -> Any:
    """Two clients of two and five local steps in three rounds, in one dimension."""
    usual = {"clients": 2, "dimension": 1, "data": None, "oracle": ExactOracle(), **problem}
    algorithm = SimpleNamespace(rounds=3, work=SimpleNamespace(steps=(2, 5)), defined=None)
    return SimpleNamespace(arithmetic=arithmetic, problem=SimpleNamespace(**usual), algorithm=algorithm)


def test_costs_of_exact_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Longest local steps of all rounds; numbers get longer by one in sixteen, which enclosures do not."""
    assert escalation._estimate_cost(_run(ENCLOSED)) == 15 * 2 * 8
    assert escalation._estimate_cost(_run()) == int(15 * (1 + 15 / 16) * 2 * 8)
    assert escalation._estimate_cost(_run(ENCLOSED, oracle=SimpleNamespace(sample_products=7))) == 15 * (2 * 8 + 7)
    for most, short in ((464, False), (465, True)):
        monkeypatch.setattr(escalation, "_BUDGET", most)
        assert escalation.is_short(_run()) is short
    monkeypatch.setattr(escalation, "_BUDGET", 465)
    for rows, short in ((116, True), (117, False)):
        data = SimpleNamespace(inputs=[np.zeros(rows), np.zeros(116)])
        assert escalation.is_short(_run(data=data)) is short


def test_enclosures_that_are_affordable(monkeypatch: pytest.MonkeyPatch) -> None:
    """The cost of enclosures depends on different rounds, clients, rows and constants of the problem."""
    data = SimpleNamespace(outputs=[[1, 2, 3], [1]])
    for repeat, given, products in ((False, None, 15 * 4 * 4), (True, None, 5 * 4 * 4), (False, data, 15 * 8 * 4)):
        monkeypatch.setattr(escalation, "rounds_repeat", lambda *_, repeat=repeat: repeat)
        for least, affordable in ((products, True), (products - 1, False)):
            monkeypatch.setattr(escalation, "_MOST_PRODUCTS", least)
            assert escalation._is_affordable(_run(data=given)) is affordable
    monkeypatch.setattr(escalation, "_MOST_PRODUCTS", 10**9)
    for least, affordable in ((2 * 16, True), (2 * 16 - 1, False)):
        monkeypatch.setattr(escalation, "_MOST_OF_CONSTANTS", least)
        assert escalation._is_affordable(_run()) is affordable
    monkeypatch.setattr(escalation, "_MOST_OF_CONSTANTS", 10**9)
    defined = _run()
    defined.algorithm.defined = 1
    for least, affordable in ((2400, True), (2399, False)):
        monkeypatch.setattr(escalation, "rounds_repeat", lambda *_: False)
        monkeypatch.setattr(escalation, "_MOST_PRODUCTS", least)
        assert escalation._is_affordable(defined) is affordable


@pytest.mark.parametrize(
    ("dimension", "cost", "long", "affordable", "hours"),
    [
        (16, 50_000_001, False, True, True),
        (15, 50_000_001, False, True, False),
        (16, 50_000_000, False, True, False),
        (1, 1, True, True, True),
        (1, 1, True, False, False),
        (16, 50_000_001, True, False, False),
    ],
)
def test_rationals_that_take_hours(
    dimension: int, cost: int, *, long: bool, affordable: bool, hours: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(escalation, "_estimate_cost", lambda _: cost)
    monkeypatch.setattr(escalation, "is_too_long_for_rationals", lambda *_: long)
    monkeypatch.setattr(escalation, "_is_affordable", lambda _: affordable)
    assert escalation._takes_hours(_run(dimension=dimension)) is hours


def _check(arithmetic: Any = FLOAT, **given: Any) -> Check:
    return Check(CLAIM, arithmetic, given.pop("applicable", True), given.pop("reason", None), **given)


def test_nearby_runs_have_to_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    """All nearby runs must have a value and agree; a run that diverges is never steady."""
    applies = {"a": NotApplicable("x"), "b": NotApplicable("x"), "c": None, "d": Diverging("far")}

    def check(_claim: Claim, run: Any, nearby: Any) -> Check:
        if nearby or applies[run.name] is not None:
            raise applies[run.name] or NotApplicable("x")
        return _check()

    monkeypatch.setattr(one_run, "_check", check)

    def guarded(name: str, *near: str) -> Check:
        run, *others = (SimpleNamespace(name=one, arithmetic=FLOAT) for one in (name, *near))
        return one_run._check_guarded(CLAIM, run, others)  # type: ignore[arg-type]

    assert (guarded("a").applicable, guarded("a").is_steady, len(guarded("a").excluded)) == (False, True, 1)
    assert [guarded("a", *near).is_steady for near in ("bb", "bc", "cb", "cc")] == [True, False, False, False]
    assert guarded("c", "c").applicable
    far = guarded("d")
    assert (far.applicable, far.diverges, far.is_steady) == (False, True, False)


def test_rates_that_nearby_runs_disagree_about(monkeypatch: pytest.MonkeyPatch) -> None:
    class Found(SimpleNamespace):
        """A rate with its answer."""

    monkeypatch.setattr(one_run, "check_rate", lambda _, run: Found(holds=run))
    monkeypatch.setattr(one_run, "replace", lambda _, **changes: Found(**changes))
    for own, near, holds in (
        (True, [True, True], True),
        (True, [True, None], None),
        (True, [None, True], None),
        (None, [], None),
    ):
        assert one_run._check_rate(CLAIM, own, near).holds is holds  # type: ignore[arg-type]


def test_conditions_that_are_left_open_in_enclosures() -> None:
    """Undecided conditions have no effect on a claim that is not applicable or whose conditions are known."""
    condition: Any = SimpleNamespace(expression=eta <= L, holds=None)
    known: Any = SimpleNamespace(expression=eta <= L, holds=True)
    for found, steady in (
        (_check(conditions=(known, condition)), False),
        (_check(conditions=(known,)), True),
        (_check(conditions=(condition,), applicable=False), True),
    ):
        assert one_run._require_certain_conditions(found).is_steady is steady


def test_exact_answers_in_the_place_of_floats(monkeypatch: pytest.MonkeyPatch) -> None:
    """Decisions and conditions are exact ones; sides are those of floats if both compare something."""
    monkeypatch.setattr(Check, "holds", property(lambda self: self.reason == "holds"))
    compared: Any = (SimpleNamespace(holds=True, ratio=0.5),)
    floats = _check(comparisons=compared, is_steady=False)
    exact = _check(RATIONAL, comparisons=compared, reason="holds")
    monkeypatch.setattr(Check, "is_decided", property(lambda self: self.reason != "open"))
    settled = escalation._merge_decision(floats, exact, "floats see nothing")
    assert settled.final_decision is not None
    assert (settled.final_decision.holds, settled.is_steady, settled.arithmetic) == (True, True, FLOAT)
    excluded = escalation._merge_decision(floats, replace(exact, applicable=False), "floats see nothing")
    assert (excluded.applicable, excluded.arithmetic) == (False, FLOAT)
    left = escalation._merge_decision(floats, replace(exact, reason="open"), "floats see nothing")
    assert (left.reason, left.is_steady) == ("floats see nothing, and open", False)
    seen = escalation._leave_undecided(_check(reason="earlier"), "later")
    assert seen.reason == "earlier"


def test_runs_of_enclosures_are_checked_alone() -> None:
    """Runs of enclosures are checked one by one, and so is a single run."""
    exact, float_, enclosed = (SimpleNamespace(arithmetic=one) for one in (RATIONAL, FLOAT, ENCLOSED))
    for runs, together in (
        ((exact, float_), True),
        ((exact,), False),
        ((exact, enclosed), False),
        ((enclosed, exact), False),
    ):
        given: Any = SimpleNamespace(runs=runs)
        assert RunsTogether._are_comparable.func(given) is together  # type: ignore[attr-defined]


def test_runs_with_fewer_entries_are_filled_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs with fewer entries are extended by their last entry, which does not change the decision."""
    by_run = import_module("verify.check.joint_comparison")
    owners, left = np.array([1, 0, 1, 1]), np.array([5.0, 9.0, 1.0, 7.0])
    monkeypatch.setattr(by_run, "_index_entries", lambda *_: (owners, left, np.full(4, 6.0), np.ones(4)))
    relation = SimpleNamespace(operator="<=", in_order=lambda one, two: (one, two))
    link: Any = SimpleNamespace(relation=relation, slack=lambda lhs, rhs: rhs - lhs)
    values, decided = compare_by_run(link, [None], 2)  # type: ignore[list-item]
    assert decided.tolist() == [[-1, 2, 2], [1, 1, -1]]
    assert values.lhs.tolist() == [[9, 9, 9], [5, 1, 7]]


@pytest.mark.parametrize("otherwise", [True, None])
def test_the_simplest_violation_that_is_confirmed(otherwise: bool | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """With constants on all of space first, then by a clear margin, then by its complexity; none that is left open."""
    monkeypatch.setattr(
        verdict, "check", lambda _, run: SimpleNamespace(holds=False if run in confirmed else otherwise)
    )
    monkeypatch.setattr(verdict, "run_table", lambda run: run)
    monkeypatch.setattr(verdict, "Witness", SimpleNamespace(from_table=lambda _, table: table))

    def outcome(name: str, everywhere: bool, ratio: float | None, size: int, holds: bool | None = False) -> Any:
        instance = SimpleNamespace(run=lambda: name)
        return SimpleNamespace(everywhere=everywhere, ratio=ratio, complexity=size, holds=holds, instance=instance)

    found = [
        outcome("ball", False, 9.0, 1),
        outcome("zero", True, None, 1),
        outcome("near", True, 1.01, 1),
        outcome("large", True, 2.0, 7),
        outcome("small", True, 2.0, 3),
        outcome("holds", True, 2.0, 0, holds=True),
    ]
    order = ["small", "large", "near", "zero", "ball"]
    decision: Any = SimpleNamespace(verdict=None, stored=None)
    for place in range(len(order) + 1):
        confirmed = set(order[place:])
        expected = order[place] if place < len(order) else None
        assert verdict._find_counterexample(CLAIM, found, decision) == expected
    stored: Any = SimpleNamespace(verdict="refuted", stored=SimpleNamespace(witness="stored"))
    assert verdict._find_counterexample(CLAIM, found, stored) == "stored"


def test_claims_that_are_searched_anyway(monkeypatch: pytest.MonkeyPatch) -> None:
    """Claims are searched if they are testable, of no paper, and no rates."""
    for testable, rate, paper, searched in (
        (True, None, None, True),
        (False, None, None, False),
        (True, 1, None, False),
        (True, None, "x", False),
    ):
        monkeypatch.setattr(verdict, "find_publisher", lambda _, paper=paper: paper)
        claim: Any = SimpleNamespace(is_testable=testable, rate=rate)
        assert verdict._is_searched_anyway(claim) is searched


def test_missing_kinds_of_instances(monkeypatch: pytest.MonkeyPatch) -> None:
    """The kinds of runs that are too few; of a rate what excludes them, where they are few."""
    monkeypatch.setattr(verdict, "count_missing_aspects", lambda _: "lacking")
    monkeypatch.setattr(verdict, "list_excluded_aspects", lambda _: "excluded")
    monkeypatch.setattr(verdict, "replace", lambda _, **changes: SimpleNamespace(**changes))
    for before, rate, thin, after, lacks in (
        ("supported", None, False, "supported", "lacking"),
        ("supported", None, True, "undecided", "lacking"),
        ("not applicable", None, True, "not applicable", "lacking"),
        ("asymptotic", 1, False, "asymptotic", {}),
        ("asymptotic", 1, True, "undecided", "excluded"),
    ):
        given: Any = SimpleNamespace(verdict=before, is_thin=thin, claim=SimpleNamespace(rate=rate))
        found = verdict._weigh(given, [])
        assert (found.verdict, found.lacking) == (after, lacks)
