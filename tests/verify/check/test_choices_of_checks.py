"""Choices of checks and verdicts against values by hand: perturbed noise, costs, cards, ladders, asked outcomes."""

from __future__ import annotations

from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import sympy as sp

from fedtheory import FLOAT, RATIONAL, Claim
from fedtheory.arithmetic import NEAR_TIE
from fedtheory.errors import NotApplicable
from fedtheory.federation.losses.noise import TwoPointNoise
from fedtheory.federation.oracles import AdditiveNoise, MiniBatch
from fedtheory.language import quantities as q
from fedtheory.runfile import parse_run
from verify import verdict as verdicts
from verify.check import comparison, escalation, perturbed_runs, rates
from verify.check.outcome import Check

_NO_DECISION: Any = SimpleNamespace(stored=None, verdict=None)
eta, T = sp.symbols("eta T", positive=True)


def test_noise_of_a_perturbed_run() -> None:
    """Variances get a factor and deviations its root; mini-batches use the perturbed data, other oracles stay."""
    array = FLOAT.array
    additive: Any = perturbed_runs._perturb_oracle(AdditiveNoise(array([2.0, 3.0])), None, 4.0)
    two_points: Any = perturbed_runs._perturb_oracle(TwoPointNoise(array([2.0, 3.0])), None, 4.0)
    assert isinstance(additive, AdditiveNoise)
    assert isinstance(two_points, TwoPointNoise)
    assert list(additive.variances) == [8.0, 12.0]
    assert list(two_points.sizes) == [4.0, 6.0]
    exact: Any = object()
    assert perturbed_runs._perturb_oracle(exact, None, 4.0) is exact
    old, new = SimpleNamespace(outputs=[[1, 2]]), SimpleNamespace(outputs=[[3, 4]])
    batches: Any = MiniBatch(old, 1, True)  # type: ignore[arg-type]
    moved: Any = perturbed_runs._perturb_oracle(batches, new, 4.0)  # type: ignore[arg-type]
    assert (moved.data, moved.batch) == (new, 1)
    assert perturbed_runs._perturb_oracle(batches, None, 4.0) is batches


@pytest.mark.parametrize(
    ("cost", "entries", "short"), [(1, 0, True), (1, None, True), (0, 1, True), (2, 0, False), (1, 2, False)]
)
def test_runs_that_are_repeated_in_no_time(
    cost: int, entries: int | None, short: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The work of the run, and the entries of its data times the dimension and one, at most the budget each."""
    budget = 3 * escalation._BUDGET
    monkeypatch.setattr(escalation, "_BUDGET", budget)
    monkeypatch.setattr(escalation, "_estimate_cost", lambda _: cost * budget)
    half = SimpleNamespace(size=0 if entries is None else entries * budget // 6)
    data = None if entries is None else SimpleNamespace(inputs=[half, half])
    run: Any = SimpleNamespace(problem=SimpleNamespace(data=data, dimension=2))
    assert escalation.is_short(run) is short


def test_a_card_has_conditions_sides_and_terms() -> None:
    """Each with the formula that it is about, in this order."""
    claim = Claim(id="t:card", lhs=q.final_suboptimality, rhs=eta, where={eta: q.local_step_size})
    worst: Any = SimpleNamespace(lhs=1.0, rhs=4.0, ratio=0.25, terms=[SimpleNamespace(latex="a+b", value=3.0)])
    condition: Any = SimpleNamespace(latex="c/d", slack=2.0)
    given: Any = SimpleNamespace(
        claim=claim,
        conditions=[condition],
        worst=worst,
        reason=None,
        decided_in="rationals",
        summary=lambda: "summary",
    )
    card = Check.card(given)
    (first, *sides, term) = card.rows
    assert [row[0] for row in sides] == ["left side", "right side", "ratio"]
    assert [row[1] for row in card.rows] == ["2", "1", "4", "0.25", "3"]
    assert first[0].startswith("slack of ")
    assert "c/d" in first[0]
    assert term[0].startswith("term ")
    assert "a+b" in term[0]
    assert "rationals" in card.facts.values()
    assert "reason" not in card.facts
    given.worst = None
    assert [row[1] for row in Check.card(given).rows] == ["2"]


@pytest.mark.parametrize(
    ("limits", "joint", "missing", "count"),
    [
        ((sp.oo,), True, 0, 0),
        ((sp.oo, sp.oo), True, 0, 1),
        ((sp.oo, sp.oo), False, 0, 0),
        ((sp.oo, 0), True, 0, 1),
        ((sp.oo, sp.oo), True, 1, 0),
    ],
)
def test_ladders_are_climbed_together(
    limits: tuple[Any, ...], joint: bool, missing: int, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A joint ladder needs conditions that hold on all its levels; its positions are powers of four."""
    ladder = SimpleNamespace(climbs_jointly=joint, jointly=lambda is_longer: (1, 2, 3, 4) if is_longer else (1, 2, 3))
    compiled = SimpleNamespace(ladders=[ladder] * len(limits))
    names = [sp.Symbol(f"v{place}") for place in range(len(limits))]
    monkeypatch.setattr(rates, "_compile", lambda _: compiled)
    monkeypatch.setattr(rates, "list_ladders", lambda _: dict(zip(names, limits, strict=True)))
    monkeypatch.setattr(
        rates, "_select_levels", lambda _, __, places: tuple(SimpleNamespace(values=one) for one in places[missing:])
    )
    for is_longer, levels in ((False, 3), (True, 4)):
        ladders = rates._measure_jointly(None, None, is_longer)  # type: ignore[arg-type]
        assert len(ladders) == count
        for ladder in ladders:
            assert ladder.variables == tuple(names)
            assert ladder.positions == tuple(4.0**place for place in range(levels))
            assert len(ladder.levels) == levels
            assert ladder.grows


@pytest.mark.parametrize("number", [0, 1])
def test_ladders_of_one_variable(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Positions are the values of this variable; it grows where its limit is infinite; too few levels are none."""
    names = sp.symbols("first second")
    ladders = [SimpleNamespace(limit=sp.oo), SimpleNamespace(limit=sp.S.Zero)]
    monkeypatch.setattr(rates, "_compile", lambda _: SimpleNamespace(ladders=ladders))
    monkeypatch.setattr(rates, "list_ladders", lambda _: dict.fromkeys(names))
    monkeypatch.setattr(rates, "_list_places", lambda *_: None)
    claim: Any = SimpleNamespace(in_words=lambda one: f"the {one}")
    values = [(1.0, 10.0), (2.0, 20.0), (3.0, 30.0), (4.0, 40.0), (5.0, 50.0), (6.0, 60.0)]
    for count in (rates._FEWEST, rates._FEWEST - 1):
        levels = tuple(SimpleNamespace(values=one) for one in values[:count])
        monkeypatch.setattr(rates, "_select_levels", lambda *_, levels=levels: levels)
        if count < rates._FEWEST:
            with pytest.raises(NotApplicable, match=f"hold on {count} runs of the ladder") as raised:
                rates._measure_ladder(claim, None, number, False)  # type: ignore[arg-type]
            assert ("the second" in str(raised.value)) is (number == 1)
        else:
            ladder = rates._measure_ladder(claim, None, number, False)  # type: ignore[arg-type]
            assert ladder.variables == (names[number],)
            assert ladder.positions == tuple(one[number] for one in values[:count])
            assert ladder.grows is (number == 0)


def _check_ladders(monkeypatch: pytest.MonkeyPatch, **given: Any) -> Any:
    first = SimpleNamespace(levels=("level",), scale=1.0, ratios=[1.0, 2.0], is_rising=given.get("rising", False))
    other = SimpleNamespace(ratios=[3.0], is_rising=False)
    starts: list[Any] = []
    constant = given.get("constant")
    value = SimpleNamespace(item=lambda: constant)
    compiled = SimpleNamespace(ladders=None, constant=None if constant is None else lambda _: value)
    monkeypatch.setattr(rates, "_compile", lambda _: compiled)
    monkeypatch.setattr(rates, "_measure_ladder", lambda *_: first)
    monkeypatch.setattr(rates, "_list_further_ladders", lambda *_: [other])
    monkeypatch.setattr(rates, "_list_places", lambda _, number, __: [(f"start of {number}",), "later"])
    monkeypatch.setattr(rates, "_run_at", lambda _, __, place: starts.append(place))
    monkeypatch.setattr(rates, "whole_run", lambda run: run)
    monkeypatch.setattr(rates, "_is_bounded", lambda ladders, stated: (len(ladders), stated))
    monkeypatch.setattr(rates, "_add_slopes", lambda ladders: ladders)
    monkeypatch.setattr(rates, "_find_rounds_variable", lambda _: T)
    monkeypatch.setattr(rates, "_select_ladders", lambda *_: ("ladders",))
    run: Any = SimpleNamespace(arithmetic=given.get("arithmetic", FLOAT))
    found = rates._check_ladders(None, run, given.get("growth"), given.get("limit"), is_longer=False)  # type: ignore[arg-type]
    return found, starts


def test_verdicts_of_ladders(monkeypatch: pytest.MonkeyPatch) -> None:
    """Constants are compared at the start of the first ladder; without one, what does not rise holds."""
    found, starts = _check_ladders(monkeypatch, constant=7.0)
    assert (found.holds, found.constant) == ((2, 7.0), 3.0)
    assert starts == [("start of 0",)]
    assert _check_ladders(monkeypatch)[0].holds is True
    assert _check_ladders(monkeypatch, rising=True)[0].holds is None


def test_a_limit_above_rounding_refutes_a_rate(monkeypatch: pytest.MonkeyPatch) -> None:
    """In floats beyond near ties of the first ladder, in rationals wherever it is not zero."""
    small = NEAR_TIE
    for arithmetic, limit, holds in (
        (FLOAT, 2 * small, False),
        (FLOAT, -2 * small, False),
        (FLOAT, small / 2, True),
        (RATIONAL, Fraction(1, 10**30), False),
        (RATIONAL, Fraction(0), True),
        (FLOAT, None, True),
    ):
        found, _ = _check_ladders(monkeypatch, arithmetic=arithmetic, limit=limit)
        assert found.holds is holds
        assert found.limit == limit


def test_exact_sides_rank_places_by_their_floats() -> None:
    """With a scale each place is exact; without one sides beyond the range of floats are divided exactly."""
    relation = SimpleNamespace(relation=SimpleNamespace(operator="<="))
    left = np.array([Fraction(1), Fraction(10) ** 300, Fraction(0)], dtype=object)
    right = np.array([Fraction(4), 3 * Fraction(10) ** 300, Fraction(0)], dtype=object)
    sizes = left + right
    values: Any = SimpleNamespace(
        scale=None, lhs=left, rhs=right, slack=right - left, link=relation, size=lambda at: sizes[at]
    )
    everywhere = np.array([True, True, True])
    expected = [-3 / 5, -1 / 2, comparison._NOTHING]
    assert list(comparison._round_tightness(values, everywhere)) == pytest.approx(expected)
    assert list(comparison._round_tightness(values, np.array([False, True, False]))) == pytest.approx([-1 / 2])
    values.scale = np.array([2.0, 2.0, 2.0])
    halves = np.array([10.0, 10.0, 10.0])
    values.lhs = values.rhs = None
    values.slack, values.size = np.array([5.0, 1.0, 0.0]), lambda at: halves[at]
    assert list(comparison._round_tightness(values, everywhere)) == pytest.approx([-0.5, -0.1, 0.0])


def _outcome(holds: bool | None, *, exact: bool = False, ratio: float = 0.5) -> Any:
    return SimpleNamespace(applicable=True, holds=holds, exact=exact, ratio=ratio, seconds=1.0, claim=None)


@pytest.mark.parametrize(
    ("rate", "outcomes", "settled"),
    [
        (None, [True, False, None], [False]),
        ("rate", [True, False, None], [False, None]),
        ("rate", [True], []),
        ("rate", [None] * 99, []),
        ("rate", [False, *[None] * 99], [False]),
    ],
)
def test_rationals_have_the_last_word_on_few(
    rate: Any, outcomes: list[bool | None], settled: list[bool | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rationals decide violations in floats, and undecided ladders if few of them are inexact."""
    asked: list[bool | None] = []
    claim = SimpleNamespace(rate=rate)
    monkeypatch.setattr(verdicts, "resolve", lambda _: claim)
    monkeypatch.setattr(verdicts, "_find_counterexample", lambda *_: None)

    def settled_by(_: Any, one: Any) -> Any:
        asked.append(one.holds)
        return one

    monkeypatch.setattr(verdicts, "_escalate", settled_by)
    monkeypatch.setattr(verdicts, "_find_tightest", lambda *_: None)
    monkeypatch.setattr(verdicts, "_choose_positive_verdict", lambda *_: "supported")
    monkeypatch.setattr(verdicts, "find_largest_ratio", lambda _: 0.5)
    found = verdicts._find_verdict("target", [_outcome(one) for one in outcomes], _NO_DECISION)
    assert sorted(asked, key=str) == sorted(settled, key=str)
    assert found.verdict == "supported"


def test_open_ladders_that_are_exact_do_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """Checks that exact numbers leave open are many, and are not repeated in vain."""
    asked: list[Any] = []
    monkeypatch.setattr(verdicts, "resolve", lambda _: SimpleNamespace(rate="rate"))
    monkeypatch.setattr(verdicts, "_find_counterexample", lambda *_: None)

    def settled_by(_: Any, one: Any) -> Any:
        asked.append(one)
        return one

    monkeypatch.setattr(verdicts, "_escalate", settled_by)
    monkeypatch.setattr(verdicts, "_find_tightest", lambda *_: None)
    monkeypatch.setattr(verdicts, "_choose_positive_verdict", lambda *_: "supported")
    monkeypatch.setattr(verdicts, "find_largest_ratio", lambda _: 0.5)
    outcomes = [*(_outcome(None, exact=True) for _ in range(verdicts._FEW_LADDERS)), _outcome(None), _outcome(True)]
    verdicts._find_verdict("target", outcomes, _NO_DECISION)
    assert len(asked) == verdicts._FEW_LADDERS + 1


def test_data_of_other_units() -> None:
    """Curvatures times four, lengths times three: inputs twice as large, outputs six times, the ridge four times."""
    table = {"kind": "least-squares", "inputs": [[["1"], ["2"]]], "outputs": [["5", "7"]], "ridge": "1/8"}
    run = parse_run({"problem": table, "algorithm": {"local_step_size": "1/4", "rounds": 1}}, FLOAT)
    assert run.problem.data is not None
    moved = perturbed_runs._perturb_data(run.problem.data, 4.0, 3.0)
    assert (moved.inputs[0].tolist(), moved.outputs[0].tolist()) == ([[2.0], [4.0]], [30.0, 42.0])
    assert float(moved.ridge) == 0.5
