"""Parts of searches that few runs reach, with stand-ins, against values by hand."""

from __future__ import annotations

import math
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import sympy as sp
from flint import fmpq

from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from verify.falsify import mixed_runs
from verify.falsify.regimes import factors, horizon, regime_search, violations
from verify.falsify.regimes.climb import LevelClimb
from verify.falsify.regimes.covering_design import _make_pair
from verify.falsify.regimes.edge import Edge
from verify.falsify.regimes.problem_tables import _negate_curvatures
from verify.falsify.regimes.regime_search import _Searching
from verify.falsify.run_tables import CheckedRun
from verify.falsify.scalings import _scale_coordinate

T = sp.Symbol("T", positive=True)


def _edge_at(*lines: tuple[float, float], equations: tuple[bool, ...]) -> float | None:
    """Return the edge of conditions whose excesses are straight lines in the power of two of a factor."""
    run: Any = SimpleNamespace(with_step_factor=math.log2)
    edge: Any = SimpleNamespace(_excesses=lambda power: np.array([start + slope * power for start, slope in lines]))
    here = edge._excesses(0.0)
    slopes = np.array([slope for _, slope in lines])
    return Edge._at_equations(edge, run, here, slopes, np.array(equations))


def test_step_sizes_at_equations() -> None:
    """The only factor that solves all equations; another condition must hold there."""
    assert _edge_at((-3.0, 1.0), equations=(True,)) == 8.0
    assert _edge_at((3.0, 1.0), equations=(True,)) == 0.125
    assert _edge_at((-3.0, 1.5), (6.0, -3.0), equations=(True, True)) == 4.0
    assert _edge_at((-3.0, 1.0), (-6.0, 1.0), equations=(True, False)) == 8.0
    assert _edge_at((-3.0, 1.0), (-2.0, 1.0), equations=(True, False)) is None
    assert _edge_at((-3.0, 1.0), (-2.0, 1.0), equations=(True, True)) is None


def test_curved_equations_are_solved_by_secants() -> None:
    """The slope of a curved equation changes on the way."""
    run: Any = SimpleNamespace(with_step_factor=math.log2)
    edge: Any = SimpleNamespace(_excesses=lambda power: np.array([power + power**2 / 8 - 3.0]))
    found = Edge._at_equations(edge, run, np.array([-3.0]), np.array([1.0]), np.array([True]))
    assert found == pytest.approx(2 ** (math.sqrt(40) - 4))


@pytest.mark.parametrize(
    ("clients", "rounds", "assumption", "allowed", "expected"),
    [
        (4, 4, a.speedup_step, True, 0.25),
        (4, 4, a.plain_speedup_step, True, 2.0),
        (4, 4, a.plain_speedup_step, False, None),
        (4, 3, a.plain_speedup_step, True, None),
        (1, 16, a.plain_speedup_step, True, 0.5),
    ],
)
def test_step_sizes_tied_to_counts(
    clients: int, rounds: int, assumption: Any, expected: float | None, *, allowed: bool
) -> None:
    """The step size is sqrt(M / T), or that over L, if it is rational and allowed; here T = 4 or 16 and L = 8."""
    work = SimpleNamespace(steps=(1, 1), step_sizes=(fmpq(1, 2),))
    run: Any = SimpleNamespace(
        algorithm=SimpleNamespace(work=work, rounds=rounds),
        problem=SimpleNamespace(clients=clients),
        smoothness=fmpq(8),
        with_step_factor=lambda factor: factor,
    )
    edge: Any = SimpleNamespace(_claim=SimpleNamespace(assumptions=[assumption]), _allows=lambda _: allowed)
    assert Edge._tie(edge, run) == expected


def _restricted(*conditions: Any) -> Claim:
    return Claim(id="t:counts", lhs=0, rhs=T, where={T: q.rounds}, conditions=conditions)


def test_levels_of_restricted_counts() -> None:
    """Levels are powers of two that the condition allows, with the least count if fewer than two of them."""
    assert factors._allow(_restricted(), q.rounds, (0, 1, 2)) == ()
    assert factors._allow(_restricted(T <= 4), q.rounds, (0, 1, 2, 3)) == (0, 1, 2)
    assert factors._allow(_restricted(sp.Eq(T, 2)), q.rounds, (0, 1, 2)) == (1.0,)
    assert factors._allow(_restricted(T >= 3), q.rounds, (0, 2)) == (math.log2(3), 2)
    levels = factors.restrict_counts(_restricted(sp.Eq(T, 2)))
    assert dict(levels) == {"horizon": (("T", 1.0),)}
    several = factors.restrict_counts(_restricted(T <= 4))["horizon"]
    assert {level for level in several if level[0] == "T"} == {("T", power) for power in (0, 1, 2)} & set(several)
    assert [level for level in several if level[0] != "T"] == [
        level for level in factors.HORIZON.levels if level[0] != "T"
    ]
    assert dict(factors.restrict_counts(_restricted())) == {}


def test_the_first_allowed_run_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """Own counts of local steps stay; runs with other features, or to which the claim does not apply, are left out."""
    looked: list[Any] = []
    monkeypatch.setattr(mixed_runs, "_COUNTS", ((1, 2), (3, 4)))
    monkeypatch.setattr(
        mixed_runs, "reduce_to_conditions", lambda _claim, run: run if run["algorithm"]["rounds"] == 2 else None
    )
    monkeypatch.setattr(mixed_runs, "list_features", lambda table: {table["kind"]})

    def evaluate(_claim: Any, run: Any, _arithmetic: Any) -> Any:
        looked.append(run["algorithm"])
        return None if run["kind"] == "lost" else SimpleNamespace(applicable=run["algorithm"]["rounds"] == 4)

    monkeypatch.setattr(mixed_runs, "evaluate_run", evaluate)

    def first(*tables: Any) -> Any:
        looked.clear()
        found = mixed_runs._allow(None, tables, {"plain", "lost"})  # type: ignore[arg-type]
        return None if found is None else found["algorithm"]

    plain, own = ({"kind": "plain", "algorithm": {"local_steps": steps}} for steps in (9, [1, 2]))
    assert first(plain) == {"local_steps": 3, "rounds": 4}
    assert looked == [{"local_steps": 1, "rounds": 2}, {"local_steps": 3, "rounds": 4}]
    assert first(own) == {"local_steps": [1, 2], "rounds": 4}
    assert first(plain | {"kind": "strange"}) is None
    assert looked == []
    assert first(plain | {"kind": "lost"}) is None
    assert len(looked) == 2


@pytest.mark.parametrize(
    ("values", "end", "calls"),
    [
        ([0.0, 1.0, 1.0], 1, 1),
        ([0.0, 1.0, 1.00005], 1, 1),
        ([0.0, 1.0, 1.0002, 1.0002], 2, 2),
        ([0.0, 1.0, 2.0, 3.0, 3.0], 3, 3),
        ([*map(float, range(20))], 7, 6),
    ],
)
def test_a_move_is_repeated_while_it_helps(values: list[float], end: int, calls: int) -> None:
    """A move is repeated at most six times; the last better point is kept, with all other levels."""
    looked: list[Any] = []

    def see(level: int) -> Any:
        return SimpleNamespace(point={"a": level, "b": 5}, value=values[level])

    def look(point: Any) -> Any:
        looked.append(point)
        return see(point["a"])

    climb: Any = SimpleNamespace(_look=look, _value=lambda seen: seen.value, _kept=())
    climb._repeat = lambda _name, old, new: 2 * new - old
    climb._is_better = partial(LevelClimb._is_better, climb)
    before, at = see(0), see(1)
    found: Any = LevelClimb._climb_onward(climb, before, at, "a")
    assert (found.point, len(looked)) == ({"a": end, "b": 5}, calls)
    for level in (None, 1):
        climb._repeat = lambda *_, level=level: level
        assert LevelClimb._climb_onward(climb, before, at, "a") is at
    assert len(looked) == calls


def test_ties_are_decided_once_for_each_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first cheap tie of a kind is decided while there is work for ties; none counts as a violation by floats."""
    decided: list[Any] = []
    monkeypatch.setattr(violations, "estimate_exact_work", lambda table: table)
    monkeypatch.setattr(violations, "decide_table", lambda _claim, table: decided.append(table) or ("run", table))
    settled: list[Any] = []
    given: Any = SimpleNamespace(_claim=None, _tried=violations.Counter(), _of_ties=1.0)
    given._record_decision = lambda _seen, found: settled.append(found)

    def decide(cost: float, sources: str = "s", sides: Any = (1, 2)) -> Any:
        seen: Any = SimpleNamespace(sides=sides, point={"sources": sources}, holds=False)
        violations.Violations._decide_tie(given, seen, cost)  # type: ignore[arg-type]
        assert seen.holds is None
        return settled[-1]

    assert decide(0.3) is None
    assert decide(0.2) == ("run", 0.2)
    assert decide(0.1) is None
    assert decide(0.1, "n") == ("run", 0.1)
    assert decide(0.1, sides=(0, 2)) == ("run", 0.1)
    given._of_ties = 0.0
    assert decide(0.1, "np") is None
    assert decided == [0.2, 0.1, 0.1]


def test_only_violations_that_apply_are_found() -> None:
    """A decided run that satisfies the claim, or to which it does not apply, loses its score only."""
    given: Any = SimpleNamespace(found=None)
    for applicable, holds in ((True, True), (True, None), (False, False)):
        seen = SimpleNamespace(score=3.0)
        check = SimpleNamespace(applicable=applicable, holds=holds)
        violations.Violations._record_decision(given, seen, CheckedRun({}, check))  # type: ignore[arg-type]
        assert (given.found, seen.score) == (None, -95.0)
    seen = SimpleNamespace(score=-99.0)
    violations.Violations._record_decision(given, seen, None)  # type: ignore[arg-type]
    assert (given.found, seen.score) == (None, -99.0)
    refuting: Any = CheckedRun({}, SimpleNamespace(applicable=True, holds=False))  # type: ignore[arg-type]
    violations.Violations._record_decision(given, seen, refuting)  # type: ignore[arg-type]
    assert given.found is refuting


def test_levels_from_which_a_search_goes_on() -> None:
    """One new run for each level that is not plain; runs without noise and start only if the objectives matter."""
    name = next(iter(regime_search._OBJECTIVES))

    def seen(sources: str, **point: Any) -> Any:
        return SimpleNamespace(point={"sources": sources, **point})

    plain = SimpleNamespace(has_plain=True, plain=0)
    pool = [seen("s", a=1, **{name: 1}), seen("sn", a=1, **{name: 0}), seen("sp", a=1, **{name: 1}), seen("sn", a=2)]
    pool[3].point[name] = 2
    given: Any = SimpleNamespace(
        _evaluation=SimpleNamespace(
            subject=SimpleNamespace(factors=[SimpleNamespace(name="a"), SimpleNamespace(name="unknown")]),
            factors={name: plain, "a": plain, "unknown": plain},
        )
    )
    levels: Any = {name: (0, 1, 2), "a": (0, 1, 2)}
    found = list(_Searching._search_levels(given, levels, pool, [pool[1]], [name]))
    assert [pool.index(one) for one in found] == [0, 3, 2]


@pytest.mark.parametrize(
    ("kind", "clients", "expected"),
    [
        (None, 2, [[[2, 1], [1, 4]], [[2, 0], [0, 8]]]),
        ("all", 2, [[[2, 1], [1, -4]], [[2, 0], [0, -8]]]),
        ("one", 2, [[[-1, fmpq(-1, 2)], [fmpq(-1, 2), -2]], [[2, 0], [0, 8]]]),
        ("one", 1, [[[2, 1], [1, -4]]]),
    ],
)
def test_negative_curvatures(kind: str | None, clients: int, expected: Any) -> None:
    """Minus half of the first client's curvatures, or the last curvature of all, or of a single client."""
    hessians = [[[fmpq(2), fmpq(1)], [fmpq(1), fmpq(4)]], [[fmpq(2), fmpq(0)], [fmpq(0), fmpq(8)]]][:clients]
    assert _negate_curvatures({"negative curvature": kind}, hessians) == expected


def test_a_scaled_coordinate() -> None:
    """x_1 is divided by three: its curvatures are multiplied by nine, mixed ones and linear terms by three."""
    table: Any = {"problem": {"hessians": [[[1, 2], [2, 5]]], "linear": [[7, 11]], "start": [1, 1]}}
    found = _scale_coordinate(1, table, fmpq(3))["problem"]
    assert found["hessians"] == [[[1, 6], [6, 45]]]
    assert found["linear"] == [[7, 33]]
    assert found["start"] == [1, 1]


@pytest.mark.parametrize(
    ("steps", "mixing", "expected"),
    [(1, None, "_ON_GRAPHS"), (1, 0, "_ON_GRAPHS"), (1, "no", "_ROUNDS_ONE_BY_ONE")],
)
def test_longest_runs_of_definitions(steps: int, mixing: Any, expected: str) -> None:
    """Rounds of graphs are shorter; other definitions take at least a fixed number of local steps."""
    point: Any = {} if mixing == "no" else {"mixing": mixing}
    subject: Any = SimpleNamespace(steps_are_rounds=True)
    assert horizon._limit_steps_of_definition(point, subject, steps) == getattr(horizon, expected)
    subject.steps_are_rounds = False
    least = horizon._STEPS_ONE_BY_ONE
    assert [horizon._limit_steps_of_definition(point, subject, count) for count in (1, 10, 20)] == [
        least,
        least,
        2 * least,
    ]


def test_pairs_of_levels_have_one_order() -> None:
    assert _make_pair("a", 1, "b", None) == _make_pair("b", None, "a", 1) == ("a", "1", "b", "None")
