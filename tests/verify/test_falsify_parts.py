"""Parts of the search for violations against values by hand: other structures, costs, seeds, what is shown."""

from __future__ import annotations

import math
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import sympy as sp
from claim_symbols import WHERE, L, T, eta
from flint import fmpq

from fedtheory.arithmetic import FLOAT, RATIONAL
from fedtheory.language.claim import Claim
from fedtheory.runfile import parse_run
from verify.falsify import finding, generation, mixed, score, search, starts
from verify.falsify.exponents import NOTHING_THERE, Reader, _log, _log_quotient, _solved, _split_by_sign
from verify.falsify.finding import Finding
from verify.falsify.generation import (
    InstanceKind,
    _clients_of,
    _curvature,
    _is_small,
    _may_become,
    _pick,
    _with_clients_of,
)
from verify.falsify.knobs import knobs_of
from verify.falsify.local import LocalClimb, without
from verify.falsify.mixed import _drawing, _with_problem
from verify.falsify.rays import Ray, ScaledRun, _burdens, _doublings
from verify.falsify.regimes.edge import Edge
from verify.falsify.score import NOTHING
from verify.falsify.search_state import FAR, NEAR, SearchPoint, SearchState, _best_of, cost, is_lively, movement
from verify.falsify.structure import (
    _fewer_dimensions,
    _other_batches,
    _other_clients,
    _other_clocks,
    _other_counts,
    _without_row,
)
from verify.falsify.tables import Table, all_steps, features, get, most_steps, rows, size, with_clients

HALF, EIGHTH = fmpq(1, 2), fmpq(1, 8)
CLAIM = Claim(id="t:parts", lhs=eta, rhs=L, where=WHERE)


def _table(count: int = 2, steps: Any = 2, rounds: int = 3, dimension: int = 1, **algorithm: Any) -> Table:
    identity = [[fmpq(int(row == column)) for column in range(dimension)] for row in range(dimension)]
    problem = {
        "kind": "quadratic",
        "hessians": [identity] * count,
        "linear": [[fmpq(place)] * dimension for place in range(count)],
        "start": [fmpq(3)] * dimension,
    }
    own = {"local_step_size": EIGHTH, "local_steps": steps, "rounds": rounds}
    return {"problem": problem, "algorithm": own | algorithm}


def _counts(tables: Any) -> list[Any]:
    keys = ("rounds", "local_steps", "local_step_size")
    return [tuple(get(table, f"algorithm.{key}") for key in keys) for table in tables]


def test_other_counts() -> None:
    """One round, one more or fewer, twice or four times as many; other steps, of the same size or product."""
    found = _counts(_other_counts(_table()))
    assert {rounds for rounds, _, _ in found[:4]} == {1, 2, 4, 6}
    assert found[4] == (12, 2, HALF / 8)
    assert found[5:] == [
        *((3, 1, EIGHTH), (3, 1, EIGHTH * 2)),
        *((3, 3, EIGHTH), (3, 3, EIGHTH * fmpq(2, 3))),
        *((3, 4, EIGHTH), (3, 4, EIGHTH / 2)),
        *((3, 1, EIGHTH), (3, 1, EIGHTH * 2)),
    ]
    assert {rounds for rounds, _, _ in _counts(_other_counts(_table(rounds=1)))[:2]} == {1, 2}
    own = _counts(_other_counts(_table(steps=[2, 1])))[5:]
    assert own[:2] == [(3, 1, EIGHTH), (3, 1, [EIGHTH * 2, EIGHTH])]
    assert own[2:4] == [(3, [3, 2], EIGHTH), (3, [3, 2], [EIGHTH * fmpq(2, 3), EIGHTH / 2])]
    assert own[4:6] == [(3, [4, 2], EIGHTH), (3, [4, 2], EIGHTH / 2)]
    assert [steps for _, steps, _ in own[8:]] == [[3, 1], [3, 1], 1, 1, 2, 2]
    formula = _counts(_other_counts(_table(steps=[2, 1], local_step_size="1/n")))[5:]
    assert formula[:2] == [(3, 1, "1/n"), (3, [3, 2], "1/n")]


def test_other_clients() -> None:
    """Without one, twice, with one of them again, and with equal weights."""

    def linear(count: int) -> list[list[int]]:
        return [[int(pull[0]) for pull in table["problem"]["linear"]] for table in _other_clients(_table(count))]

    assert linear(1) == [[0, 0], [0, 0]]
    assert linear(2) == [[1], [0], [0, 1, 0, 1], [0, 1, 0], [0, 1, 1]]
    assert [len(one) for one in linear(3)] == [2, 2, 2, 6, 4, 4, 4]
    assert [len(one) for one in linear(4)] == [3] * 4 + [8]
    assert [len(one) for one in linear(8)] == [7] * 8 + [16]
    assert [len(one) for one in linear(9)] == [8] * 9
    weighted = _table(2)
    weighted["problem"]["weights"] = [fmpq(1, 4), fmpq(3, 4)]
    assert get([*_other_clients(weighted)][-1], "problem.weights") is None


def test_other_clocks() -> None:
    clock = {"policy": "fedbuff", "times": [fmpq(1), fmpq(3)], "ties": "together", "buffer": 2}
    found = [get(table, "algorithm.clock") for table in _other_clocks(_table(clock=clock))]
    assert found[0] is None
    assert [one["times"] for one in found[1:7]] == [[2, 3], [0, 3], [2, 3], [1, 4], [1, 2], [1, 6]]
    assert [found[7]["ties"], found[8]["buffer"], found[9]["buffer"]] == ["one-by-one", 1, 3]
    back = [get(table, "algorithm.clock") for table in _other_clocks(_table(clock=clock | {"ties": "one-by-one"}))]
    assert back[7]["ties"] == "together"
    assert list(_other_clocks(_table())) == []
    assert len(list(_other_clocks(_table(clock={"policy": "async", "times": [fmpq(1)]})))) == 4


def test_other_batches_and_dimensions() -> None:
    """No batch, one row with replacement, one more row, and one row of every client fewer."""
    data: Table = _table(1)
    data["problem"] = {"inputs": [[["a"], ["b"]], [["c"], ["d"], ["e"]]], "outputs": [[1, 2], [3, 4, 5]]}
    found = list(_other_batches(data))
    assert [(get(t, "problem.batch"), get(t, "problem.replacement")) for t in found] == [(None, None), (1, True)]
    data["problem"] |= {"batch": 2, "replacement": False}
    found = list(_other_batches(data))
    assert [(get(t, "problem.batch"), get(t, "problem.replacement")) for t in found[:3]] == [
        *((None, None), (2, True), (3, False)),
    ]
    assert [get(table, "problem.outputs") for table in found[3:]] == [[[2], [4, 5]], [[1], [3, 5]]]
    assert _without_row([[1, 2, 3]], 1) == [[1, 3]]
    data["problem"]["inputs"] = [[["a"]]]
    data["problem"]["outputs"] = [[1]]
    assert len(list(_other_batches(data))) == 3
    assert list(_other_batches(_table())) == []
    assert [len(get(t, "problem.start")) for t in _fewer_dimensions(_table(dimension=3))] == [2, 2, 2]
    assert list(_fewer_dimensions(_table())) == []


def test_sizes_of_tables() -> None:
    """Longest local steps, in all rounds; numbers of rows, and the work by hand."""
    assert [most_steps(_table(steps=steps)) for steps in (4, [1, 3])] == [4, 3]
    assert (all_steps(_table(steps=[1, 3])), size(_table(dimension=2))) == (9, 2 * 4 * 6)
    data: Table = {"problem": {"inputs": [[[1]], [[1], [2]]]}, "algorithm": {"rounds": 3, "local_steps": 2}}
    assert (rows(data), rows(_table()), size(data)) == (3, 0, 2 * 6 + 3)
    assert cost(_table()) == (2 * 2 + 6) * 8
    assert cost(_table(clock={"policy": "async"})) == 6 * 2 * 3 * 8
    assert cost(_table(clock={"policy": "sync"})) == cost(_table())
    data["problem"]["batch"] = 1
    assert cost(data) == (6 * 2 + 3) * 8


def test_features_beyond_plain_averaging() -> None:
    assert features(_table()) == set()
    assert features(_table(steps=[1, 2], server_step_size=fmpq(1))) == {
        *("algorithm.local_steps", "algorithm.server_step_size"),
    }
    law = {"kind": "uniform", "clients": 1}
    assert features(_table(participation=law)) == {"algorithm.participation.kind uniform"}
    assert features(_table(participation={"kind": "full"}, clock={"policy": "sync"})) == set()
    assert features(_table(clock={"policy": "async", "ties": "together"})) == {
        *("algorithm.clock.policy async", "algorithm.clock.ties together"),
    }


def test_some_of_the_clients() -> None:
    """Weights sum to one again; participants are those that are left, and a buffer waits for no more."""
    table = _table(3, participation={"kind": "fixed", "clients": [0, 2]})
    table["problem"]["weights"] = [fmpq(1, 2), fmpq(1, 4), fmpq(1, 4)]
    found = with_clients(table, [2, 1])
    assert (found["problem"]["weights"], found["algorithm"]["participation"]["clients"]) == ([HALF, HALF], [0])
    uniform = _table(3, participation={"kind": "uniform", "clients": 2}, clock={"buffer": 2})
    for kept, count in (([0], 1), ([0, 1], 2), ([0, 1, 2, 0], 2)):
        few = with_clients(uniform, kept)
        assert (get(few, "algorithm.participation.clients"), get(few, "algorithm.clock.buffer")) == (count, count)


def test_runs_that_move() -> None:
    """Step size times curvature over all steps: at least a sixteenth."""
    assert movement(_table()) == 6 / 8
    assert movement({"problem": {}, "algorithm": {"local_step_size": HALF}}) == math.inf
    for rounds, lively in ((1, False), (2, True), (3, True)):
        assert is_lively(_table(steps=1, rounds=rounds, local_step_size=fmpq(1, 32))) is lively
    places = [SearchPoint({}, float(score)) for score in range(30)]
    best = _best_of(places)
    assert [place.score for place in best] == [float(score) for score in range(29, 5, -1)]


def test_runs_within_reach() -> None:
    state = SearchState(CLAIM, 1e9, lambda *_: None)
    assert state.is_within_reach(_table(2, 2, 64))
    assert not state.is_within_reach(_table(2, 2, 65))
    state.reach = FAR
    assert state.is_within_reach(_table(2, 64, 64))
    assert not state.is_within_reach(_table(2, 64, 65))
    assert NEAR.arithmetic is RATIONAL


def test_lighter_violations_and_ties(monkeypatch: pytest.MonkeyPatch) -> None:
    """Halved while they are clear; a run is kept for later where no term is moved and it has a score."""
    module = import_module("verify.falsify.search_state")
    state = SearchState(CLAIM, 1e9, lambda *_: None)
    monkeypatch.setattr(module, "_exact_cost", lambda table: table["n"] * 100_000)
    monkeypatch.setattr(module, "halves", lambda table: [{"n": table["n"] - 1}, {"n": table["n"] // 2}])
    for clear, end in ((lambda n: n % 4 == 0, 4), (lambda _: True, 2), (lambda _: False, 16)):
        monkeypatch.setattr(state, "_is_clear", lambda table, clear=clear: clear(table["n"]))
        assert state._lighter({"n": 16})["n"] == end
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
    assert without(_table(), ["noise", "start"])["problem"]["start"] == [HALF]


def test_sides_of_a_comparison_by_sign() -> None:
    """Positive terms stay on their side, and negative ones go to the other one."""
    term = lambda value: SimpleNamespace(value=value)  # noqa: E731
    relation = SimpleNamespace(in_order=lambda one, two: (one, two))
    comparison: Any = SimpleNamespace(
        relation=relation, left_terms=[term(3.0), term(-4.0)], terms=[term(-5.0), term(6.0)]
    )
    assert _split_by_sign(comparison) == ([3.0, 0.0, 5.0, 0.0], [0.0, 6.0, 0.0, 4.0])
    sides: Any = SimpleNamespace(relation=relation, lhs=2.0, rhs=8.0)
    assert _log_quotient(sides) == -2.0
    assert [_log(value) for value in (8.0, 0.0, -1.0, math.inf, 2.0**-200)] == [3.0] + [NOTHING_THERE] * 4
    assert list(
        _solved(np.array([-1.0]), np.array([[1.0]]), np.array([3.0]), np.array([0.0]), np.array([9.0])) or []
    ) == [3.0]  # type: ignore[arg-type]


def test_conditions_of_readings() -> None:
    """An inequality may have room; an equation may not."""
    reader = Reader(Claim(id="t:r", lhs=eta, rhs=L, where=WHERE, conditions=[eta <= L]))
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


def test_burdens_of_rays() -> None:
    """None, and one on all terms but one, where there are several."""
    found = [list(one) for one in _burdens(np.array([1.0, NOTHING_THERE, 2.0]))]
    assert found == [[0, 0, 0], [0, 3, 3], [3, 3, 0]]
    assert [list(one) for one in _burdens(np.array([1.0, NOTHING_THERE]))] == [[0, 0]]
    assert [_doublings(most, count) for most, count in ((8, 1), (8, 3), (7, 8), (512, 2))] == [3, 1, 0, 8]
    moved = ScaledRun({}, {"a": 1}).moved({"a": 2, "b": -1})
    assert dict(moved.powers) == {"a": 3, "b": -1}


def test_the_best_point_of_a_ray() -> None:
    """The one that leads most, by more than a hundredth; a ray goes on with counts, or without them."""

    def reading(lead: float) -> Any:
        return SimpleNamespace(lead=lambda _: lead)

    ray: Any = SimpleNamespace(_reading=reading(1.0), _burdens=None, _at="old")
    ray._allowed = lambda _, point: None if point is None else (point, reading(point))
    assert not Ray._moves(ray, None, [1.01, None, 0.5])  # type: ignore[arg-type,list-item]
    assert ray._at == "old"
    assert Ray._moves(ray, None, [1.5, 2.0, 1.7])  # type: ignore[arg-type,list-item]
    assert ray._at == 2.0
    asked: list[set[str]] = []
    going: Any = SimpleNamespace(
        _exponents=lambda _: {"noise": 1, "rounds": 2},
        _ahead=lambda some, _: asked.append(set(some)),
    )
    hunt: Any = SimpleNamespace(reach=SimpleNamespace(steps=1), seconds=0.0, look=lambda _: 1.0)
    for moves, goes_on, count in ((1, True, 1), (2, True, 2), (3, False, 2)):
        asked.clear()
        going._moves = lambda *_, moves=moves: len(asked) == moves
        assert Ray._goes_on(going, hunt) is goes_on
        assert asked == [{"noise", "rounds"}, {"noise"}][:count]
    steps = iter([True, True, False, True])
    follow: Any = SimpleNamespace(_goes_on=lambda _: next(steps), _run={"n": 1})
    end = Ray.followed(follow, hunt, 5.0)
    assert end is not None
    assert (end.score, next(steps)) == (1.0, True)
    hunt.look = lambda _: NOTHING
    assert Ray.followed(SimpleNamespace(_goes_on=lambda _: False, _run={}), hunt, 5.0) is None  # type: ignore[arg-type]


def test_kinds_of_clients() -> None:
    problem = {"hessians": [1, 1, 2], "linear": [3, 3, 3]}
    assert [_clients_of(problem, count) for count in (1, 2, 3)] == [
        *("one client", "clients that are alike", "curvatures that differ"),
    ]
    assert _clients_of({"hessians": [1, 1], "linear": [3, 4]}, 2) == "pulls that differ"
    assert _clients_of({"inputs": [1, 1], "outputs": [3, 4]}, 2) == "pulls that differ"
    for steps, rounds, small in ((2, 12, True), (2, 13, False), ([1, 2], 12, True), ([3, 1], 12, False)):
        assert _is_small(_table(2, steps, rounds)) is small
    loss: Table = {"problem": {"terms": [1], "noise": ["0"]}, "algorithm": {}}
    alike = InstanceKind("clients that are alike", False, False, False)
    assert _may_become(loss, alike)
    assert not _may_become(loss, InstanceKind("clients that are alike", True, False, False))
    assert not _may_become(loss, InstanceKind("pulls that differ", False, False, False))
    assert _may_become(_table(), InstanceKind("pulls that differ", True, True, True))
    quiet = _table()
    quiet["problem"]["hessians"] = [[[fmpq(-3)]], [[fmpq(2)]]]
    assert _curvature(quiet) == 3
    quiet["problem"]["hessians"] = [[[fmpq(0)]]] * 2
    assert _curvature(quiet) == 1


def test_clients_of_a_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    """One of them, copies of one, or all in turn."""
    generator: Any = SimpleNamespace(integers=lambda count: count - 1)
    monkeypatch.setattr(generation, "with_clients", lambda _, kept: kept)
    for clients, expected in (
        ("one client", [2]),
        ("clients that are alike", [2] * 4),
        ("pulls that differ", [2] * 4),
        ("curvatures that differ", [0, 1, 2, 0]),
    ):
        kind: Any = SimpleNamespace(clients=clients)
        assert _with_clients_of(_table(3), kind, 4, generator) == expected
    assert (_pick(generator, "abc"), _pick(generator, "a")) == ("c", "a")


def test_runs_in_which_everything_plays_a_part() -> None:
    shape: Any = SimpleNamespace(curvatures=[[64, 1], [8, 0]], pulls=(1, -1), clients=3, start=[0, 2])
    found = _with_problem(_table(2), shape, fmpq(1))["problem"]
    assert found["hessians"][:2] == [[[1, 0], [0, fmpq(1, 64)]], [[EIGHTH, 0], [0, 0]]]
    assert found["hessians"][2] == found["hessians"][0]
    assert (found["linear"], found["start"], found["noise"]) == ([[1, 1], [-1, -1], [1, 1]], [0, 2], [1, 1, 1])
    assert len(_with_problem(_table(5), shape, None)["problem"]["hessians"]) == 5
    assert "noise" not in _with_problem(_table(5), shape, None)["problem"]
    shape.clients = 1
    assert len(_with_problem(_table(5), shape, None)["problem"]["hessians"]) == 1
    for kind, drawn, count, left in (
        ("uniform", 3, 3, 2),
        ("uniform", 2, 3, 2),
        ("uniform", 1, 1, 1),
        ("multinomial", 3, 3, 3),
        ("uniform", 5, 3, 2),
    ):
        table = _table(3, participation={"kind": kind, "clients": drawn})
        assert get(_drawing(table, count), "algorithm.participation.clients") == left


def test_searches_begin_with_seed_zero(monkeypatch: pytest.MonkeyPatch) -> None:
    """Unless another one is asked for."""
    regimes = import_module("verify.falsify.regimes.search")
    seeds: list[int] = []
    monkeypatch.setattr(
        regimes, "_Searching", lambda _, __, seed, ___: seeds.append(seed) or SimpleNamespace(search=list)
    )
    regimes.search_regimes(CLAIM, 1)
    regimes.search_regimes(CLAIM, 1, 3)
    monkeypatch.setattr(search, "_hunted", lambda _, __, seed: seeds.append(seed))
    search.short_search(CLAIM, 1.0)
    search.short_search(CLAIM, 1.0, 3)

    class Over(Exception):
        """The seed is known."""

    def easily(_claim: Claim, _until: float, _end: float, seed: int, _on_tick: Any) -> Any:
        seeds.append(seed)
        raise Over

    monkeypatch.setattr(finding, "_easily", easily)
    for more in ({}, {"seed": 3}):
        with pytest.raises(Over):
            finding.falsify(CLAIM, 1.0, **more)  # type: ignore[arg-type]
    assert seeds == [0, 3] * 3


def test_times_of_a_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """A part of what is left, or eight seconds at most; progress never passes its end."""
    monkeypatch.setattr(finding, "worked", lambda: 10.0)
    assert [finding._deadline(end) for end in (12.0, 30.0)] == [12.0, 18.0]
    assert [finding._share(deadline, 0.5) for deadline in (14.0, 9.0)] == [12.0, 10.0]
    reported: list[tuple[int, int]] = []
    for begin in (7.0, 0.0):
        finding._tell(lambda done, whole: reported.append((done, whole)), begin, 5)
    assert reported == [(3, 5), (5, 5)]
    assert finding._search_by_regimes.__defaults__ is None
    asked: list[int] = []
    monkeypatch.setattr(finding, "search_regimes", lambda _, count, *__: asked.append(count))
    for rate in (None, 1):
        claim: Any = SimpleNamespace(rate=rate)
        monkeypatch.setattr(finding, "require_testable", lambda _: None)
        finding._search_by_regimes(claim, 2.0, 0, lambda: None)
    assert asked == [300, 0]


def test_the_refutation_that_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """The lighter one of the simplest violation and of the one found, which is left out where the first is clear."""
    weights = {"found": (2,), "simple": (1,), "clear": (3,), "none": None}
    monkeypatch.setattr(finding, "shrink", lambda _, table, *__: table)
    monkeypatch.setattr(finding, "burden", lambda _, table: weights[table])
    monkeypatch.setattr(finding, "is_clear", lambda _, table: table == "clear")
    monkeypatch.setattr(finding, "check", lambda _, run: f"check of {run}")
    monkeypatch.setattr(finding, "decidable", lambda run: run)
    monkeypatch.setattr(finding, "parse_run", lambda table, _: table)

    def shown(simplest: str | None) -> Any:
        monkeypatch.setattr(finding, "simplest_violation", lambda *_: SimpleNamespace(table=simplest))
        violation: Any = ("found", "its check")
        return finding._refutation(CLAIM, violation, 1e9, 0, lambda: None)

    assert shown(None) == ("found", "its check")
    assert shown("simple") == ("simple", "check of simple")
    assert shown("clear") == ("clear", "check of clear")
    assert shown("none") == ("found", "its check")
    weights["found"] = None
    assert shown("none") == ("found", "its check")
    assert finding._refutation(CLAIM, None, 1e9, 0, lambda: None) is None


def test_short_searches(monkeypatch: pytest.MonkeyPatch) -> None:
    """By regimes, and along rays where none applies; beyond a proof what applies counts alone."""
    monkeypatch.setattr(finding, "resolve", lambda claim: claim)
    monkeypatch.setattr(
        finding, "_refutation", lambda _, violation, *__: None if violation is None else ({"n": 1}, None)
    )
    monkeypatch.setattr(finding, "_violation_of", lambda hunt: hunt.violation)
    monkeypatch.setattr(
        finding, "short_search", lambda *_: SimpleNamespace(looked=7, applicable=5, violation=(), left_open=2)
    )

    def found(applicable: int) -> Any:
        regimes = SimpleNamespace(
            evaluations=9, applicable=applicable, counterexample=None, left_open=1, regimes=(1,), pairs="pairs"
        )
        monkeypatch.setattr(finding, "_search_by_regimes", lambda *_: regimes)
        return finding.glance(CLAIM, 1.0), finding.glance_beyond(CLAIM, 1.0)

    glance, beyond = found(3)
    assert (glance.looked, glance.applicable, glance.counterexample, glance.left_open) == (9, 3, None, 1)
    assert (beyond.looked, beyond.applicable, beyond.regimes, beyond.left_open) == (3, 3, (1,), 1)
    glance, beyond = found(0)
    assert (glance.looked, glance.applicable, glance.counterexample, glance.left_open) == (16, 5, {"n": 1}, 3)
    assert (beyond.looked, beyond.regimes, beyond.left_open) == (0, (), 0)


def test_findings_that_contradict_what_is_recorded() -> None:
    check: Any = SimpleNamespace(arithmetic=RATIONAL, rate=None, ratio=2.0)
    for recorded, found, contradicts in (
        ("proved", "refuted", True),
        ("refuted", "refuted", False),
        (None, "refuted", False),
        ("proved", "not refuted", False),
    ):
        claim: Any = SimpleNamespace(verdict=recorded)
        assert Finding(claim, found, None, None, 1, 1, 0.0).contradicts is contradicts  # type: ignore[arg-type]
    exact = Finding(CLAIM, "refuted", None, check, 1, 1, 0.0)
    assert (exact.is_exact, exact.best_ratio) == (True, 2.0)
    check.rate = SimpleNamespace(constant=3.0)
    assert exact.best_ratio == 3.0
    check.arithmetic = FLOAT
    assert not exact.is_exact
    assert Finding(CLAIM, "refuted", None, None, 1, 1, 0.0).best_ratio is None


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
    """Below a change of sign; zero over something is the least, and NaN says nothing."""
    for top, below, expected in (
        (0.0, 1.0, -98.0),
        (1.0, 0.0, -98.0),
        (1e-60, 1.0, -98.0),
        (1e60, 1.0, 98.0),
        (math.e, 1.0, 1.0),
        (-1.0, 1.0, -98.0),
        (math.nan, 1.0, NOTHING),
    ):
        assert score._logarithm(top, below) == pytest.approx(expected)
    assert [score._relative_gap(*pair) for pair in ((3.0, 1.0), (1.0, 3.0), (math.inf, 1.0))] == [0.5, -0.5, 0.0]

    def of(lhs: float, rhs: float, operator: str = "<=", moved: int | None = None) -> float:
        relation = SimpleNamespace(operator=operator, in_order=lambda one, two: (one, two))
        terms = [SimpleNamespace(value=0.5), SimpleNamespace(value=0.25)]
        comparison: Any = SimpleNamespace(relation=relation, lhs=lhs, rhs=rhs, terms=terms, left_terms=terms[::-1])
        return score._of(comparison, moved)

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
        names.append([knob.name for knob in knobs_of(table) if "noise" in knob.name])
    assert names == [["noise", "noise 0", "noise 1"], [], []]
    one = _table(1)
    one["problem"]["noise"] = [fmpq(1)]
    assert [knob.name for knob in knobs_of(one) if "noise" in knob.name] == ["noise"]
    assert "importance 0" not in [knob.name for knob in knobs_of(one)]
    assert [knob.name for knob in knobs_of(_table(2)) if "importance" in knob.name] == ["importance 0", "importance 1"]


def test_programs_with_full_participation(monkeypatch: pytest.MonkeyPatch) -> None:
    """Are added where none of a claim's families has it."""
    drawn, full = _table(2, participation={"kind": "uniform", "clients": 1}), _table(2)
    for known, count in (([drawn], 2), ([drawn, full], 2), ([full], 1), ([full, drawn], 2), ([drawn, drawn], 4)):
        monkeypatch.setattr(mixed, "algorithms", lambda _, known=known: known)
        found = mixed._programs(CLAIM)
        assert len(found) == count
        assert any(get(table, "algorithm.participation") is None for table in found)


def test_families_of_other_claims_start_a_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """None that are for rates, or meant for an assumption that the claim does not make; a rate has its own alone."""
    family = lambda name, rates, meant: SimpleNamespace(name=name, for_rates=rates, meant_for=meant)  # noqa: E731
    families = {
        f.name: f for f in (family("own", False, None), family("other", False, None), family("rate", True, None))
    }
    families |= {f.name: f for f in (family("meant", False, "x"), family("else", False, "y"))}
    monkeypatch.setattr(starts, "FAMILIES", families)
    monkeypatch.setattr(starts, "families_for", lambda _: ("own",))
    monkeypatch.setattr(starts, "_shuffled", lambda names, _: list(names))
    for rate, names in ((None, ["own", "other", "meant"]), (1, ["own"])):
        claim: Any = SimpleNamespace(rate=rate, assumptions=("x",))
        assert list(starts.starts(claim, None)) == names  # type: ignore[arg-type]


def test_a_search_ends_where_nothing_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """After all instances and local searches; a place that is reached is polished, from far as well."""
    seen: list[str] = []
    places = iter([None, "place", None, None])
    more = iter([True, True, True, False])
    monkeypatch.setattr(search, "_begin", lambda *_: seen.append("begin"))
    monkeypatch.setattr(search, "_try_kinds", lambda *_: seen.append("kinds"))
    monkeypatch.setattr(search, "own_size", lambda _: 33)
    monkeypatch.setattr(search, "_try", lambda *_: next(more, False))
    monkeypatch.setattr(search, "_climb", lambda *_: next(places, None))
    monkeypatch.setattr(search, "_go_far", lambda *_: seen.append("far"))
    monkeypatch.setattr(search, "polish", lambda *_: seen.append("polish"))
    hunt: Any = SimpleNamespace(claim=SimpleNamespace(rate=None))
    search._go(hunt, iter(()), None)  # type: ignore[arg-type]
    assert seen == ["begin", "kinds"]
    seen.clear()
    more, places = iter([True, True, True, True]), iter([None, None, "place", None])
    search._go(hunt, iter(()), None)  # type: ignore[arg-type]
    assert seen == ["begin", "kinds", "far", "far", "polish"]
    seen.clear()
    hunt.claim.rate = 1
    search._go(hunt, iter(()), None)  # type: ignore[arg-type]
    assert seen == ["begin"]
