"""Points of the search by regimes are compared with tables by hand: their levels, algorithms and problems."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import pytest
import sympy as sp
from flint import fmpq

from verify.falsify.regimes.algorithm_tables import (
    ClaimedAlgorithm,
    _build_factor,
    _build_local_work,
    _evaluate_level,
    _format_level,
    _list_rule,
    build_decreasing_steps,
    count_rounds_of_a_cycle,
)
from verify.falsify.regimes.factors import BASE, STANDARD, Factor, Point, count, normalise
from verify.falsify.regimes.horizon import find_rounds
from verify.falsify.regimes.problem_tables import build_problem, find_largest_step
from verify.falsify.simple_numbers import round_below, round_power
from verify.instances.algorithms import build_mixing_matrix

HALF = fmpq(1, 2)


def _at(**levels: Any) -> Point:
    return {**BASE, **{name.replace("_", " "): level for name, level in levels.items()}}


def test_levels_are_bounded() -> None:
    """Each level is bounded on its own, and numbers are limited from both sides."""
    one = Factor("one", (0, 3, 5, 9), low=-1, high=9)
    assert (one.up_to(4).levels, one.up_to(4).high) == ((0, 3, 4), 4)
    assert one.without(3).levels == (0, 5, 9)
    assert [one.within(level) for level in (-2, -1, 0, 9, 10)] == [-1, -1, 0, 9, 9]
    assert [Factor("one", (0,), plain).has_plain for plain in ("none", None, 0)] == [False, True, True]
    assert [count(level) for level in (-3, 0, 1, 2.585, 3.32, 9.97, 40)] == [1, 1, 2, 6, 10, 1003, 2**26]


def test_levels_in_words() -> None:
    for name, level, words in (
        ("clients", 9.97, "1,003"),
        ("conditioning", None, "0"),
        ("conditioning", -3, "0.125"),
        ("weights", None, "none"),
        ("weights", "one tiny", "one tiny"),
        ("sources", "snp", "start + noise + unlike gradients"),
        ("horizon", ("T", 0), "1 round"),
        ("horizon", ("T", -1), "1 round"),
        ("horizon", ("T", 1), "2 rounds"),
        ("horizon", ("cycle", 0), "1 cycle"),
        ("horizon", ("cycle", 1), "2 cycles"),
        ("horizon", ("L", 5), "32/(eta L) steps"),
        ("horizon", ("mu", -1), "0.5/(eta mu) steps"),
        ("step size", 0, "the edge"),
        ("step size", -4, "0.062 of the edge"),
    ):
        assert STANDARD[name].in_words(level) == words


@pytest.mark.parametrize(
    ("levels", "changes"),
    [
        ({}, {}),
        ({"angle": -3}, {"angle": -6.6}),
        ({"angle": -3, "curvatures": "rank one"}, {}),
        ({"clients": 0}, {"curvatures": "alike"}),
        ({"clients": 0, "curvatures": "one flat"}, {"curvatures": "alike"}),
        ({"clients": 0, "curvatures": "one steep"}, {"curvatures": "alike"}),
        ({"clients": 0, "curvatures": "rank one", "angle": -3}, {"curvatures": "diagonal", "angle": -6.6}),
        ({"clients": 0, "curvatures": "crossed"}, {}),
        ({"clients": 0, "unlike_gradients": "one"}, {"curvatures": "alike", "unlike gradients": "signs"}),
        ({"clients": 0, "weights": "one tiny", "participation": "one"}, {"curvatures": "alike", "weights": None}),
        ({"clients": 0, "local_work": "unequal", "noisy_clients": "one"}, {"local work": None}),
        ({"clients": 1, "weights": "one tiny", "noisy_clients": "one"}, {}),
        ({"clients": 10, "local_steps": 9}, {"local steps": 7}),
        ({"clients": 18, "local_steps": 9}, {"local steps": 7}),
        ({"clients": 13, "weights": "one heavy"}, {"clients": 10}),
        ({"clients": 1, "local_steps": 16}, {}),
        ({"clients": 1, "local_steps": 16, "clock": "buffer"}, {"local steps": 11}),
        ({"direction": "steep"}, {"direction": "both"}),
        ({"direction": "minus"}, {}),
        ({"direction": "steep", "curvatures": "crossed"}, {}),
        ({"direction": "steep", "curvatures": "one flat"}, {"direction": "both"}),
        ({"sources": "sp", "noise": 5, "noisy_clients": "one"}, {"noise": 0, "noisy clients": "all"}),
        ({"sources": "sn", "noise": 5, "noisy_clients": "one"}, {}),
        ({"sources": "n", "noise": 5}, {"noise": 0}),
        ({"sources": "p", "gradients": 5}, {"gradients": 0}),
        ({"sources": "np", "gradients": 5}, {}),
        ({"sources": "sn", "gradients": 5}, {"gradients": 0}),
        ({"sources": "sn", "gradients": 5, "loss": "data"}, {}),
        ({"sources": "s", "loss": "rare rows"}, {"sources": "sn"}),
        ({"sources": "p", "loss": "rare rows", "gradients": 5}, {"sources": "snp"}),
        ({"sources": "n", "loss": "data"}, {}),
    ],
    ids=str,
)
def test_points_without_what_changes_nothing(levels: dict[str, Any], changes: dict[str, Any]) -> None:
    point, found = _at(**levels), normalise(_at(**levels))
    alone = {"weights": None, "participation": None, "local work": None, "noisy clients": "all"}
    expected = {**point, **(alone if levels.get("clients") == 0 else {}), **changes}
    if levels.get("clients") == 0 and levels.get("curvatures", "alternate") != "crossed":
        expected["curvatures"] = "diagonal" if levels.get("curvatures") == "rank one" else "alike"
    assert found == expected


def test_numbers_of_points() -> None:
    assert [round_power(exponent) for exponent in (None, 0, 3, -2)] == [0, 1, 8, fmpq(1, 4)]
    for bound in (0.3, 1.0, 7.7, 1e-9, 123456.789):
        for relative in (0.01, 1e-9):
            found = float(round_below(bound, relative))
            assert bound * (1 - relative) <= found <= bound * (1 + 1e-12)
    assert (round_below(1.0), round_below(0.75), round_below(0.3334), round_below(6.0)) == (
        1,
        fmpq(3, 4),
        fmpq(1, 3),
        6,
    )


def _parameter(allowed: sp.Set, *, is_flag: bool = False) -> Any:
    return SimpleNamespace(key="beta", allowed=allowed, is_flag=is_flag)


def test_levels_of_parameters() -> None:
    """Levels are both ends of a closed range and places between them; numbers near the ends are powers of two."""
    closed, opened, half = sp.Interval(0, 1), sp.Interval.open(0, 1), sp.Interval.Ropen(0, 1)
    assert _build_factor(_parameter(closed)).levels == (None, -7, -1, 3, 7, "1")
    assert _build_factor(_parameter(opened)).levels == (-7, -1, 3, 7)
    assert _build_factor(_parameter(half)).levels == (None, -7, -1, 3, 7)
    assert _build_factor(_parameter(sp.Interval(0, sp.oo))).levels == (None, -7, 0, 3)
    assert _build_factor(_parameter(sp.Interval.open(0, sp.oo))).levels == (-7, 0, 3)
    assert _build_factor(_parameter(sp.S.Reals)).levels == (None, -7, 0, 3)
    assert _build_factor(_parameter(sp.S.Naturals)).levels == (0, 1, 3)
    assert _build_factor(_parameter(sp.S.Reals, is_flag=True)).levels == (False, True)
    assert _build_factor(_parameter(sp.Interval(1, 3))).levels == ("1", "2")
    assert _build_factor(_parameter(sp.Interval(0, 2))).levels == ("0", "1/10", "1/2", "9/10", "1", "2")
    assert _build_factor(_parameter(sp.Interval(3, 4))).levels == (None,)
    assert (_build_factor(_parameter(opened)).low, _build_factor(_parameter(opened)).high) == (-12, 12)
    assert (_build_factor(_parameter(sp.S.Reals)).low, _build_factor(_parameter(sp.S.Reals)).high) == (-20, 20)


def test_numbers_of_parameters() -> None:
    """On the unit interval the level -n is 2^-n, the level n is 1 - 2^-n, and zero is the middle."""
    unit, line, whole = (_parameter(one) for one in (sp.Interval(0, 1), sp.Interval(0, sp.oo), sp.S.Naturals))
    levels = (None, -7, -1, 0, 3, 7, "1")
    expected = [0, fmpq(1, 128), HALF, HALF, fmpq(7, 8), fmpq(127, 128), "1"]
    assert [_evaluate_level(unit, level, {}) for level in levels] == expected
    assert [_evaluate_level(line, level, {}) for level in (None, -2, 0, 3)] == [0, fmpq(1, 4), 1, 8]
    assert [_evaluate_level(whole, level, {}) for level in (0, 1, 3)] == [1, 2, 8]
    assert [_evaluate_level(whole, level, {"dimension": 1}) for level in (0, 1, 3)] == [1, 2, 2]
    assert [
        _evaluate_level(whole, 3, {"dimension": 4}),
        _evaluate_level(_parameter(sp.S.Reals, is_flag=True), True, {}),
    ] == [8, True]
    assert _format_level(unit, -7) == "1/128"


def test_work_of_unlike_clients() -> None:
    """The first client takes one step; the others take at least two, possibly shorter ones."""
    algorithm = {"local_steps": 4, "local_step_size": HALF}
    unequal = _build_local_work(algorithm, _at(clients=1.585, local_work="unequal"))
    assert unequal == {"local_steps": [1, 4, 4]}
    alike = _build_local_work({**algorithm, "local_steps": 1}, _at(clients=1, local_work="normalised"))
    assert alike == {"local_steps": [1, 2], "local_step_size": [HALF, HALF / 2]}
    assert _build_local_work(algorithm, _at(clients=0, local_work="unequal")) == {}
    assert _build_local_work(algorithm, _at(clients=1)) == {}
    assert _build_local_work({"local_step_size": HALF}, _at(local_work="unequal")) == {}


@pytest.mark.parametrize(
    ("levels", "expected"),
    [
        ({}, {}),
        ({"server_step_size": "M"}, {"server_step_size": 3}),
        ({"server_step_size": -7}, {"server_step_size": fmpq(1, 128)}),
        ({"participation": "one"}, {"participation": {"kind": "uniform", "clients": 1}}),
        ({"participation": "half", "clients": 2.33}, {"participation": {"kind": "uniform", "clients": 2}}),
        ({"participation": "half", "clients": 0}, {"participation": {"kind": "uniform", "clients": 1}}),
        ({"participation": "multinomial"}, {"participation": {"kind": "multinomial", "clients": 1}}),
        ({"participation": "multinomial", "clients": 2}, {"participation": {"kind": "multinomial", "clients": 2}}),
        ({"participation": "multinomial", "clients": 5}, {"participation": {"kind": "multinomial", "clients": 2}}),
        ({"participation": "multinomial", "clients": 6}, {"participation": {"kind": "multinomial", "clients": 1}}),
        ({"aggregation": "unequal"}, {"aggregation": [2, HALF, HALF]}),
        ({"aggregation": "identical"}, {"aggregation": "identical"}),
        ({"clock": "one slow"}, {"clock": {"policy": "async", "times": ["1", "1", "8"], "ties": "one-by-one"}}),
        ({"clock": "equal times"}, {"clock": {"policy": "async", "times": ["1"] * 3, "ties": "one-by-one"}}),
        ({"clock": "fixed intervals"}, {"clock": {"policy": "fedfix", "times": ["1", "2", "3"], "interval": "1"}}),
        (
            {"clock": "long intervals", "clients": 2},
            {"clock": {"policy": "fedfix", "times": ["1", "2", "3", "1"], "interval": "3"}},
        ),
        ({"clock": "buffer"}, {"clock": {"policy": "fedbuff", "times": ["1", "2", "3"], "buffer": 2}}),
        ({"clock": "buffer", "clients": 0}, {"clock": {"policy": "fedbuff", "times": ["1"], "buffer": 1}}),
    ],
    ids=str,
)
def test_settings_of_points(levels: dict[str, Any], expected: dict[str, Any]) -> None:
    assert dict(_list_rule(_at(**{"clients": 1.585, **levels}))) == expected


def test_rounds_until_all_have_reported_in_proportion() -> None:
    """With three clients of times 1, 1 and 8, then 1, 2 and 3: by reports, and by intervals."""
    cycles = {None: 1, "one slow": 17, "equal times": 3, "fixed intervals": 6, "long intervals": 1, "buffer": 1}
    assert {kind: count_rounds_of_a_cycle(_at(clients=1.585, clock=kind)) for kind in cycles} == cycles


def test_mixing_and_decreasing_steps() -> None:
    """Clients keep a share and spread the rest; steps decrease with the smallest curvature and the longest work."""
    assert build_mixing_matrix(2, HALF) == [[fmpq(3, 4), fmpq(1, 4)], [fmpq(1, 4), fmpq(3, 4)]]
    diagonal = [[[fmpq(3), fmpq(0)], [fmpq(0), fmpq(2)]], [[fmpq(5), fmpq(0)], [fmpq(0), fmpq(7)]]]
    algorithm = {"local_step_size": HALF, "local_steps": [1, 3]}
    assert build_decreasing_steps({"hessians": diagonal}, algorithm) == {"local_step_size": "1/(2 + (3)*n)"}
    crossed = [diagonal[0], [[fmpq(5), fmpq(1)], [fmpq(0), fmpq(7)]]]
    assert build_decreasing_steps({"hessians": crossed}, algorithm) == {}
    assert build_decreasing_steps({"hessians": crossed[::-1]}, algorithm) == {}
    assert build_decreasing_steps({}, algorithm) == {}
    assert build_decreasing_steps({"hessians": diagonal}, algorithm | {"local_step_size": [HALF]}) == {}


def test_factors_of_algorithms() -> None:
    """Parameters without a value in the claim; how much clients mix on a graph, dimensions where steps compress."""
    assert ClaimedAlgorithm("fedavg").factors == ()
    assert not ClaimedAlgorithm("fedavg").steps_are_rounds
    assert {one.name for one in ClaimedAlgorithm("compressed").factors} >= {"dimension"}
    assert "dimension" not in {one.name for one in ClaimedAlgorithm("dsgd").factors}
    (mixing,) = (one for one in ClaimedAlgorithm("dsgd").factors if one.name == "mixing")
    assert (mixing.levels, mixing.steps, mixing.low, mixing.high) == ((0, 1, 4, 8), (2, 1), 0, 12)
    assert [mixing.in_words(level) for level in (0, 1, 4)] == ["complete", "0.5 kept", "0.938 kept"]
    (dimension,) = (one for one in ClaimedAlgorithm("compressed").factors if one.name == "dimension")
    assert (dimension.levels, dimension.steps, dimension.low, dimension.high) == ((0, 1, 3), (1,), 0, 4)
    assert [dimension.in_words(level) for level in (0, 1, 4)] == ["1", "2", "16"]
    free = {one.name for one in ClaimedAlgorithm("fedprox").factors}
    (key,) = free
    assert {one.name for one in ClaimedAlgorithm("fedprox", ((key, 1),)).factors} == set()
    assert ClaimedAlgorithm("fedprox", ((key, 7), ("another", 8)))._parameters({}) == {key: 7}


def test_quadratics_of_points() -> None:
    """Curvatures 1 and 1/8, gradients of both signs, variance one, a start at one; then units, and what is absent."""
    tame = build_problem(_at())
    assert tame["hessians"] == [[[1]], [[fmpq(1, 8)]]]
    assert (tame["linear"], tame["noise"], tame["start"]) == ([[1], [-1]], [1, 1], [1])
    other = build_problem(_at(unit_of_values=12, unit_of_length=-12))
    assert other["hessians"] == [[[2**12]], [[2**9]]]
    assert (other["linear"], other["noise"], other["start"]) == ([[1], [-1]], [1, 1], [fmpq(1, 2**12)])
    still = build_problem(_at(sources="", noise=5))
    assert "noise" not in still
    assert (still["linear"], still["start"]) == ([[0], [0]], [0])
    loud = build_problem(_at(sources="n", noise=5, noisy_clients="one", gradients=5))
    assert (loud["noise"], loud["linear"]) == ([1024, 0], [[0], [0]])


@pytest.mark.parametrize(
    ("levels", "linear"),
    [
        ({"gradients": 5}, [[32], [-32]]),
        ({"clients": 1.585}, [[HALF], [-1], [HALF]]),
        ({"clients": 1.585, "unlike_gradients": "one"}, [[1], [-HALF], [-HALF]]),
        ({"clients": 0}, [[0]]),
        ({"weights": "one heavy"}, [[fmpq(1, 19)], [-1]]),
    ],
    ids=str,
)
def test_gradients_of_points(levels: dict[str, Any], linear: Any) -> None:
    """The weighted mean of the gradients is zero, and the largest gradient is the given one."""
    assert build_problem(_at(**levels))["linear"] == linear


@pytest.mark.parametrize(
    ("levels", "hessians"),
    [
        ({"curvatures": "alike"}, [[[1]]] * 3),
        ({"curvatures": "alternate"}, [[[1]], [[fmpq(1, 8)]], [[1]]]),
        ({"curvatures": "one steep"}, [[[1]], [[fmpq(1, 8)]], [[fmpq(1, 8)]]]),
        ({"curvatures": "one flat"}, [[[fmpq(1, 8)]], [[1]], [[1]]]),
        ({"curvatures": "diagonal"}, [[[1, 0], [0, fmpq(1, 8)]]] * 3),
        (
            {"curvatures": "crossed", "conditioning": None},
            [[[1, 0], [0, 0]], [[0, 0], [0, 1]], [[1, 0], [0, 0]]],
        ),
        ({"curvatures": "alternate", "negative_curvature": "one client"}, [[[-HALF]], [[fmpq(1, 8)]], [[1]]]),
        ({"curvatures": "alike", "negative_curvature": "all"}, [[[-1]]] * 3),
        ({"curvatures": "diagonal", "negative_curvature": "all"}, [[[1, 0], [0, -fmpq(1, 8)]]] * 3),
        ({"curvatures": "alike", "clients": 0, "negative_curvature": "one client"}, [[[-1]]]),
        ({"curvatures": "alike", "dimension": 1, "clients": 0}, [[[1, 0], [0, 1]]]),
        ({"curvatures": "diagonal", "dimension": 0, "clients": 0}, [[[1, 0], [0, fmpq(1, 8)]]]),
    ],
    ids=str,
)
def test_curvatures_of_points(levels: dict[str, Any], hessians: Any) -> None:
    assert build_problem(_at(**{"clients": 1.585, **levels}))["hessians"] == hessians


def test_curvatures_along_nearly_one_direction() -> None:
    """One and a slope of 1/8, squared across, with a thin rest: a part of the flat one, or its square."""
    for conditioning, across in ((-3, fmpq(1, 512)), (-5, fmpq(1, 2048)), (-10, fmpq(1, 2**20)), (None, fmpq(0))):
        point = _at(curvatures="rank one", angle=-3, conditioning=conditioning)
        slope = fmpq(1, 8)
        expected = [
            [[1 + across, sign * slope], [sign * slope, slope * slope + across]] for sign in (fmpq(1), fmpq(-1))
        ]
        assert build_problem(point)["hessians"] == expected


@pytest.mark.parametrize(
    ("levels", "start", "first"),
    [
        ({"direction": "both"}, [1, 1], [1, 0]),
        ({"direction": "flat"}, [0, 1], [1, 0]),
        ({"direction": "steep"}, [1, 0], [1, 0]),
        ({"direction": "minus"}, [-1, -1], [1, 0]),
        ({"direction": "both", "sources": "np"}, [0, 0], [1, 0]),
        ({"direction": "both", "unlike_gradients": "one"}, [1, 1], [1, 1]),
        ({"direction": "both", "unlike_gradients": "one", "curvatures": "rank one"}, [1, 1], [1, 0]),
    ],
    ids=str,
)
def test_directions_of_points(levels: dict[str, Any], start: list[int], first: list[int]) -> None:
    found = build_problem(_at(**{"curvatures": "crossed", **levels}))
    assert (found["start"], found["linear"][0]) == (start, first)


def test_losses_of_points() -> None:
    """One term around the client's gradient, or two that cancel there; enumerated losses have three clients at most."""

    def terms(**levels: Any) -> list[list[tuple[str, str, str]]]:
        found = build_problem(_at(**levels))["terms"]
        assert all(term["coordinate"] == 0 for one in found for term in one)
        return [[(term["weight"], term["centre"], term["width"]) for term in one] for one in found]

    assert terms(loss="Huber") == [[("1", "1", "1")], [("1/8", "-1", "1")]]
    assert terms(loss="Huber", curvatures="diagonal", conditioning=None) == [[("1", "1", "1")], [("1", "-1", "1")]]
    assert terms(loss="Huber", conditioning=None)[1] == [("1/4", "-1", "1")]
    wide = str(2**26)
    assert terms(loss="kinked", clients=0) == [[("1", "1", "1"), ("1/8", "-8", wide)]]
    assert len(terms(loss="Huber", clients=9.97)) == 3
    units = build_problem(_at(loss="Huber", unit_of_values=12, unit_of_length=-12, sources="n"))
    assert units["terms"][0][0] == {"coordinate": 0, "weight": "4096", "centre": "0", "width": "1/4096"}
    assert (units["start"], units["noise"]) == (["0"], ["1", "1"])
    assert build_problem(_at(loss="kinked", unit_of_length=-12))["start"] == ["1/4096"]
    starts = {"Huber": "3", "kinked": "1", "Huber, linear part": "64", "bounded": "127/64"}
    for loss, start in starts.items():
        assert build_problem(_at(loss=loss))["start"] == [start]
        assert build_problem(_at(loss=loss, direction="minus"))["start"] == [f"-{start}"]
        leaves = loss in ("Huber", "kinked")
        assert build_problem(_at(loss=loss, sources="n"))["start"] == ["0" if leaves else start]
        assert build_problem(_at(loss=loss))["kind"] == ("hampel" if loss == "bounded" else "huber")


def test_data_of_points() -> None:
    """Rows whose squares sum to half of their number, two where curvatures alternate; the rest is zero."""
    found = build_problem(_at(loss="data", clients=9.97))
    assert (len(found["inputs"]), found["batch"], found["start"]) == (2, 1, ["1"])
    assert (found["inputs"][0], found["outputs"]) == ([["1"], ["1"]], [["1", "-1"], ["-1", "1"]])
    alone = build_problem(_at(loss="data", curvatures="alike", sources="p"))
    assert (alone["inputs"][0], alone["outputs"]) == ([["1"], ["0"]], [["1", "0"], ["-1", "0"]])
    assert ("batch" in alone, alone["start"]) == (False, ["0"])
    for level, root in ((0, 1), (5, 2), (-5, 4), (-9, 8), (9, 16), (1, 1)):
        rows = build_problem(_at(loss="data", gradients=level, clients=0, curvatures="alike"))["inputs"][0]
        assert rows == [[str(root)]] + [["0"]] * (2 * root**2 - 1)
        assert find_largest_step(_at(loss="data", gradients=level)) == math.inf
    for level, root in ((0, 4), (5, 8), (-5, 2), (9, 16), (1, 4)):
        assert find_largest_step(_at(loss="rare rows", gradients=level)) == 1 / root**2


@pytest.mark.parametrize(
    ("levels", "rounds"),
    [
        ({"horizon": ("T", 3)}, 8),
        ({"horizon": ("T", -3)}, 1),
        ({"horizon": ("L", 5)}, 64),
        ({"horizon": ("mu", 5)}, 512),
        ({"horizon": ("mu", 5), "curvatures": "alike"}, 64),
        ({"horizon": ("mu", 5), "conditioning": None}, 64),
        ({"horizon": ("mu", 5), "curvatures": "rank one", "angle": -2}, 1024),
        ({"horizon": ("L", 5), "server_step_size": "M"}, 32),
        ({"horizon": ("L", 5), "server_step_size": -2}, 256),
        ({"horizon": ("L", 5), "local_steps": 3}, 16),
        ({"horizon": ("cycle", 2), "clock": "equal times"}, 8),
        ({"horizon": ("cycle", 20), "clock": "equal times"}, 256),
        ({"horizon": ("cycle", 0), "clock": "fixed intervals", "clients": 1.585}, 6),
    ],
    ids=str,
)
def test_rounds_of_points(levels: dict[str, Any], rounds: int) -> None:
    """With a step size of 1/4 and two local steps: by rounds, by curvatures that are forgotten, and by cycles."""
    assert find_rounds(_at(**levels), fmpq(1, 4), ClaimedAlgorithm("fedavg")) == rounds


def test_rounds_where_every_step_is_looked_at() -> None:
    """The more clients or sets of clients there are, the fewer rounds a run has."""
    subject = ClaimedAlgorithm("fedavg")
    for levels, rounds in (
        ({}, 512),
        ({"clients": 3}, 128),
        ({"clients": 2.585, "participation": "half"}, 51),
        ({"clients": 2, "participation": "multinomial"}, 102),
    ):
        assert find_rounds(_at(horizon=("T", 20), **levels), fmpq(1, 4), subject, looked_at=2048) == rounds
