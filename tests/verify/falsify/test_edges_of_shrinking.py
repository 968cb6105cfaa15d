"""Steps of shrinking against lists by hand: fewer parts and keys, simpler numbers, weights and margins."""

from __future__ import annotations

from importlib import import_module
from types import SimpleNamespace
from typing import Any

import pytest
from flint import fmpq

from verify.falsify.run_tables import Table, get
from verify.falsify.shrink import (
    _AWAY,
    _compute_margin,
    _list_origins,
    _list_plain_factors,
    _measure_sides,
    _measure_table,
    _replace,
    _replace_at,
    _Shrinking,
    _sort_by_margin,
    list_clearer,
)
from verify.falsify.smaller_runs import _list_fewer, _list_subsets, remove_keys, remove_parts


def _table(count: int = 2, steps: Any = 1, rounds: int = 1, **algorithm: Any) -> Table:
    problem = {
        "kind": "quadratic",
        "hessians": [[[fmpq(1)]]] * count,
        "linear": [[fmpq(place)] for place in range(count)],
        "start": [fmpq(3)],
    }
    own = {"local_step_size": fmpq(1, 8), "local_steps": steps, "rounds": rounds}
    return {"problem": problem, "algorithm": own | algorithm}


@pytest.mark.parametrize(
    ("count", "expected"),
    [
        (1, []),
        (2, [1]),
        (3, [1, 2]),
        (4, [1, 2, 3]),
        (9, [1, 2, 4, 7, 8]),
        (32, [1, 2, 8, 16, 30, 31]),
        (33, [1, 2, 8, 16]),
    ],
)
def test_smaller_counts(count: int, expected: list[int]) -> None:
    assert _list_fewer(count) == expected


@pytest.mark.parametrize("least", [257, 460, 511])
@pytest.mark.parametrize("key", ["rounds", "local_steps"])
def test_large_counts_are_bisected(least: int, key: str) -> None:
    """Large counts are bisected to the smallest possible one, in logarithmically many tries."""
    counts = {"rounds": 1, "local_steps": 1} | {key: 512}
    one: Any = _Shrinking(None, _table(1, counts["local_steps"], counts["rounds"]), None, None, lambda _: None)  # type: ignore[arg-type]
    tried: list[int] = []

    def tries(table: Table) -> bool:
        tried.append(get(table, f"algorithm.{key}"))
        is_smaller: bool = least <= tried[-1] < get(one.table, f"algorithm.{key}")
        one.table = table if is_smaller else one.table
        return is_smaller

    one._tries = tries
    assert one._bisect_counts() is True
    assert get(one.table, f"algorithm.{key}") == least
    assert len(tried) <= 3 * 9


def test_parts_that_are_kept() -> None:
    """One, two of the first six, each half, all but one; of more than sixteen the first ones alone."""
    assert list(_list_subsets([0])) == []
    assert list(_list_subsets([0, 1])) == [[1], [0]]
    pairs = [[0, 1], [0, 2], [1, 2]]
    assert list(_list_subsets([0, 1, 2])) == [[0], [1], [2], *pairs, [0], [1, 2], [1, 2], [0, 2], [0, 1]]
    many = list(_list_subsets([*range(16)]))
    assert len(many) == 16 + 15 + 2 + 16
    assert many[31:33] == [[*range(8)], [*range(8, 16)]]
    assert [len(kept) for kept in _list_subsets([*range(17)])] == [1, 2, 9, 13, 15, 16]
    assert all(kept == [*range(len(kept))] for kept in _list_subsets([*range(17)]))


def test_runs_with_fewer_parts() -> None:
    """Fewer rounds, clients, and steps, of the same size or of the same product; each client's own steps as well."""
    found = [
        (len(table["problem"]["linear"]), *(get(table, f"algorithm.{key}") for key in ("rounds", "local_steps")), step)
        for table in remove_parts(_table(2, 3, 2))
        for step in (get(table, "algorithm.local_step_size"),)
    ]
    eighth = fmpq(1, 8)
    assert found == [
        (2, 1, 3, eighth),
        (1, 2, 3, eighth),
        (1, 2, 3, eighth),
        (2, 2, 1, eighth),
        (2, 2, 1, 3 * eighth),
        (2, 2, 2, eighth),
        (2, 2, 2, eighth * fmpq(3, 2)),
    ]
    own = [get(table, "algorithm.local_steps") for table in remove_parts(_table(2, [3, 1], 1))]
    assert own == [[1], [3], 1, 1, 2, 2, [1, 1], [2, 1]]
    rows = {"kind": "least-squares", "inputs": [[[fmpq(1)], [fmpq(2)]]], "outputs": [[fmpq(5), fmpq(7)]]}
    data: Table = {"problem": rows | {"start": [fmpq(0)]}, "algorithm": _table()["algorithm"]}
    assert [get(table, "problem.outputs") for table in remove_parts(data)] == [[[7]], [[5]]]


def test_few_coordinates_come_first_for_many_clients() -> None:
    for count, first in ((16, 16), (17, 17)):
        table = _table(count)
        table["problem"]["hessians"] = [[[fmpq(1), fmpq(0)], [fmpq(0), fmpq(2)]]] * count
        table["problem"]["linear"] = [[fmpq(0), fmpq(0)]] * count
        table["problem"]["start"] = [fmpq(3), fmpq(4)]
        tables = list(remove_parts(table))
        starts = [get(one, "problem.start") for one in tables]
        assert starts.count([3]) == starts.count([4]) == (2 if count > 16 else 1)
        assert (len(starts[0]) == 1) is (count > 16)
        assert len(tables[0]["problem"]["linear"]) == (first if count > 16 else 1)


def test_runs_with_fewer_keys() -> None:
    """Without optional keys; single participants, one step size and count for all, ties together, no short buffer."""
    law = {"kind": "uniform", "clients": 2}
    sizes = [fmpq(1, 8), fmpq(1, 4), fmpq(1, 8)]
    table = _table(3, [2, 2, 1], participation=law, local_step_size=sizes)
    without = list(remove_keys(table))
    assert get(without[0], "algorithm.participation") is None
    assert without[1] == table
    assert get(without[2], "algorithm.participation") == {"kind": "uniform", "clients": 1}
    assert [get(one, "algorithm.local_step_size") for one in without[3:5]] == [fmpq(1, 8), fmpq(1, 4)]
    assert [get(one, "algorithm.local_steps") for one in without[5:]] == [2, 1]
    one = _table(3, participation={"kind": "uniform", "clients": 1})
    assert len(list(remove_keys(one))) == 2
    fixed = _table(3, participation={"kind": "fixed", "clients": [0, 1]})
    assert len(list(remove_keys(fixed))) == 2


@pytest.mark.parametrize(
    ("clock", "expected"),
    [
        ({"policy": "async", "ties": "one-by-one"}, [{"policy": "async", "ties": "together"}]),
        ({"policy": "async", "ties": "together"}, []),
        ({"policy": "fedbuff", "buffer": 1}, [{"policy": "async"}]),
        ({"policy": "fedbuff", "buffer": 2}, []),
        ({"policy": "fedfix", "buffer": 1}, []),
    ],
)
def test_simpler_clocks(clock: Table, expected: list[Table]) -> None:
    """Without a clock, then reports together, and no buffer of one report."""
    found = [get(table, "algorithm.clock") for table in remove_keys(_table(clock=clock))]
    assert found == [None, clock, *expected]


def test_a_batch_of_one_is_simpler() -> None:
    table = _table()
    table["problem"]["batch"] = 3
    assert [get(one, "problem.batch") for one in remove_keys(table)] == [None, None, 1]


def test_numbers_of_a_key_are_replaced() -> None:
    """All that are equal, or one; an entry of a Hessian with its mirror image, and a number that is alone."""
    table = _table(3)
    table["problem"]["linear"] = [[fmpq(2)], [fmpq(5)], [fmpq(2)]]
    assert _replace(table, "problem.linear", fmpq(2), fmpq(7))["problem"]["linear"] == [[7], [5], [7]]
    assert _replace_at(table, "problem.linear", 2, fmpq(7))["problem"]["linear"] == [[2], [5], [7]]
    table["problem"]["hessians"] = [[[fmpq(1), fmpq(0)], [fmpq(0), fmpq(1)]]] * 2
    turned = _replace_at(table, "problem.hessians", 6, fmpq(7))["problem"]["hessians"]
    assert turned == [[[1, 0], [0, 1]], [[1, 7], [7, 1]]]
    assert get(_replace_at(table, "algorithm.local_step_size", 0, fmpq(7)), "algorithm.local_step_size") == 7


def test_weights_of_runs() -> None:
    """The work of a run, and the digits of its numbers, 24 for a key that may be left out, one for each own count.

    Digits count twice, where a power of two has that of one and those of its exponent: 1 has two, 3 has four, 8 four.
    """
    base = _measure_table(_table(1))
    # The curvature 1, the start 3, and the step 1/8, whose denominator counts twice again; a linear term of zero.
    assert base == (False, 1, 2 + 4 + (2 + 2 * 4))
    assert _measure_table(_table(2, 3, 5))[:2] == (False, 2 * 3 * 5)
    noisy = _table(1)
    noisy["problem"]["noise"] = [fmpq(1)]
    assert _measure_table(noisy)[2] == base[2] + 24 + 2
    assert _measure_table(_table(1, [1]))[2] == base[2] + 1
    for ties, more in (("one-by-one", 1), ("together", 0)):
        clock = {"policy": "async", "ties": ties, "times": [fmpq(1)]}
        assert _measure_table(_table(1, clock=clock))[2] == base[2] + 24 + 2 + more


@pytest.mark.parametrize(
    ("ratio", "margin"), [(None, None), (0.0, None), (-1.0, None), (4.0, 4.0), (0.25, 4.0), (1.0, 1.0)]
)
def test_margins(ratio: float | None, margin: float | None) -> None:
    """The larger side over the smaller one, where both are there."""
    found: Any = SimpleNamespace(ratio=ratio)
    assert _compute_margin(found) == margin


def test_weights_of_sides() -> None:
    """Only rationals have a printed length."""
    worst = SimpleNamespace(lhs=fmpq(3), rhs=fmpq(5, 2))
    for found, weight in (
        (SimpleNamespace(worst=None), 0),
        (SimpleNamespace(worst=worst), 4 + 6 + 2 * 3),
        (SimpleNamespace(worst=SimpleNamespace(lhs=0.5, rhs=fmpq(3))), 4),
    ):
        sides: Any = found
        assert _measure_sides(sides) == weight


def test_clear_margins_come_first() -> None:
    """Runs with a clear margin come before others, and the simplest one comes first."""

    def known(name: str, unclear: int, parts: int, gap: float) -> Any:
        return {"name": name}, (False, unclear, False, False, parts, 9), gap

    found = [known("a", 1, 1, 1.2), known("b", 0, 7, 5.0), known("c", 0, 3, 4.0), known("d", 1, 1, 1.4)]
    found.append(known("e", 2, 0, 0.0))
    assert [one[0]["name"] for one in sorted(found, key=_sort_by_margin)] == ["c", "b", "d", "a", "e"]


def test_a_start_at_the_optimum_is_moved_off_it() -> None:
    """A start at the optimum is moved by powers of a quarter on both sides; another start is kept."""
    table = _table(1)
    assert not any(get(one, "problem.start") == [1] for one in list_clearer(table))
    table["problem"]["start"] = [fmpq(0)]
    count = len(list(list_clearer(_table(1))))
    starts = [get(one, "problem.start")[0] for one in list(list_clearer(table))[count:]]
    assert len(starts) == len(_AWAY) == 24
    for step, start in zip(_AWAY, starts, strict=True):
        assert abs(step) / 2 <= abs(start) <= abs(step)
        assert start * step > 0
    assert _AWAY[:4] == (1, -1, fmpq(1, 4), fmpq(-1, 4))


def test_plain_factors() -> None:
    """Factors are the inverses of the rarest numbers, these numbers, and small numbers."""
    small = [fmpq(1, 2), fmpq(1, 3), fmpq(1, 4), fmpq(1, 5), fmpq(2), fmpq(4)]
    assert _list_plain_factors(_table(1)) == [
        8,
        fmpq(1, 3),
        1,
        fmpq(1, 8),
        3,
        *(one for one in small if one != fmpq(1, 3)),
    ]
    table = _table(1)
    table["problem"]["linear"] = [[fmpq(-101)]]
    table["problem"]["start"] = [fmpq(211)]
    table["problem"]["noise"] = [fmpq(5)]
    assert _list_plain_factors(table)[:4] == [fmpq(1, 211), fmpq(1, 101), 8, fmpq(1, 5)]
    assert _list_plain_factors(table)[4:8] == [211, 101, fmpq(1, 8), 5]


def test_points_that_could_be_zero() -> None:
    """The start, the optimum, and the minimisers of clients that have one are candidates for zero."""
    assert [list(point) for point in _list_origins(_table(2))] == [[3], [fmpq(1, 2)], [0], [1]]


def test_equal_minimisers_of_many_clients_are_one_candidate_for_zero() -> None:
    """Each candidate rewrites all clients, so a thousand clients with two minimisers add two candidates."""
    table = _table(2)
    problem = table["problem"] | {name: table["problem"][name] * 512 for name in ("hessians", "linear")}
    assert _list_origins(table | {"problem": problem})[2:] == [[0], [1]]


def test_the_steps_towards_a_clear_margin(monkeypatch: pytest.MonkeyPatch) -> None:
    """At most six steps are made, each to the best run nearby; they end at a clear margin or without progress."""

    shrink = import_module("verify.falsify.shrink")

    def turned(unclear: list[int], gaps: list[float]) -> int:
        steps = iter(range(1, 20))
        monkeypatch.setattr(shrink, "count_clients", lambda _: 1)
        monkeypatch.setattr(shrink, "list_clearer", lambda _: [next(steps)])
        monkeypatch.setattr(shrink, "_compute_margin", lambda found: found)
        monkeypatch.setattr(shrink, "evaluate_rigorously", lambda _, table: gaps[table])
        monkeypatch.setattr(
            shrink, "_measure_effort_of_check", lambda table, _, __: (False, unclear[table], False, False, 1, 1)
        )
        one: Any = _Shrinking(None, 0, (False, unclear[0], False, False, 1, 1), None, lambda _: None)  # type: ignore[arg-type]
        one._clear_margin()
        return int(one.table)

    assert turned([0, 0], [1.0, 9.0]) == 0
    assert turned([2, 1, 0, 0], [1.0, 1.0, 1.0, 9.0]) == 2
    assert turned([1] * 20, [1.0, 2.0, 3.0, 3.0, 4.0]) == 2
    assert turned([1] * 20, [float(place) for place in range(20)]) == 6
    assert turned([1, 2, 0], [1.0, 2.0, 3.0]) == 2
