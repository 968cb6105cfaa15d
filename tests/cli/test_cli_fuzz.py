"""Random run files: nothing but an `InputError` ever comes out."""

from __future__ import annotations

import contextlib
import copy
import datetime
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fedtheory import FLOAT, RATIONAL
from fedtheory.errors import InputError, MissingExtra
from fedtheory.runfile import parse_run

FUZZ = settings(max_examples=40, deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow])

KEYS = [
    "problem",
    "algorithm",
    "kind",
    "hessians",
    "linear",
    "constants",
    "weights",
    "start",
    "noise",
    "data",
    "clients",
    "split",
    "concentration",
    "seed",
    "batch",
    "replacement",
    "inputs",
    "outputs",
    "name",
    "local_step_size",
    "local_steps",
    "server_step_size",
    "rounds",
    "time",
    "participation",
    "clock",
    "aggregation",
    "policy",
    "times",
]
WORDS = [
    "quadratic",
    "least-squares",
    "fedavg",
    "full",
    "uniform",
    "multinomial",
    "fixed",
    "sync",
    "iid",
    "dirichlet",
    "importance",
    "zeros",
    "diabetes",
    "digits:3-8",
    "digits:",
    "x.npz",
    ".csv",
    "1/2",
    "1/0",
    "nan",
    "inf",
    "-1",
    "1e400",
    "١",
    "²",
    "1_0",
    "+3/+4",
    "0x10",
]

scalars = (
    st.booleans()
    | st.integers(-3, 12)
    | st.sampled_from([10**400, -(2**63), 2**64])
    | st.floats()
    | st.sampled_from(WORDS)
    | st.text(max_size=5)
    | st.just(datetime.date(2020, 2, 29))
    | st.just(datetime.datetime(2020, 2, 29, tzinfo=datetime.UTC))
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=3),
    max_leaves=12,
)
tables = st.dictionaries(st.sampled_from(KEYS) | st.text(max_size=4), values, max_size=6)
documents = st.fixed_dictionaries({"problem": tables | values, "algorithm": tables | values}) | tables

QUADRATIC: dict[str, Any] = {
    "problem": {
        "kind": "quadratic",
        "hessians": [[["2", 0], [0, 1.0]], [["2", "1/2"], [0.5, "1"]]],
        "linear": [["1", "0"], ["-1", "0"]],
        "constants": ["0", "0"],
        "weights": ["1/2", "1/2"],
        "start": ["3", "-2"],
        "noise": ["1", 2],
    },
    "algorithm": {
        "name": "fedavg",
        "local_step_size": ["1/20", 0.1],
        "local_steps": [5, 2],
        "server_step_size": 1,
        "rounds": 5,
        "participation": {"kind": "fixed", "clients": [0, 1]},
        "clock": {"policy": "sync", "times": [1, "5/2"]},
        "aggregation": "importance",
    },
}
TIMED = copy.deepcopy(QUADRATIC)
TIMED["algorithm"] |= {"time": 10, "participation": {"kind": "uniform", "clients": 2}}
del TIMED["algorithm"]["rounds"]
INLINE: dict[str, Any] = {
    "problem": {
        "kind": "least-squares",
        "inputs": [[[1, 0], ["1/2", 1]], [[0, 2]]],
        "outputs": [[1, "1/3"], [0]],
        "batch": 1,
        "replacement": False,
        "start": "zeros",
    },
    "algorithm": {"local_step_size": "1/20", "local_steps": 2, "rounds": 3},
}
NAMED = copy.deepcopy(INLINE)
NAMED["problem"] |= {"data": "diabetes", "clients": 3, "split": "dirichlet", "concentration": 0.5, "seed": 1}
del NAMED["problem"]["inputs"], NAMED["problem"]["outputs"]
VALID = {"quadratic": QUADRATIC, "timed": TIMED, "inline": INLINE, "named": NAMED}

JUNK: list[Any] = [True, 0, -1, 10**400, float("nan"), "x", "1e400", "", [], [[]], {}, [True], {"kind": 1}]

Path = tuple[Any, ...]


def places(value: Any, at: Path = ()) -> list[Path]:
    """Paths of all parts of nested dictionaries and lists."""
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [found for key, part in parts for found in [(*at, key), *places(part, (*at, key))]]


def mutate(content: dict[str, Any], at: Path, junk: Any, drop: bool) -> None:
    """Drop or replace one part, in place."""
    *outer, last = at
    holder: Any = content
    for key in outer:
        holder = holder[key]
    if drop:
        del holder[last]
    else:
        holder[last] = junk


def assert_parses_or_complains(content: dict[str, Any]) -> None:
    """Reading ends with a run or with an error of the user's, in both arithmetics."""
    for arithmetic in (FLOAT, RATIONAL):
        with contextlib.suppress(InputError, MissingExtra):
            parse_run(copy.deepcopy(content), arithmetic)


@pytest.mark.parametrize("content", VALID.values(), ids=VALID)
def test_starting_points_are_valid(content: dict[str, Any]) -> None:
    """What is mutated below is a good run file."""
    for arithmetic in (FLOAT, RATIONAL):
        parse_run(copy.deepcopy(content), arithmetic)


@FUZZ
@given(documents)
def test_random_documents(content: dict[str, Any]) -> None:
    """Random nested dictionaries."""
    assert_parses_or_complains(content)


@pytest.mark.parametrize("name", VALID)
@FUZZ
@given(st.data())
def test_mutations(name: str, data: st.DataObject) -> None:
    """One or two parts of a good run file dropped or replaced by junk."""
    content = copy.deepcopy(VALID[name])
    for _ in range(data.draw(st.integers(1, 2))):
        at = data.draw(st.sampled_from(places(content)))
        mutate(content, at, data.draw(values), drop=data.draw(st.booleans()))
    assert_parses_or_complains(content)


@pytest.mark.parametrize("name", VALID)
def test_every_part_dropped(name: str) -> None:
    """Every single part of a good run file is taken away once."""
    for at in places(VALID[name]):
        content = copy.deepcopy(VALID[name])
        mutate(content, at, None, drop=True)
        assert_parses_or_complains(content)


@pytest.mark.parametrize("junk", JUNK, ids=lambda junk: repr(junk)[:12])
@pytest.mark.parametrize("name", ["quadratic", "timed", "inline"])
def test_every_part_replaced(name: str, junk: Any) -> None:
    """Every single part of a good run file is replaced by each kind of junk once."""
    failures = []
    for at in places(VALID[name]):
        content = copy.deepcopy(VALID[name])
        mutate(content, at, copy.deepcopy(junk), drop=False)
        try:
            assert_parses_or_complains(content)
        except Exception as error:
            failures.append(f"{'.'.join(map(str, at))} = {str(junk)[:12]}: {type(error).__name__}: {error}")
    assert not failures
