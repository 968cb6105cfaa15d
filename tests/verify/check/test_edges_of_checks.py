"""Parts of checks and verdicts against values by hand: ties, orders, worst places, few instances."""

from __future__ import annotations

import math
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from claim_symbols import WHERE, D, L, eta
from flint import fmpq

from fedtheory.arithmetic import FLOAT, RATIONAL
from fedtheory.kernel.expressions import Average
from fedtheory.language.claim import Claim, Relation
from verify import verdict
from verify.check.comparison import compute_ratio, find_tightest_places
from verify.check.decision import decide_by_values
from verify.check.dependencies import Dependencies
from verify.check.joint_checks import (
    _combine_worst,
    _convert_to_float,
    _find_worst_by_run,
    _has_batches,
    _make_sort_key,
)
from verify.check.links import CompiledRelation
from verify.check.monte_carlo import _compute_interval, _decide, _differ
from verify.check.outcome import Check, is_everywhere, rank_unclearness
from verify.check.sides import Values
from verify.check.stationary_orders import _expand_mean_distance_sq

RATIO = (None, 0.5, 1.0, 1.09, 1.1, 4.0)


def _link(operator: str = "<=") -> Any:
    relation = Relation(eta, operator, L)
    nothing: Any = None
    return CompiledRelation(relation, nothing, nothing)


def test_margins_of_violations() -> None:
    assert [rank_unclearness(ratio) for ratio in RATIO] == [2, 1, 1, 1, 0, 0]
    assert is_everywhere({})
    assert not is_everywhere({"a": "a ball"})


def test_ratios_of_sides() -> None:
    """A ratio is the side that is claimed to be smaller over the other; equations and negative sides have none."""
    one, two, none = fmpq(1), fmpq(2), fmpq(0)
    assert [compute_ratio(_link(op), one, two) for op in ("<=", "<", ">=", ">", "==")] == [
        fmpq(1, 2),
        fmpq(1, 2),
        2,
        2,
        None,
    ]
    assert compute_ratio(_link(), one, none) is None
    assert compute_ratio(_link(), one, -two) is None
    assert compute_ratio(_link(), none, two) == 0


def _values(lhs: list[Any], rhs: list[Any], operator: str = "<=", scale: Any = None) -> Values:
    arrays = [np.array(side, dtype=object if scale is None else float) for side in (lhs, rhs)]
    return Values(_link(operator), *arrays, None if scale is None else np.array(scale))


@pytest.mark.parametrize(
    ("operator", "decided"),
    [("<=", [1, 1, -1]), ("<", [1, -1, -1]), (">=", [-1, 1, 1]), (">", [-1, -1, 1]), ("==", [-1, 1, -1])],
)
def test_decisions_of_rationals(operator: str, decided: list[int]) -> None:
    one, two = fmpq(1), fmpq(2)
    assert list(decide_by_values(_values([one, two, two], [two, two, one], operator))) == decided


@pytest.mark.parametrize(
    ("operator", "decided"), [("<=", [1, 0, -1, 1]), ("<", [1, 0, -1, -1]), ("==", [-1, 0, -1, 1])]
)
def test_decisions_of_floats(operator: str, decided: list[int]) -> None:
    """A gap of rounding decides nothing, where there is something to be rounded; NaN decides nothing at all."""
    found = _values([1.0, 1.0, 2.0, 0.0], [2.0, 1.0 + 1e-15, 1.0, 0.0], operator, [3.0, 2.0, 3.0, 0.0])
    assert list(decide_by_values(found)) == decided
    assert list(decide_by_values(_values([math.nan], [1.0], operator, [1.0]))) == [0]


def test_the_tightest_place() -> None:
    """The tightest place is a violation, then an undecided place, then the place of the smallest relative gap."""
    zero, one, two, ten = fmpq(0), fmpq(1), fmpq(2), fmpq(10)

    def tightest(lhs: list[Any], rhs: list[Any], operator: str = "<=") -> int:
        found = _values(lhs, rhs, operator)
        return int(find_tightest_places(found, decide_by_values(found)))

    assert tightest([one, one, zero], [ten, two, zero]) == 1
    assert tightest([zero, one], [zero, ten]) == 1
    assert tightest([one, two, one], [two, two, two]) == 1
    assert tightest([one, ten, two], [two, two, one]) == 1
    assert tightest([one, ten, two], [two, two, one], "==") == 1
    assert tightest([-two, -ten], [one, -one]) == 1


def test_several_relations_and_runs() -> None:
    """The worst relation decides: violations first, then the larger ratio."""
    worst = [(1, 0.5), (-1, 2.0), (-1, None), (-1, 3.0), (1, 0.9), (1, None)]
    assert sorted(worst, key=_make_sort_key) == [(-1, 3.0), (-1, 2.0), (-1, None), (1, 0.9), (1, 0.5), (1, None)]
    claim: Any = Claim(id="t:one", lhs=eta, rhs=1, where=WHERE)
    run: Any = None
    assert _combine_worst(claim, run, [(1, 0.5), (0, None)]) is None
    holds, fails = _combine_worst(claim, run, [(1, 0.5), (1, 0.7)]), _combine_worst(claim, run, [(1, 0.5), (-1, 1.5)])
    assert holds is not None
    assert fails is not None
    assert (holds.holds, holds.ratio, fails.holds, fails.ratio) == (True, 0.7, False, 1.5)
    one, two, ten = fmpq(1), fmpq(2), fmpq(10)
    values = _values([[one, one], [two, ten]], [[ten, two], [two, two]])
    assert _find_worst_by_run(values, decide_by_values(values)) == [(1, 0.5), (-1, 5.0)]
    single = _values([[one], [ten]], [[ten], [two]])
    assert _find_worst_by_run(single, decide_by_values(single)) == [(1, 0.1), (-1, 5.0)]
    assert _find_worst_by_run(single, np.array([[0], [-1]])) == [(0, None), (-1, 5.0)]
    assert (_convert_to_float(None), _convert_to_float(fmpq(1, 2))) == (None, 0.5)


def test_claims_that_are_evaluated_together() -> None:
    for rate, relations, together in ((None, (1,), True), (None, (), False), (1, (1,), False)):
        claim: Any = SimpleNamespace(rate=rate, relations=relations, choice_conditions=())
        assert _has_batches(claim) is together


def _check(*holds: tuple[bool | None, float | None], **given: Any) -> Check:
    compared: Any = tuple(SimpleNamespace(holds=one, ratio=ratio) for one, ratio in holds)
    claim = Claim(id="t:one", lhs=eta, rhs=1, where=WHERE)
    usual: dict[str, Any] = {"arithmetic": RATIONAL, "applicable": True, "reason": None, **given}
    return Check(claim, comparisons=compared, **usual)


def test_the_comparison_that_decides() -> None:
    """A violated link, else an undecided one, else the tightest; one without a ratio is the least tight."""
    assert _check((True, 9.0), (False, 0.1), (None, 1.0)).holds is False
    assert _check((True, 9.0), (None, 1.0)).holds is None
    assert _check((True, 0.1), (True, 0.7), (True, None)).ratio == 0.7
    assert _check((False, None), (False, 2.0)).ratio == 2.0
    assert (_check().holds, _check().ratio) == (None, None)
    for changes in ({"applicable": False}, {"is_steady": False}):
        assert _check((True, 0.5), **changes).holds is None
    final: Any = SimpleNamespace(holds=False, by="by hand")
    assert _check((True, 0.5), final_decision=final).holds is False
    assert _check((True, 0.5), final_decision=final).decided_in == "by hand"
    assert _check((True, 0.5)).decided_in == f"in {RATIONAL.numbers}"
    assert (_check((True, 0.5), bits=99).decided_in or "").endswith(" of 99 bits")
    assert _check((None, 0.5)).decided_in is None


def test_checks_that_rounding_has_no_say_in() -> None:
    """Checks that do not apply or compare nothing, that hold, and violations in rationals with no condition open."""
    open_condition: Any = (SimpleNamespace(holds=None),)
    known: Any = (SimpleNamespace(holds=True),)
    for holds, given, decided in (
        ((True, 0.5), {}, True),
        ((True, 0.5), {"arithmetic": FLOAT}, True),
        ((False, 2.0), {}, True),
        ((False, 2.0), {"arithmetic": FLOAT}, False),
        ((None, 1.0), {}, False),
        ((None, 1.0), {"applicable": False}, True),
        ((True, 0.5), {"is_steady": False}, False),
        ((True, 0.5), {"conditions": open_condition}, False),
        ((True, 0.5), {"conditions": known}, True),
    ):
        assert _check(holds, **given).is_decided is decided
    assert _check().is_decided
    rate: Any = SimpleNamespace(holds=None)
    assert not _check(rate=rate).is_decided


def test_dependencies_of_expressions() -> None:
    """Quantities of a run, and clients where means over them are taken; the largest shapes count."""
    claim = Claim(id="t:one", lhs=eta * L * D, rhs=1, where=WHERE)
    plain = Dependencies.from_expressions([eta * L, D], claim)
    assert ({one.name for one in plain.quantities}, plain.counts_clients) == (
        {"local_step_size", "smoothness", "initial_distance"},
        False,
    )
    assert Dependencies.from_expressions([eta, Average(eta)], claim).counts_clients
    assert Dependencies.from_expressions([], claim).quantities == ()
    one, two = (SimpleNamespace(on=lambda _, shape=shape: np.zeros(shape)) for shape in ((3, 1, 2), (1, 5, 1)))
    scalar = SimpleNamespace(on=lambda _: 7)
    given: Any = (one, two, scalar)
    memo = SimpleNamespace(compute_once=lambda _, build: build())
    run: Any = SimpleNamespace(memo=memo, problem=SimpleNamespace(clients=4))
    asked = Dependencies(given, counts_clients=True)
    assert (asked.size(run), asked.find_kind(run)) == ((3, 5), ((2, 1, 1), 4))
    assert Dependencies((), counts_clients=False).size(run) == (1, 1)
    assert Dependencies(given, counts_clients=False).find_kind(run) == ((2, 1, 1), None)


def test_the_square_of_a_series_of_vectors() -> None:
    """(1, 2) + (3, 4) h: 5 + 22 h + ..., up to the power that is known."""
    moments: Any = [np.array([[1, 0, 0], [a, 0, 0], [b, 0, 0]], dtype=object) for a, b in ((1, 2), (3, 4), (0, 1))]
    assert _expand_mean_distance_sq(None, moments) == [5, 22, 25 + 2 * 2]  # type: ignore[arg-type]


def test_intervals_of_replicas_decide(monkeypatch: pytest.MonkeyPatch) -> None:
    """A claim holds where the whole interval of its slack is positive; nothing is refuted."""
    for operator, slack, holds, words in (
        ("<=", (0.1, 0.2), True, "by Monte-Carlo"),
        ("<=", (0.0, 0.2), None, "the interval contains the bound"),
        ("<=", (-0.2, 0.0), None, "the interval contains the bound"),
        ("<=", (-0.2, -0.1), None, "looks violated"),
        ("==", (0.0, 0.2), None, "agrees"),
        ("==", (-0.2, 0.0), None, "agrees"),
        ("==", (0.1, 0.2), None, "looks violated"),
        ("==", (-0.2, -0.1), None, "looks violated"),
    ):
        found = _decide(operator, slack, 30)
        assert found.holds is holds
        assert found.reason.startswith(words)
    assert [_differ(np.array(groups), 1.0) for groups in ([1.0, 1.0], [1.0, 1 + 1e-13], [1.0, 1.1])] == [
        False,
        False,
        True,
    ]
    spread = SimpleNamespace(mean=np.array([2.0]), high=np.array([2.5]))
    monkeypatch.setattr(import_module("verify.check.monte_carlo"), "estimate_of", lambda *_: spread)
    assert _compute_interval(np.array([1.0, 3.0]), 7.0) == (6.5, 7.5)


def _outcome(holds: bool | None, applicable: bool = True) -> Any:
    return SimpleNamespace(holds=holds, applicable=applicable)


def test_when_no_more_instances_are_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    """One instance ends a sample; other checks end after enough instances without an exception."""
    monkeypatch.setattr(verdict, "are_enough", lambda _, applicable: len(applicable) >= 2)
    for outcomes, sampled, enough in (
        ([], True, False),
        ([_outcome(None, applicable=False)], True, False),
        ([_outcome(False)], True, True),
        ([_outcome(True)], False, False),
        ([_outcome(True), _outcome(True)], False, True),
        ([_outcome(True), _outcome(True), _outcome(None)], False, False),
        ([_outcome(True), _outcome(True), _outcome(False, applicable=False)], False, True),
        ([_outcome(True), _outcome(True, applicable=False)], False, False),
    ):
        claim: Any = None
        assert verdict._has_enough(claim, outcomes, sampled) is enough


@pytest.mark.parametrize(
    ("outcomes", "rate", "decision", "expected"),
    [
        ([True, None], None, "proved", "undecided"),
        ([True], None, "definition", "definition"),
        ([], None, "definition", "definition"),
        ([], None, "proved", "not applicable"),
        ([True], 1, "proved", "asymptotic"),
        ([True], None, "proved", "proved"),
        ([True], None, None, "supported"),
    ],
)
def test_verdicts_without_a_violation(outcomes: list[bool | None], rate: Any, decision: Any, expected: str) -> None:
    claim: Any = SimpleNamespace(rate=rate)
    decided: Any = SimpleNamespace(verdict=decision)
    assert verdict._choose_positive_verdict(claim, [_outcome(holds) for holds in outcomes], decided) == expected


def test_verdicts_after_searches(monkeypatch: pytest.MonkeyPatch) -> None:
    """A proof without a search for a violation proves; a violation refutes, and what is left open is undecided."""
    monkeypatch.setattr(verdict, "replace", lambda given, **changes: SimpleNamespace(**{**vars(given), **changes}))
    monkeypatch.setattr(
        verdict, "_add_witness", lambda given, table, _: SimpleNamespace(**{**vars(given), "run": table})
    )

    def after(before: str, **found: Any) -> Any:
        usual = {"looked": 5, "regimes": (), "pairs": None, "counterexample": None, "left_open": 0}
        violation = SimpleNamespace(**{**usual, **found}) if found else None
        searches: Any = SimpleNamespace(proof="found", violation=violation)
        given: Any = SimpleNamespace(verdict=before)
        return verdict._add_searches(given, searches)

    assert [after(before).verdict for before in ("supported", "undecided", "asymptotic")] == [
        *("proved", "proved", "asymptotic"),
    ]
    assert after("supported").found_proof == "found"
    refuted = after("supported", counterexample={"a": 1})
    assert (refuted.verdict, refuted.run, refuted.searched) == ("refuted", {"a": 1}, 5)
    open_one, none = after("supported", left_open=2), after("supported", left_open=0)
    assert (open_one.verdict, open_one.left_open, none.verdict) == ("undecided", 2, "supported")
