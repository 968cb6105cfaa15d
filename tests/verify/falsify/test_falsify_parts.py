"""Structures of run tables by hand: counts, clients, clocks, sizes, features, and the moves between them."""

from __future__ import annotations

import math
from typing import Any

from claim_symbols import WHERE, L, eta
from falsify_tables import EIGHTH, HALF, _table
from flint import fmpq

from fedtheory.arithmetic import RATIONAL
from fedtheory.language.claim import Claim
from verify.falsify.run_tables import (
    Table,
    count_rows,
    count_steps,
    find_most_steps,
    get,
    list_features,
    measure_hand_work,
    with_clients,
)
from verify.falsify.search_state import (
    FAR,
    NEAR,
    SearchPoint,
    SearchState,
    _choose_best,
    estimate_cost,
    is_moving,
    measure_movement,
)
from verify.falsify.structure import (
    _change_batches,
    _change_clients,
    _change_clocks,
    _change_counts,
    _drop_dimensions,
    _remove_row,
)

CLAIM = Claim(id="t:parts", lhs=eta, rhs=L, where=WHERE)


def _counts(tables: Any) -> list[Any]:
    keys = ("rounds", "local_steps", "local_step_size")
    return [tuple(get(table, f"algorithm.{key}") for key in keys) for table in tables]


def test_other_counts() -> None:
    """Changed counts are one round, one more or fewer, twice or four times as many; steps of the same size or
    product.
    """
    found = _counts(_change_counts(_table()))
    assert {rounds for rounds, _, _ in found[:4]} == {1, 2, 4, 6}
    assert found[4] == (12, 2, HALF / 8)
    assert found[5:] == [
        *((3, 1, EIGHTH), (3, 1, EIGHTH * 2)),
        *((3, 3, EIGHTH), (3, 3, EIGHTH * fmpq(2, 3))),
        *((3, 4, EIGHTH), (3, 4, EIGHTH / 2)),
        *((3, 1, EIGHTH), (3, 1, EIGHTH * 2)),
    ]
    assert {rounds for rounds, _, _ in _counts(_change_counts(_table(rounds=1)))[:2]} == {1, 2}
    own = _counts(_change_counts(_table(steps=[2, 1])))[5:]
    assert own[:2] == [(3, 1, EIGHTH), (3, 1, [EIGHTH * 2, EIGHTH])]
    assert own[2:4] == [(3, [3, 2], EIGHTH), (3, [3, 2], [EIGHTH * fmpq(2, 3), EIGHTH / 2])]
    assert own[4:6] == [(3, [4, 2], EIGHTH), (3, [4, 2], EIGHTH / 2)]
    assert [steps for _, steps, _ in own[8:]] == [[3, 1], [3, 1], 1, 1, 2, 2]
    formula = _counts(_change_counts(_table(steps=[2, 1], local_step_size="1/n")))[5:]
    assert formula[:2] == [(3, 1, "1/n"), (3, [3, 2], "1/n")]


def test_other_clients() -> None:
    """Changed clients are one fewer, twice as many, one of them again, and equal weights."""

    def linear(count: int) -> list[list[int]]:
        return [[int(linear[0]) for linear in table["problem"]["linear"]] for table in _change_clients(_table(count))]

    assert linear(1) == [[0, 0], [0, 0]]
    assert linear(2) == [[1], [0], [0, 1, 0, 1], [0, 1, 0], [0, 1, 1]]
    assert [len(one) for one in linear(3)] == [2, 2, 2, 6, 4, 4, 4]
    assert [len(one) for one in linear(4)] == [3] * 4 + [8]
    assert [len(one) for one in linear(8)] == [7] * 8 + [16]
    assert [len(one) for one in linear(9)] == [8] * 9
    weighted = _table(2)
    weighted["problem"]["weights"] = [fmpq(1, 4), fmpq(3, 4)]
    assert get([*_change_clients(weighted)][-1], "problem.weights") is None


def test_other_clocks() -> None:
    clock = {"policy": "fedbuff", "times": [fmpq(1), fmpq(3)], "ties": "together", "buffer": 2}
    found = [get(table, "algorithm.clock") for table in _change_clocks(_table(clock=clock))]
    assert found[0] is None
    assert [one["times"] for one in found[1:7]] == [[2, 3], [0, 3], [2, 3], [1, 4], [1, 2], [1, 6]]
    assert [found[7]["ties"], found[8]["buffer"], found[9]["buffer"]] == ["one-by-one", 1, 3]
    back = [get(table, "algorithm.clock") for table in _change_clocks(_table(clock=clock | {"ties": "one-by-one"}))]
    assert back[7]["ties"] == "together"
    assert list(_change_clocks(_table())) == []
    assert len(list(_change_clocks(_table(clock={"policy": "async", "times": [fmpq(1)]})))) == 4


def test_other_batches_and_dimensions() -> None:
    """No batch, one row with replacement, one more row, and one row of every client fewer."""
    data: Table = _table(1)
    data["problem"] = {"inputs": [[["a"], ["b"]], [["c"], ["d"], ["e"]]], "outputs": [[1, 2], [3, 4, 5]]}
    found = list(_change_batches(data))
    assert [(get(t, "problem.batch"), get(t, "problem.replacement")) for t in found] == [(None, None), (1, True)]
    data["problem"] |= {"batch": 2, "replacement": False}
    found = list(_change_batches(data))
    assert [(get(t, "problem.batch"), get(t, "problem.replacement")) for t in found[:3]] == [
        *((None, None), (2, True), (3, False)),
    ]
    assert [get(table, "problem.outputs") for table in found[3:]] == [[[2], [4, 5]], [[1], [3, 5]]]
    assert _remove_row([[1, 2, 3]], 1) == [[1, 3]]
    data["problem"]["inputs"] = [[["a"]]]
    data["problem"]["outputs"] = [[1]]
    assert len(list(_change_batches(data))) == 3
    assert list(_change_batches(_table())) == []
    assert [len(get(t, "problem.start")) for t in _drop_dimensions(_table(dimension=3))] == [2, 2, 2]
    assert list(_drop_dimensions(_table())) == []


def test_sizes_of_tables() -> None:
    """Longest local steps, in all rounds; numbers of rows, and the work by hand."""
    assert [find_most_steps(_table(steps=steps)) for steps in (4, [1, 3])] == [4, 3]
    assert (count_steps(_table(steps=[1, 3])), measure_hand_work(_table(dimension=2))) == (9, 2 * 4 * 6)
    data: Table = {"problem": {"inputs": [[[1]], [[1], [2]]]}, "algorithm": {"rounds": 3, "local_steps": 2}}
    assert (count_rows(data), count_rows(_table()), measure_hand_work(data)) == (3, 0, 2 * 6 + 3)
    assert estimate_cost(_table()) == (2 * 2 + 6) * 8
    assert estimate_cost(_table(clock={"policy": "async"})) == 6 * 2 * 3 * 8
    assert estimate_cost(_table(clock={"policy": "sync"})) == estimate_cost(_table())
    data["problem"]["batch"] = 1
    assert estimate_cost(data) == (6 * 2 + 3) * 8


def test_features_beyond_plain_averaging() -> None:
    assert list_features(_table()) == set()
    assert list_features(_table(steps=[1, 2], server_step_size=fmpq(1))) == {
        *("algorithm.local_steps", "algorithm.server_step_size"),
    }
    terms: Table = {"problem": {"kind": "huber", "terms": [1]}, "algorithm": {}}
    assert list_features(terms) == {"problem.kind huber"}
    law = {"kind": "uniform", "clients": 1}
    assert list_features(_table(participation=law)) == {"algorithm.participation.kind uniform"}
    assert list_features(_table(participation={"kind": "full"}, clock={"policy": "sync"})) == set()
    assert list_features(_table(clock={"policy": "async", "ties": "together"})) == {
        *("algorithm.clock.policy async", "algorithm.clock.ties together"),
    }


def test_some_of_the_clients() -> None:
    """Weights of a selection sum to one again; participants and the buffer are limited to the selected clients."""
    table = _table(3, participation={"kind": "fixed", "clients": [0, 2]})
    table["problem"]["weights"] = [fmpq(1, 2), fmpq(1, 4), fmpq(1, 4)]
    found = with_clients(table, [2, 1])
    assert (found["problem"]["weights"], found["algorithm"]["participation"]["clients"]) == ([HALF, HALF], [0])
    uniform = _table(3, participation={"kind": "uniform", "clients": 2}, clock={"buffer": 2})
    for kept, count in (([0], 1), ([0, 1], 2), ([0, 1, 2, 0], 2)):
        few = with_clients(uniform, kept)
        assert (get(few, "algorithm.participation.clients"), get(few, "algorithm.clock.buffer")) == (count, count)


def test_runs_that_move() -> None:
    """A run moves if step size times curvature over all steps is at least a sixteenth."""
    assert measure_movement(_table()) == 6 / 8
    assert measure_movement({"problem": {}, "algorithm": {"local_step_size": HALF}}) == math.inf
    for rounds, lively in ((1, False), (2, True), (3, True)):
        assert is_moving(_table(steps=1, rounds=rounds, local_step_size=fmpq(1, 32))) is lively
    places = [SearchPoint({}, float(score)) for score in range(30)]
    best = _choose_best(places)
    assert [place.score for place in best] == [float(score) for score in range(29, 5, -1)]


def test_runs_within_reach() -> None:
    state = SearchState(CLAIM, 1e9)
    assert state.is_within_reach(_table(2, 2, 64))
    assert not state.is_within_reach(_table(2, 2, 65))
    state.reach = FAR
    assert state.is_within_reach(_table(2, 64, 64))
    assert not state.is_within_reach(_table(2, 64, 65))
    assert NEAR.arithmetic is RATIONAL
