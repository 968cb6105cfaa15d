"""Violations of the search by regimes: made lighter, decided in order, with their gaps and kinds by hand."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import pytest
from claim_symbols import WHERE, eta

from fedtheory import assumptions, quantities
from fedtheory.arithmetic import FLOAT
from fedtheory.language.claim import Claim
from fedtheory.runfile import parse_run
from verify.check import check
from verify.falsify.regimes import confirmation, violations
from verify.falsify.regimes.evaluation import Seen
from verify.falsify.regimes.factors import BASE
from verify.falsify.regimes.violations import SETTLED, Violations, _classify, _compute_relative_gap, _has_zero_side
from verify.falsify.run_tables import CheckedRun


def test_a_lighter_violation_keeps_its_margin(monkeypatch: pytest.MonkeyPatch) -> None:
    """A lighter violation is the lightest of the runs with less than four fifths of the work, or the first tiny one."""
    monkeypatch.setattr(confirmation, "estimate_exact_work", lambda table: table["work"])

    def point(work: float, score: float = 1.0, holds: bool | None = False) -> Seen:
        return Seen({"name": work}, score, {"work": work}, holds)

    def best(*others: Seen) -> float | None:
        monkeypatch.setattr(confirmation, "_list_shorter", lambda _: iter(others))
        found = confirmation._choose_best(point(10.0), 0.03, lambda seen: seen)  # type: ignore[arg-type,return-value]
        return None if found is None or found.table is None else found.table["work"]

    assert best() is None
    assert best(point(9.0), point(8.0)) is None
    assert best(point(7.9), point(3.0), point(5.0)) == 3.0
    assert best(point(3.0, 0.03), point(5.0)) == 5.0
    assert best(point(3.0, holds=True), point(4.0, holds=None), point(5.0)) == 5.0
    assert best(point(5.0), point(0.8), point(0.1)) == 0.8
    assert best(point(5.0), point(0.9), point(0.1)) == 0.1


def test_violations_are_made_lighter_while_they_are_heavy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Violations are made lighter down to a fifth of a second, at most 24 times, with at least half of the score."""
    monkeypatch.setattr(confirmation, "estimate_exact_work", lambda table: table["work"])
    least: list[float] = []

    def lighter(works: list[float], score: float, until: float = math.inf) -> float:
        steps = iter(works)

        def best(_seen: Seen, margin: float, _look: Any) -> Seen | None:
            least.append(margin)
            work = next(steps, None)
            return None if work is None else Seen({}, score, {"work": work}, False)

        monkeypatch.setattr(confirmation, "_choose_best", best)
        found = confirmation._find_lighter(Seen({}, score, {"work": 9.0}, False), None, until)  # type: ignore[arg-type]
        assert found.table is not None
        return float(found.table["work"])

    assert lighter([5.0, 0.2, 0.1], 1.0) == 0.2
    assert lighter([5.0], 0.02) == 5.0
    assert lighter([5.0], -3.0) == 5.0
    assert lighter([5.0], 1.0, -1.0) == 9.0
    assert set(least) == {0.03, 0.01, -4.0}
    least.clear()
    assert lighter([9.0 - n / 100 for n in range(99)], 1.0) == 9.0 - 23 / 100


def test_shorter_points() -> None:
    """Points become shorter by horizons, then by fewer clients and steps, and by curvatures that differ less."""
    found = list(confirmation._list_shorter({"horizon": ("L", 5), "clients": 3, "step size": -3, "conditioning": None}))
    horizons = [("L", 1), ("L", 3), ("L", 4), ("L", 2), ("L", 0), ("T", 0), ("T", 6)]
    assert [point["horizon"] for point in found[:7]] == horizons
    assert [point["clients"] for point in found[7:10]] == [0, 1, 2]
    assert [point["step size"] for point in found[10:]] == [0, -1, -2]
    (mixed,) = list(confirmation._list_shorter({"horizon": ("L", 5), "mixing": 0}))[7:]
    assert mixed["mixing"] == 0


def _violation(gap: float, kind: str = "n", work: float = 0.0, **levels: Any) -> Seen:
    point = {"sources": kind, **levels}
    return Seen(point, 1.0, {"work": work}, False, (1.0, 1.0 - gap))


@pytest.fixture
def meeting(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Violations of which the first ones that are decided hold."""
    decided: list[Seen] = []

    def confirm(_claim: Claim, seen: Seen, _look: Any, _until: float) -> Any:
        decided.append(seen)
        return CheckedRun({}, SimpleNamespace(applicable=True, holds=seen.point.get("holds", True)))

    monkeypatch.setattr(violations, "confirm", confirm)
    monkeypatch.setattr(violations, "decide_table", lambda _, __: None)
    monkeypatch.setattr(violations, "estimate_exact_work", lambda table: table["work"])
    monkeypatch.setattr(violations, "_is_steady", lambda _, table: table["work"] >= 0)
    return Violations(Claim(id="t:met", lhs=eta, rhs=1, where=WHERE), 1.0, None), decided  # type: ignore[arg-type]


def test_the_first_violation_of_a_kind_is_decided_at_once(meeting: Any) -> None:
    """The first violation of a kind is decided at once; others wait, those of the least decided kinds first."""
    met, decided = meeting
    first, again, unclear, other = _violation(0.5), _violation(0.5, work=9.0), _violation(0.1), _violation(0.5, "s")
    for one in (first, first, again, unclear, other):
        met.meet(one)
    assert decided == [first, other]
    assert (met.left_open, first.score, again.score) == (2, SETTLED, 1.0)
    weighted = _violation(0.5, weights="one tiny")
    met.meet(weighted)
    assert decided[2:] == [weighted]
    met.decide_open(1)
    assert decided[3:] == [unclear, again]
    assert met.left_open == 0
    assert met.found is None


def test_waiting_runs_are_decided_until_a_violation(meeting: Any) -> None:
    met, decided = meeting
    for one in (_violation(0.5), _violation(0.5, holds=False), _violation(0.4)):
        met.meet(one)
    met.decide_open(0)
    assert len(decided) == 1
    met.decide_open(1)
    assert (len(decided), met.left_open) == (2, 1)
    assert met.found is not None
    met.meet(Seen({"sources": "p"}, 1.0, None, False))
    met.is_deciding = True
    met.meet(_violation(0.5, "p"))
    assert len(decided) == 2


def test_ties_of_a_kind_are_decided_once(meeting: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ties that take no time are decided by their work; floats see no violation in them."""
    met, _ = meeting
    tried: list[Any] = []
    monkeypatch.setattr(violations, "decide_table", lambda _, table: tried.append(table))
    monkeypatch.setattr(violations, "_is_steady", lambda _, __: False)
    for tie in (_violation(0.5), _violation(0.5), _violation(0.5, "s", work=0.21), _violation(0.5, "s", work=0.2)):
        met.meet(tie)
        assert (tie.holds, tie.score) == (None, SETTLED)
    assert [table["work"] for table in tried] == [0.0, 0.2]
    met._of_ties = 0.0
    met.meet(_violation(0.5, "p"))
    assert (len(tried), met.left_open) == (2, 0)


def test_work_of_ties_and_of_violations_is_counted(meeting: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A fifth of the work is for ties, half of it for violations that are decided at once; the rest wait."""
    met, decided = meeting
    work = iter([*(0.0, 0.15), *(0.25, 0.375), *(2.0, 2.25), *(3.0, 3.5), *(4.0, 4.0)])
    monkeypatch.setattr(violations, "measure_work", lambda: next(work))
    tried: list[Any] = []
    monkeypatch.setattr(violations, "decide_table", lambda _, table: tried.append(table["work"]))
    ties = [_violation(0.5, kind, work=cost) for kind, cost in (("n", -0.1), ("s", -0.2), ("p", -0.3))]
    for tie, left in zip(ties, (0.05, -0.075, -0.325), strict=True):
        met.meet(tie)
        assert met._of_ties == pytest.approx(left)
    assert tried == [-0.1, -0.2]
    for clear in [_violation(0.5, kind) for kind in "abc"]:
        met.meet(clear)
    assert [seen.point["sources"] for seen in decided] == ["a"]
    assert (met._spent, met.left_open) == (0.5, 2)


def test_sides_that_are_hardly_the_wrong_way_round() -> None:
    """Only sides that differ by more than the last digits are decided; runs for other claims are not."""
    claim = Claim(id="t:twice", lhs=eta, rhs=2 * eta, where=WHERE)
    met = Violations(claim, 1.0, None)  # type: ignore[arg-type]
    seen = [Seen({**BASE}, score, {}, None, sides) for score, sides in ((1e-7, (2.0, 1.0)), (1.0, (1.0, 1.0)))]
    seen += [Seen({**BASE}, 1.0, None, None, (2.0, 1.0)), Seen({**BASE}, 1.0, {}, None, None)]
    for one in seen:
        met.meet_unclear(one)
    assert [one.score for one in seen] == [1e-7, 1.0, 1.0, 1.0]
    met.is_deciding = True
    met.meet_unclear(Seen({**BASE}, 1.0, {}, None, (2.0, 1.0)))
    assert met.found is None


def test_gaps_and_kinds_of_violations() -> None:
    """A gap is a share of the larger side, positive and at most one; a side of zero is its own kind."""

    def gap(sides: tuple[float, float] | None, score: float = 0.0) -> float:
        return _compute_relative_gap(Seen({}, score, {}, False, sides))

    tiny = math.ulp(1.0)
    assert [gap(sides) for sides in ((4.0, 1.0), (-1.0, -4.0), (1.0, -1.0))] == [0.75, 0.75, 1.0]
    assert [gap(sides) for sides in ((1.0, 4.0), (0.0, 0.0), (math.inf, 1.0), (1.0, 1.0))] == [tiny] * 4
    assert [gap(None, score) for score in (5.0, 0.0, math.log(0.25), -99.0)] == [1.0, 1.0, 0.25, tiny]
    seen = Seen({"sources": "n", "loss": None}, 1.0, {}, False, (1.0, 0.0))
    assert _has_zero_side(seen)
    assert not _has_zero_side(Seen({}, 1.0, {}, False, None))
    assert not _has_zero_side(Seen({}, 1.0, {}, False, (1.0, 2.0)))
    assert _classify(seen) == (True, "n", *["None"] * 7)
    assert _classify(Seen({"sources": "n", "clock": "buffer"}, 1.0, {}, False))[-2] == "buffer"


@pytest.mark.parametrize(("centres", "stands"), [(["0", "0", "0"], False), (["0", "0", "1024"], True)])
def test_models_one_unit_in_the_last_place_apart_are_a_tie(centres: list[str], stands: bool) -> None:
    """Equal clients end a step at one model; with floats they may be a unit apart, whatever else is perturbed."""
    terms = [[{"coordinate": 0, "weight": "1", "centre": centre, "width": "1"}] for centre in centres]
    table = {
        "problem": {"kind": "huber", "terms": terms, "start": ["64"]},
        "algorithm": {"local_step_size": "1/512", "rounds": 4, "local_steps": 8},
    }
    drift = Claim(id="mine:drift", lhs=quantities.max_drift, rhs=0)
    found = check(drift, parse_run(table, FLOAT))
    assert found.worst is not None
    assert found.worst.lhs > found.worst.rhs
    assert violations._is_steady(drift, table) is stands


def test_the_work_of_decisions_adds_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """The work of a decision is counted from its beginning to its end; the next one may take the rest."""
    clock = iter([5.0, 7.0, 7.5, 8.0])
    until: list[float] = []
    monkeypatch.setattr(violations, "measure_work", lambda: next(clock))
    monkeypatch.setattr(violations, "confirm", lambda _claim, _seen, _look, end: until.append(end))
    search = Violations(None, 2.25, lambda _: None)  # type: ignore[arg-type,return-value]
    for spent, left_open in ((2.0, 1), (2.5, 2)):
        search._decide(violations._Open(Seen({}, 2.0, {}, False), ("kind",), 1.0))
        assert (search._spent, search.left_open, search.is_deciding) == (spent, left_open, False)
    assert until == [5.0 + 2.25, 7.5 + max(0.25, violations._EASY)]
    assert search._tried[("kind",)] == 2


def test_rounding_of_models_between_distant_minimisers_is_a_tie() -> None:
    """Momentum tends to the optimum, where it starts; floats leave an error of models near the clients' minimisers."""
    hessians = [[["513/512", f"{side}/9216"], [f"{side}/9216", "174913/84934656"]] for side in (95, -95)] * 16
    linear = [["1", "0"]] + [["-1/31", "0"]] * 31
    rule = {"name": "fedavgm", "momentum": "127/128", "nesterov": False, "local_step_size": "83/2752512", "rounds": 4}
    table = {
        "problem": {"kind": "quadratic", "hessians": hessians, "linear": linear, "start": ["0", "0"]},
        "algorithm": rule,
    }
    limit = Claim(id="mine:limit", lhs=quantities.limiting_distance_sq, rhs=0, assumptions=[assumptions.heavy_ball])
    assert check(limit, parse_run(table, FLOAT)).applicable
    assert not violations._is_steady(limit, table)


@pytest.mark.parametrize(("hessian", "expected"), [("1/2", 8.0), ("0", 3.0)])
def test_models_move_between_start_and_minimisers(hessian: str, expected: float) -> None:
    """A client without a minimiser has none that is far away."""
    problem = {"kind": "quadratic", "hessians": [[["1"]], [[hessian]]], "linear": [["1"], ["-4"]], "start": ["3"]}
    run = parse_run({"problem": problem, "algorithm": {"local_step_size": "1/8", "rounds": 1}}, FLOAT)
    assert violations._measure_models(run) == pytest.approx(expected)
