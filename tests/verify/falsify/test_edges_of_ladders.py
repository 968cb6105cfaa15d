"""Ladders, words of limits, and bounds of the searches against values by hand."""

from __future__ import annotations

from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import pytest
import sympy as sp
from claim_symbols import WHERE, D, L, eta
from flint import fmpq

from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from verify.check.growth import _format_power
from verify.check.ladders import _LOCAL_STEPS_OF_ITERATIONS, LADDERS
from verify.check.measured_ladders import MeasuredLadder, RateCheck
from verify.falsify import instance_search
from verify.falsify.instance_search import _choose, find_simplest_violation
from verify.falsify.rays import ScaledRun, _bound_step
from verify.falsify.run_tables import Table
from verify.falsify.shrink import _Shrinking, is_clear
from verify.falsify.simple_numbers import list_simpler

ALL_LADDERS = {**LADDERS, "local steps of iterations": _LOCAL_STEPS_OF_ITERATIONS}


@pytest.mark.parametrize("name", ALL_LADDERS)
def test_levels_are_four_times_apart(name: str) -> None:
    ladder = ALL_LADDERS[name]
    for levels in ((*ladder.levels, *ladder.longer), ladder.beside, ladder.longer_beside):
        assert list(levels) == [levels[0] * 4**place for place in range(len(levels))]
    assert ladder.levels[0] == (16 if name == "iterations" else 1)


def test_powers_in_words() -> None:
    powers = [Fraction(0), Fraction(1), Fraction(2), Fraction(1, 2), Fraction(-1), Fraction(-3), Fraction(-3, 2)]
    assert [_format_power("T", power) for power in powers] == [
        *("", " * T", " * T^2", " * T^(1/2)"),
        *(" / T", " / T^3", " / T^(3/2)"),
    ]


def test_only_ladders_that_rise_are_evidence() -> None:
    """Rising ladders are named, in order; none is named if none rises or if the rate holds."""

    def ladder(name: str, rises: bool) -> Any:
        return SimpleNamespace(is_rising=rises, describe_rise=lambda _: f"{name} rises")

    ladders = (ladder("a", True), ladder("b", False), ladder("c", True))
    assert RateCheck(None, (), 1.0, None, ladders).reason(str) == "a rises; c rises: evidence against"
    assert RateCheck(None, (), 1.0, None, ladders[1:2]).reason(str) is None
    assert RateCheck(True, (), 1.0, None, ladders).reason(str) is None
    assert (
        RateCheck(False, (), 1.0, None, ladders).reason(str)
        == "a run of the ladder is above the stated constant times the order"
    )


def test_rises_in_words() -> None:
    """In powers of the one variable towards its limit, or of the factor that several have."""
    x, y = sp.symbols("x y")
    assert MeasuredLadder((x,), (), (), grows=True, rise=0.5).describe_rise(str) == "the ratio rises like x^0.50"
    assert MeasuredLadder((x,), (), (), grows=False, rise=0.5).describe_rise(str) == "the ratio rises like x^-0.50"
    assert MeasuredLadder((x, y), (), (), grows=True, rise=1.25).describe_rise(str) == (
        "the ratio rises like c^1.25 as x and y come c times closer to their limits"
    )


def _table(count: int, steps: int, rounds: int) -> Table:
    problem = {
        "kind": "quadratic",
        "hessians": [[[fmpq(1)]]] * count,
        "linear": [[fmpq(0)]] * count,
        "start": [fmpq(1)],
    }
    return {"problem": problem, "algorithm": {"local_step_size": fmpq(1, 4), "local_steps": steps, "rounds": rounds}}


def test_the_room_of_a_step() -> None:
    """Counts are halved down to one; clients as often as they were doubled, and up to 512; the box bounds the rest."""
    names = ["noise", "local steps", "rounds", "clients"]
    for powers, box, low, high in (
        ({}, 4, [-4, -3, -2, 0], [4, 4, 4, 4]),
        ({"clients": 2}, 4, [-4, -3, -2, -2], [4, 4, 4, 4]),
        ({"clients": 2}, 1, [-1, -1, -1, -1], [1, 1, 1, 1]),
        ({}, 9, [-9, -3, -2, 0], [9, 9, 9, 8]),
    ):
        table = _table(2, 8, 4)
        room = _bound_step(ScaledRun(table, powers), table, names, box, 4096)
        assert (list(room.low), list(room.high)) == (low, high)
        assert room.sums.tolist() == [[0, 1, 1, 0], [0, 1, 1, 1]]
        assert room.most[0] == 7


@pytest.mark.parametrize(
    ("kind", "fresh", "reached", "expected"),
    [
        *((kind, ["f0"], ["r0"], "f0" if kind < 3 else "r0") for kind in range(4)),
        *((kind, ["f0"], [], "f0") for kind in range(4)),
        *((kind, [], ["r0"], "r0") for kind in range(4)),
        *((kind, [], [], None) for kind in range(4)),
        (0, ["f0", "f1"], [], "f0"),
        (2, ["f0", "f1"], [], "f1"),
        (1, [], ["r0", "r1"], "r0"),
        (3, [], ["r0", "r1"], "r1"),
    ],
)
def test_starts_of_local_searches(kind: int, fresh: list[str], reached: list[str], expected: str | None) -> None:
    """Three times in four from a new run, else from what was reached; half of the time from the best one."""
    draws = iter([kind, 1 if len(fresh) > 1 or len(reached) > 1 else 0])
    state: Any = SimpleNamespace(fresh=[*fresh], reached=[*reached])
    generator: Any = SimpleNamespace(integers=lambda _: next(draws))
    assert _choose(state, generator) == expected
    assert state.fresh == [one for one in fresh if one != expected]
    assert state.reached == reached


def test_when_small_runs_are_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    """After 16 violations, or after 32 runs beside the first clear one, or in time; the simplest clear one is given."""

    def seen(ratios: list[float], deadline: float = float("inf")) -> tuple[int, Any]:
        runs = (
            (_table(1 + n % 2, 1, 1), SimpleNamespace(applicable=True, holds=r <= 1, ratio=r))
            for n, r in enumerate(ratios)
        )
        monkeypatch.setattr(instance_search, "_list_small_runs", lambda *_: runs)
        found = find_simplest_violation(Claim(id="t:runs", lhs=eta, rhs=L, where=WHERE), 0, deadline)
        return found.looked, found.table

    assert seen([0.5] * 99) == (99, None)
    assert seen([1.01] * 99)[0] == 16
    assert seen([2.0] * 15 + [0.5] * 99)[0] == 33
    assert seen([0.5] * 7 + [2.0] + [0.5] * 99)[0] == 7 + 33
    assert seen([0.5] * 99, deadline=-1.0)[0] == 1
    assert seen([1.01, 2.0])[1] == _table(2, 1, 1)


def test_violations_that_convince() -> None:
    """A violation convinces if it is exact, has a clear margin, and its constants hold on all of space."""
    table = _table(2, 1, 2)

    def clear(left: Any, right: Any) -> bool:
        where = WHERE | {q.second_moment.symbol: q.second_moment}
        return is_clear(Claim(id="t:clear", lhs=left, rhs=right, where=where), table)

    assert clear(9 * eta, eta)
    assert not clear(eta, 9 * eta)
    assert not clear(101 * eta / 100, eta)
    assert not clear(eta, 0 * eta)
    assert not clear(9 * (eta + q.second_moment.symbol), eta)
    assert clear(9 * (eta + D), eta)


def test_each_simpler_number_is_tried() -> None:
    """The first simpler number that keeps the violation is used; an entry that no longer exists is skipped."""
    table, tried = _table(2, 1, 2), list[fmpq]()
    table["problem"]["start"] = [fmpq(7, 9)]

    def keeps(wanted: fmpq | None) -> Any:
        def tries(other: Table) -> bool:
            tried.append(other["problem"]["start"][0])
            return tried[-1] == wanted

        return SimpleNamespace(table=table, _tries=tries)

    key, options = "problem.start", [*list_simpler(fmpq(7, 9))]
    assert len(options) > 2
    assert _Shrinking._simplify_at(keeps(options[1]), key, 0)
    assert tried == options[:2]
    tried.clear()
    assert not _Shrinking._simplify_at(keeps(None), key, 0)
    assert tried == options
    assert not _Shrinking._simplify_at(keeps(options[0]), key, 1)
