"""Points of a search by hand: signs of sides, conditions, directions, edges of equations, and bounded scores."""

from __future__ import annotations

import math
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import sympy as sp
from claim_symbols import WHERE, L, T, eta
from falsify_tables import HALF, _table
from flint import fmpq

from fedtheory.arithmetic import FLOAT
from fedtheory.language.claim import Claim
from fedtheory.runfile import parse_run
from verify.falsify import score
from verify.falsify.exponents import (
    NOTHING_THERE,
    LogarithmReader,
    _compute_log_quotient,
    _solve_linear_program,
    _split_by_sign,
    _take_logarithm,
)
from verify.falsify.local_search import LocalClimb, remove_aspects
from verify.falsify.rays import Ray, ScaledRun, _count_doublings, _list_penalties
from verify.falsify.regimes.edge import Edge
from verify.falsify.scalings import list_scalings
from verify.falsify.score import NOTHING
from verify.falsify.search_state import SearchPoint, SearchState, halve_while_clear

CLAIM = Claim(id="t:parts", lhs=eta, rhs=L, where=WHERE)


def test_lighter_violations_and_ties(monkeypatch: pytest.MonkeyPatch) -> None:
    """Halved while they are clear; a run is kept for later where no term is moved and it has a score."""
    module = import_module("verify.falsify.search_state")
    state = SearchState(CLAIM, 1e9)
    monkeypatch.setattr(module, "estimate_exact_cost", lambda table: table["n"] * 100_000)
    monkeypatch.setattr(module, "list_halves", lambda table: [{"n": table["n"] - 1}, {"n": table["n"] // 2}])
    for clear, end in ((lambda n: n % 4 == 0, 4), (lambda _: True, 2), (lambda _: False, 16)):
        found = halve_while_clear({"n": 16}, lambda table, clear=clear: clear(table["n"]), 200_000)
        assert found["n"] == end
    assert halve_while_clear({"n": 2}, lambda _: True, 200_000) == {"n": 2}
    state.keep(SearchPoint({}, NOTHING))
    state.moved = 1
    state.keep(SearchPoint({}, 1.0))
    assert state.reached == []
    state.moved = None
    state.keep(SearchPoint({}, 1.0))
    assert len(state.reached) == 1


def test_moves_that_are_kept() -> None:
    """A move stays if the score rises by more than a billionth, while there are looks left."""
    for reached, gain, kept in ((1e-9, 0.0, False), (1.5e-9, 0.0, True), (0.0, 0.0, False)):
        climb = LocalClimb(CLAIM, lambda _, r=reached: r, SearchPoint({}, gain), 5, lambda _: iter(()))
        assert climb.tries({"n": 1}) is kept
        assert (climb.left, climb.at.table) == (4, {"n": 1} if kept else {})
    last = LocalClimb(CLAIM, lambda _: 9.0, SearchPoint({}, 0.0), 1, lambda _: iter(()))
    assert not last.tries(None)
    assert not last.tries({"n": 1})
    some = LocalClimb(CLAIM, lambda _: 9.0, SearchPoint({}, 0.0), 1, lambda _: iter(()), gain=10.0)
    assert not some.tries({"n": 1})
    assert remove_aspects(_table(), ["noise", "start"])["problem"]["start"] == [HALF]


def test_sides_of_a_comparison_by_sign() -> None:
    """Positive terms stay on their side, and negative ones go to the other one."""
    term = lambda value: SimpleNamespace(value=value)  # noqa: E731
    relation = SimpleNamespace(in_order=lambda one, two: (one, two))
    comparison: Any = SimpleNamespace(
        relation=relation, left_terms=[term(3.0), term(-4.0)], terms=[term(-5.0), term(6.0)]
    )
    assert _split_by_sign(comparison) == ([3.0, 0.0, 5.0, 0.0], [0.0, 6.0, 0.0, 4.0])
    sides: Any = SimpleNamespace(relation=relation, lhs=2.0, rhs=8.0)
    assert _compute_log_quotient(sides) == -2.0
    assert [_take_logarithm(value) for value in (8.0, 0.0, -1.0, math.inf, 2.0**-200)] == [3.0] + [NOTHING_THERE] * 4
    assert list(
        _solve_linear_program(np.array([-1.0]), np.array([[1.0]]), np.array([3.0]), np.array([0.0]), np.array([9.0]))
        or []
    ) == [3.0]  # type: ignore[arg-type]


def test_conditions_of_readings() -> None:
    """An inequality may have room; an equation may not."""
    reader = LogarithmReader(Claim(id="t:r", lhs=eta, rhs=L, where=WHERE, conditions=[eta <= L]))
    for equation, condition, allowed in (
        (False, -3.0, True),
        (False, 0.5, False),
        (True, -3.0, False),
        (True, 1e-10, True),
    ):
        reader.is_equation = np.array([equation])
        reading: Any = SimpleNamespace(conditions=np.array([condition]))
        assert reader.allows(reading) is allowed
    assert reader.read(_table()) is reader.read(_table())


def test_penalties_of_rays() -> None:
    """There is no burden, or one on all terms but one if there are several."""
    found = [list(one) for one in _list_penalties(np.array([1.0, NOTHING_THERE, 2.0]))]
    assert found == [[0, 0, 0], [0, 3, 3], [3, 3, 0]]
    assert [list(one) for one in _list_penalties(np.array([1.0, NOTHING_THERE]))] == [[0, 0]]
    assert [_count_doublings(most, count) for most, count in ((8, 1), (8, 3), (7, 8), (512, 2))] == [3, 1, 0, 8]
    moved = ScaledRun({}, {"a": 1}).move({"a": 2, "b": -1})
    assert dict(moved.powers) == {"a": 3, "b": -1}


def test_the_best_point_of_a_ray() -> None:
    """The best point leads by more than a hundredth; a ray continues with counts, or without them."""

    def reading(lead: float) -> Any:
        return SimpleNamespace(lead=lambda _: lead)

    ray: Any = SimpleNamespace(_reading=reading(1.0), _penalties=None, _at="old")
    ray._shrink_to_allowed = lambda _, point: None if point is None else (point, reading(point))
    assert not Ray._move_to_best(ray, None, [1.01, None, 0.5])  # type: ignore[arg-type,list-item]
    assert ray._at == "old"
    assert Ray._move_to_best(ray, None, [1.5, 2.0, 1.7])  # type: ignore[arg-type,list-item]
    assert ray._at == 2.0
    asked: list[set[str]] = []
    going: Any = SimpleNamespace(
        _measure_exponents=lambda _: {"noise": 1, "rounds": 2},
        _list_ahead=lambda some, _: asked.append(set(some)),
    )
    state: Any = SimpleNamespace(reach=SimpleNamespace(steps=1), seconds=0.0, look=lambda _: 1.0)
    for moves, goes_on, count in ((1, True, 1), (2, True, 2), (3, False, 2)):
        asked.clear()
        going._move_to_best = lambda *_, moves=moves: len(asked) == moves
        assert Ray._advance(going, state) is goes_on
        assert asked == [{"noise", "rounds"}, {"noise"}][:count]
    steps = iter([True, True, False, True])
    follow: Any = SimpleNamespace(_advance=lambda _: next(steps), _run={"n": 1})
    end = Ray.follow(follow, state, 5.0)
    assert end is not None
    assert (end.score, next(steps)) == (1.0, True)
    state.look = lambda _: NOTHING
    assert Ray.follow(SimpleNamespace(_advance=lambda _: False, _run={}), state, 5.0) is None  # type: ignore[arg-type]


def test_edges_of_equations() -> None:
    """An equation on the step size has its edge at equality, if other conditions allow it."""
    run = parse_run(_table(1, 1, 2), FLOAT)
    for conditions, factor in (
        ([8 * eta * L <= 4, T >= 1], 4.0),
        ([T >= 1, 8 * eta * L <= 4], 4.0),
        ([eta * L <= 2, 8 * eta * L <= 4], 4.0),
    ):
        edge = Edge(Claim(id="t:e", lhs=eta, rhs=1, where=WHERE, conditions=conditions))
        assert edge.largest_factor(run) == pytest.approx(factor)
    for conditions in ([eta <= 4 / L, sp.Eq(eta * L, 1)], [sp.Eq(eta * L, 1), eta <= 4 / L]):
        edge = Edge(Claim(id="t:e", lhs=eta, rhs=1, where=WHERE, conditions=conditions))
        assert edge.largest_factor(run) == pytest.approx(8.0)
    for conditions in ([sp.Eq(eta * L, 1), eta <= 1 / (4 * L)], [sp.Eq(eta * L, 1), sp.Eq(eta * L, 2)]):
        edge = Edge(Claim(id="t:e", lhs=eta, rhs=1, where=WHERE, conditions=conditions))
        assert edge.largest_factor(run) is None
    bent = Edge(Claim(id="t:e", lhs=eta, rhs=1, where=WHERE, conditions=[sp.Eq(eta * L + eta**2 * L**2, 2)]))
    assert bent.largest_factor(run) == pytest.approx(8.0)
    alone = Edge(Claim(id="t:e", lhs=eta, rhs=1, where=WHERE, conditions=[sp.Eq(2 * eta * L, 1)]))
    assert alone.largest_factor(run) == pytest.approx(4.0)
    assert Edge(Claim(id="t:e", lhs=eta, rhs=1, where=WHERE, conditions=[T >= 3])).largest_factor(run) is None


def test_scores_are_bounded() -> None:
    """Ratios score below changes of sign; zero over a number scores least, and so does NaN."""
    for top, below, expected in (
        (0.0, 1.0, -98.0),
        (1.0, 0.0, -98.0),
        (1e-60, 1.0, -98.0),
        (1e60, 1.0, 98.0),
        (math.e, 1.0, 1.0),
        (-1.0, 1.0, -98.0),
        (math.nan, 1.0, NOTHING),
    ):
        assert score._take_log_of_ratio(top, below) == pytest.approx(expected)
    assert [score._compute_relative_gap(*pair) for pair in ((3.0, 1.0), (1.0, 3.0), (math.inf, 1.0))] == [
        0.5,
        -0.5,
        0.0,
    ]

    def of(lhs: float, rhs: float, operator: str = "<=", moved: int | None = None) -> float:
        relation = SimpleNamespace(operator=operator, in_order=lambda one, two: (one, two))
        terms = [SimpleNamespace(value=0.5), SimpleNamespace(value=0.25)]
        comparison: Any = SimpleNamespace(relation=relation, lhs=lhs, rhs=rhs, terms=terms, left_terms=terms[::-1])
        return score._score_comparison(comparison, moved)

    assert of(1.0, math.e) == pytest.approx(-1.0)
    assert of(-1.0, 1.0) == -101.0
    assert of(0.0, 1.0) == -101.0
    assert of(1.0, -1.0) == 101.0
    assert of(-1.0, -math.e) == pytest.approx(1.0)
    assert of(0.0, 0.0) == -102.0
    assert of(0.0, -1.0) == 101.0
    assert of(math.inf, 1.0) == of(1.0, math.nan) == NOTHING
    assert of(3.0, 1.0, "==") == pytest.approx(math.log(0.5))
    assert of(1.5, 1.0, moved=0) == pytest.approx(math.log(2.0))
    assert of(1.5, 1.0, moved=3) == pytest.approx(math.log(1.25 / 0.75))
    assert of(1.5, 1.0, ">=", moved=0) == pytest.approx(math.log(1.25 / 0.75))


def test_noise_of_some_clients_can_be_turned() -> None:
    """Noise can be turned if a client has some; each client's on its own if there are several."""
    names = []
    for noise in ([fmpq(1), fmpq(0)], [fmpq(0), fmpq(0)], None):
        table = _table(2)
        if noise is not None:
            table["problem"]["noise"] = noise
        names.append([scaling.name for scaling in list_scalings(table) if "noise" in scaling.name])
    assert names == [["noise", "noise 0", "noise 1"], [], []]
    one = _table(1)
    one["problem"]["noise"] = [fmpq(1)]
    assert [scaling.name for scaling in list_scalings(one) if "noise" in scaling.name] == ["noise"]
    assert "client weight 0" not in [scaling.name for scaling in list_scalings(one)]
    assert [scaling.name for scaling in list_scalings(_table(2)) if "client weight" in scaling.name] == [
        "client weight 0",
        "client weight 1",
    ]
