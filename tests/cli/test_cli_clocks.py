"""Run files with every clock and aggregation: numbers computed by hand, round trips, and mistakes."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli_support import Changes, run_text

from fedtheory import FLOAT, RATIONAL, read_run
from fedtheory.arithmetic import Arithmetic
from fedtheory.runfile import parse_run, run_table, run_toml

HAND: dict[str, str] = {
    "problem.kind": '"quadratic"',
    "problem.hessians": '[[["1"]], [["1"]]]',
    "problem.linear": '[["2"], ["-2"]]',
    "problem.start": '["8"]',
    "problem.noise": "1",
    "algorithm.local_step_size": '"1/2"',
    "algorithm.rounds": "3",
}
"""F_1 = x^2/2 - 2x and F_2 = x^2/2 + 2x: x* = 0, and the displacements from x are (2 - x)/2 and (-2 - x)/2."""

ASYNC = '{ policy = "async", times = [1, 2] }'
ONE_BY_ONE = '{ policy = "async", ties = "one-by-one", times = [1, 2] }'
FEDFIX = '{ policy = "fedfix", interval = 1, times = [1, 2] }'
OFTEN = '{ policy = "fedfix", interval = "1/2", times = [1, 2] }'
FEDBUFF = '{ policy = "fedbuff", buffer = 2, times = [1, 2] }'
SYNC = '{ policy = "sync", times = [1, 2] }'

MEANS: dict[str, tuple[str, str, str, str]] = {
    # Name: clock, aggregation, means of theta^0 .. theta^3, times.
    "async": (ASYNC, '"importance"', "8 13/2 23/8 85/32", "1 2 3"),
    "one by one": (ONE_BY_ONE, '"importance"', "8 13/2 43/8 23/8", "1 2 2"),
    "fedfix": (FEDFIX, '"importance"', "8 13/2 23/8 85/32", "1 2 3"),
    "fedfix with empty updates": (OFTEN, '"importance"', "8 8 13/2 13/2", "1/2 1 3/2"),
    "fedbuff": (FEDBUFF, '"importance"', "8 4 2 1", "2 4 6"),
    "sync": (SYNC, '"importance"', "8 4 2 1", "2 4 6"),
    "identical": (ASYNC, '"identical"', "8 5 -3/2 1/4", "1 2 3"),
    # d = (3/4, 3/2), (1/2, 1) and the client weights.
    "async, time-based": (ASYNC, '"time-based"', "8 23/4 -101/32 -313/256", "1 2 3"),
    "fedfix, time-based": (FEDFIX, '"time-based"', "8 13/2 3/8 25/32", "1 2 3"),
    "sync, time-based": (SYNC, '"time-based"', "8 4 2 1", "2 4 6"),
    "list": (ASYNC, '["1/4", 1]', "8 29/4 51/32 421/256", "1 2 3"),
}


def _numbers(text: str) -> list[Fraction]:
    return [Fraction(number) for number in text.split()]


def _as_fractions(values: list[Any]) -> list[Fraction]:
    return [Fraction(value) for value in values]


@pytest.mark.parametrize("arithmetic", ["float", "rational"])
@pytest.mark.parametrize("name", MEANS)
def test_means_and_times_by_hand(name: str, arithmetic: str, command, write_run) -> None:
    """Means of three updates and their times agree with values by hand, exactly also in floats."""
    clock, aggregation, means, times = MEANS[name]
    path = write_run({"algorithm.clock": clock, "algorithm.aggregation": aggregation}, base=HAND)
    found = command("simulate", path, "--arithmetic", arithmetic, "--json").document
    assert _as_fractions([mean for (mean,) in found["server"]["mean"]]) == _numbers(means)
    assert _as_fractions(found["times"]) == _numbers(times)
    assert isinstance(found["times"][0], str if arithmetic == "rational" else float)


@pytest.mark.parametrize("arithmetic", ["float", "rational"])
def test_asynchronous_run_by_hand(arithmetic: str, command, write_run) -> None:
    """Two asynchronous updates with times 1 and 2, noise e of variance 1/4 in every local model.

    theta^1 = 13/2 + e_0/2, and client 1 is on its way from 8 to 3 + e_1.  Client
    0 works again, to 17/4 + e_0/4 + e_0', and theta^2 = 23/8 + 3/8 e_0 + (e_0' + e_1)/2.
    """
    path = write_run({"algorithm.clock": ASYNC, "algorithm.rounds": "2"}, base=HAND)
    found = command("simulate", path, "--arithmetic", arithmetic, "--json").document
    assert _as_fractions(found["server"]["distance_sq"]) == _numbers("64 677/16 2157/256")
    assert _as_fractions(found["server"]["suboptimality"]) == _numbers("32 677/32 2157/512")
    assert _as_fractions(found["server"]["gradient_sq"]) == _numbers("64 677/16 2157/256")
    virtual = [_as_fractions(row) for row in found["local"]["suboptimality"]]
    assert virtual == [_numbers("32 677/32"), _numbers("677/32 2157/512")]
    drift = [[_as_fractions(each) for each in row] for row in found["local"]["drift"]]
    assert drift == [
        [_numbers("0 0"), _numbers("37/16 201/16")],
        [_numbers("0 37/16"), _numbers("517/256 45/256")],
    ]


@pytest.mark.parametrize("clock", [ASYNC, ONE_BY_ONE, FEDFIX, OFTEN, FEDBUFF])
def test_no_common_step_no_local_numbers(clock: str, command, write_run) -> None:
    """With different numbers of local steps `local` is null, and the server's numbers are there."""
    path = write_run({"algorithm.clock": clock, "algorithm.local_steps": "[1, 2]"}, base=HAND)
    found = command("simulate", path, "--json").document
    assert found["local"] is None
    assert len(found["server"]["distance_sq"]) == 4


BUDGETS = [
    (ASYNC, '"5/2"', 2),
    (ASYNC, "3", 3),
    (ONE_BY_ONE, "2", 3),
    (FEDFIX, "3.5", 3),
    (OFTEN, '"7/4"', 3),
    (FEDBUFF, "5", 2),
    (SYNC, "7", 3),
    ('{ policy = "sync", times = [0.1, 0.1] }', "0.3", 3),
    ('{ policy = "async", times = [0.1, 0.1] }', "0.3", 3),
]


@pytest.mark.parametrize("arithmetic", [FLOAT, RATIONAL], ids=["float", "rational"])
@pytest.mark.parametrize(("clock", "time", "updates"), BUDGETS)
def test_a_budget_of_time(clock: str, time: str, updates: int, arithmetic: Arithmetic, write_run) -> None:
    """`time` allows the updates up to and including its last moment; decimals are read exactly."""
    changes = {"algorithm.clock": clock, "algorithm.rounds": None, "algorithm.time": time}
    assert read_run(write_run(changes, base=HAND), arithmetic).algorithm.rounds == updates


@pytest.mark.parametrize("arithmetic", [FLOAT, RATIONAL], ids=["float", "rational"])
@pytest.mark.parametrize("weights", ['["1/2", "1/2"]', '["1/10", "9/10"]', '["1/3", "2/3"]', '["1/6", "5/6"]'])
@pytest.mark.parametrize("law", ["uniform", "multinomial"])
def test_ten_rounds_of_one_unit(law: str, weights: str, arithmetic: Arithmetic, write_run) -> None:
    """If every client needs one unit of time, ten units are ten rounds, independent of the rounding of weights."""
    changes = {
        "problem.weights": weights,
        "algorithm.rounds": None,
        "algorithm.time": "10",
        "algorithm.participation": f'{{ kind = "{law}", clients = 2 }}',
    }
    assert read_run(write_run(changes, base=HAND), arithmetic).algorithm.rounds == 10


VARIANTS: dict[str, Changes] = {
    name: {"algorithm.clock": clock, "algorithm.aggregation": aggregation}
    for name, (clock, aggregation, _, _) in MEANS.items()
} | {
    "fedbuff one by one": {"algorithm.clock": '{ policy = "fedbuff", buffer = 1, ties = "one-by-one" }'},
    "odd times": {"algorithm.clock": '{ policy = "async", times = ["2/3", 0.1] }', "algorithm.local_steps": "[2, 1]"},
    "odd interval": {"algorithm.clock": '{ policy = "fedfix", interval = "1/3", times = [0.1, "2/7"] }'},
    "time": {"algorithm.clock": ASYNC, "algorithm.rounds": None, "algorithm.time": '"7/2"'},
    "weights": {"algorithm.clock": FEDFIX, "problem.weights": '["1/3", "2/3"]', "algorithm.aggregation": "[0, 0.1]"},
    "server step": {"algorithm.clock": OFTEN, "algorithm.server_step_size": '"2/3"', "algorithm.local_steps": "2"},
}


@pytest.mark.parametrize("arithmetic", [FLOAT, RATIONAL], ids=["float", "rational"])
@pytest.mark.parametrize("name", VARIANTS)
def test_round_trip(name: str, arithmetic: Arithmetic, write_run, tmp_path: Path) -> None:
    """A run written as a run file and read back is the same run."""
    run = read_run(write_run(VARIANTS[name], base=HAND), arithmetic)
    table = run_table(run)
    path = tmp_path / "again.toml"
    path.write_text(run_toml(table), encoding="utf-8")
    for again in (read_run(path, arithmetic), parse_run(table, arithmetic)):
        assert run_table(again) == table
        assert again.algorithm.clock == run.algorithm.clock
        assert again.algorithm.aggregation == run.algorithm.aggregation
        assert again.algorithm.rounds == run.algorithm.rounds
        assert np.array_equal(again.trajectory.moments, run.trajectory.moments)
        weights = run.problem.weights
        assert again.algorithm.times(weights) == run.algorithm.times(weights)


def _clock(policy: str, more: str = "") -> Changes:
    return {"algorithm.clock": f'{{ policy = "{policy}"{more} }}'}


def _with(clock: str, **changes: str | None) -> Changes:
    return {"algorithm.clock": clock} | {f"algorithm.{key}": value for key, value in changes.items()}


UNIFORM = '{ kind = "uniform", clients = 1 }'

BAD: dict[str, tuple[Changes, str, str]] = {
    # Name: changes, key below [algorithm], a word of the complaint.
    "unknown policy": (_clock("fedasync"), "clock.policy", "fedbuff"),
    "policy a number": ({"algorithm.clock": "{ policy = 2 }"}, "clock.policy", "async"),
    "no interval": (_clock("fedfix"), "clock.interval", "missing"),
    "interval zero": (_clock("fedfix", ", interval = 0"), "clock.interval", "positive"),
    "interval negative": (_clock("fedfix", ', interval = "-1/2"'), "clock.interval", "positive"),
    "interval garbage": (_clock("fedfix", ', interval = "long"'), "clock.interval", "long"),
    "interval infinite": (_clock("fedfix", ", interval = inf"), "clock.interval", "inf"),
    "interval on async": (_clock("async", ", interval = 1"), "clock.interval", "unknown"),
    "interval on sync": (_clock("sync", ", interval = 1"), "clock.interval", "unknown"),
    "buffer on async": (_clock("async", ", buffer = 1"), "clock.buffer", "unknown"),
    "ties on fedfix": (_clock("fedfix", ', interval = 1, ties = "together"'), "clock.ties", "unknown"),
    "no buffer": (_clock("fedbuff"), "clock.buffer", "missing"),
    "buffer zero": (_clock("fedbuff", ", buffer = 0"), "clock.buffer", "whole number"),
    "buffer too large": (_clock("fedbuff", ", buffer = 3"), "clock.buffer", "1 to 2"),
    "buffer a float": (_clock("fedbuff", ", buffer = 1.0"), "clock.buffer", "whole number"),
    "wrong ties": (_clock("async", ', ties = "alphabetical"'), "clock.ties", "one-by-one"),
    "wrong ties of a buffer": (_clock("fedbuff", ", buffer = 1, ties = true"), "clock.ties", "together"),
    "wrong law": (_clock("async", ', law = "gamma"'), "clock.law", "exponential"),
    "three times": (_clock("async", ", times = [1, 2, 3]"), "clock.times", "2"),
    "time zero": (_clock("async", ", times = [1, 0]"), "clock.times", "positive"),
    "time garbage": (_clock("async", ', times = [1, "x"]'), "clock.times[1]", "x"),
    "aggregation too long": (_with(ASYNC, aggregation="[1, 1, 1]"), "aggregation", "2"),
    "aggregation empty": (_with(ASYNC, aggregation="[]"), "aggregation", "list"),
    "aggregation negative": (_with(ASYNC, aggregation="[1, -1]"), "aggregation", "-1"),
    "aggregation garbage": (_with(ASYNC, aggregation='[1, "x"]'), "aggregation[1]", "x"),
    "aggregation a wrong word": (_with(ASYNC, aggregation='"median"'), "aggregation", "time-based"),
    "aggregation a number": (_with(ASYNC, aggregation="1"), "aggregation", "list"),
    "time-based fedbuff": (_with(FEDBUFF, aggregation='"time-based"'), "aggregation", "fedbuff"),
    "sampling with async": (_with(ASYNC, participation=UNIFORM), "participation", "full"),
    "sampling with fedfix": (_with(FEDFIX, participation=UNIFORM), "participation", "full"),
    "time too short": (_with(ASYNC, rounds=None, time='"1/2"'), "time", "1"),
    "time too short for fedfix": (_with(OFTEN, rounds=None, time='"1/3"'), "time", "1/2"),
    "time too short for a buffer": (_with(FEDBUFF, rounds=None, time='"3/2"'), "time", "2"),
    "time too short for a round": (_with(SYNC, rounds=None, time='"3/2"'), "time", "2"),
    "time and rounds": (_with(ASYNC, time="3"), "time", "rounds"),
    "time of a random clock": (
        _with('{ policy = "async", law = "exponential" }', rounds=None, time="3"),
        "time",
        "rounds",
    ),
    "negative aggregation of a waiting server": (_with(SYNC, aggregation="[1, -1]"), "aggregation", "-1"),
    "chosen weights of drawn clients": (
        _with(SYNC, aggregation='"identical"', participation='{ kind = "multinomial", clients = 1 }'),
        "aggregation",
        "importance",
    ),
}


@pytest.mark.parametrize("arithmetic", ["float", "rational"])
@pytest.mark.parametrize("name", BAD)
def test_mistakes(name: str, arithmetic: str, command, tmp_path: Path) -> None:
    """A mistake gives exit code 2, and one line with the file, the key and the expected value."""
    changes, key, word = BAD[name]
    path = tmp_path / "bad run.toml"
    path.write_text(run_text(HAND, changes), encoding="utf-8")
    complaint = command("simulate", path, "--arithmetic", arithmetic, "--json").complaint()
    start = f"fedtheory: {path}: algorithm.{key}: "
    assert complaint.startswith(start)
    assert word in complaint.removeprefix(start), complaint


RANDOM = {
    "async": '"async"',
    "fedfix": '"fedfix", interval = "1/2"',
    "fedbuff": '"fedbuff", buffer = 1',
    "sync": '"sync"',
}


@pytest.mark.parametrize("name", RANDOM)
def test_random_clocks(name: str, command, write_run) -> None:
    """Exponential times give sampled schedules, equal for equal seeds, in floats only; FedFix has fixed times."""
    clock = f'{{ policy = {RANDOM[name]}, law = "exponential", times = [1, 2] }}'
    path = write_run({"algorithm.clock": clock}, base=HAND)
    first, again = (command("simulate", path, "--json", "--schedules", 20).document for _ in range(2))
    other = command("simulate", path, "--json", "--schedules", 20, "--seed", 5).document
    assert first == again
    assert first["server"]["distance_sq"][0] == 64
    # Participants are random unless the server waits for all clients; times are random unless it waits for none.
    moments = [document["server"]["distance_sq"][1:] for document in (first, other)]
    assert (moments[0] == pytest.approx(moments[1], rel=1e-12)) == (name == "sync")
    assert (first["times"] == pytest.approx(other["times"], rel=1e-12)) == (name == "fedfix")
    if name == "fedfix":
        assert first["times"] == pytest.approx([0.5, 1, 1.5])
    complaint = command("simulate", path, "--json", "--arithmetic", "rational").complaint()
    assert "algorithm.clock.law" in complaint


def test_a_negative_seed_is_a_mistake(command, write_run) -> None:
    """A negative seed gives one line, not a traceback."""
    clock = '{ policy = "async", law = "exponential", times = [1, 2] }'
    path = write_run({"algorithm.clock": clock}, base=HAND)
    assert "--seed" in command("simulate", path, "--seed", "-1").complaint()
