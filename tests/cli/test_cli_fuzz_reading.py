"""Random tables in place of a run file give a run or an `InputError`."""

from __future__ import annotations

import contextlib
import copy
import datetime
from typing import Any

import pytest
from fuzzing import INLINE, QUADRATIC, changed, fuzz, places, variant
from hypothesis import given
from hypothesis import strategies as st

from fedtheory import FLOAT, RATIONAL
from fedtheory.errors import InputError, MissingExtra
from fedtheory.runfile import parse_run

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

UNEQUAL = variant(
    QUADRATIC,
    local_step_size=["1/20", 0.1],
    local_steps=[5, 2],
    rounds=5,
    participation={"kind": "fixed", "clients": [0, 1]},
)
TIMED = variant(UNEQUAL, rounds=None, time=10, participation={"kind": "uniform", "clients": 2})
NAMED = copy.deepcopy(INLINE)
NAMED["problem"] |= {"data": "diabetes", "clients": 3, "split": "dirichlet", "concentration": 0.5, "seed": 1}
del NAMED["problem"]["inputs"], NAMED["problem"]["outputs"]
VALID = {"quadratic": UNEQUAL, "timed": TIMED, "inline": INLINE, "named": NAMED}

JUNK: list[Any] = [True, 0, -1, 10**400, float("nan"), "x", "1e400", "", [], [[]], {}, [True], {"kind": 1}]


def assert_parses_or_complains(content: dict[str, Any]) -> None:
    """Assert that reading gives a run or an `InputError`, in both arithmetics."""
    for arithmetic in (FLOAT, RATIONAL):
        with contextlib.suppress(InputError, MissingExtra):
            parse_run(copy.deepcopy(content), arithmetic)


@pytest.mark.parametrize("content", VALID.values(), ids=VALID)
def test_starting_points_are_valid(content: dict[str, Any]) -> None:
    """The run files that are mutated below are valid."""
    for arithmetic in (FLOAT, RATIONAL):
        parse_run(copy.deepcopy(content), arithmetic)


@fuzz(max_examples=40)
@given(documents)
def test_random_documents(content: dict[str, Any]) -> None:
    """Random nested dictionaries give a run or an `InputError`."""
    assert_parses_or_complains(content)


@pytest.mark.parametrize("name", VALID)
@fuzz(max_examples=40)
@given(st.data())
def test_mutations(name: str, data: st.DataObject) -> None:
    """Good run files with one or two parts removed or replaced give a run or an `InputError`."""
    content = VALID[name]
    for _ in range(data.draw(st.integers(1, 2))):
        at = data.draw(st.sampled_from(places(content)))
        content = changed(content, at, None if data.draw(st.booleans()) else data.draw(values))
    assert_parses_or_complains(content)


@pytest.mark.parametrize("name", VALID)
def test_every_part_dropped(name: str) -> None:
    """Every single part of a good run file is removed once."""
    for at in places(VALID[name]):
        assert_parses_or_complains(changed(VALID[name], at, None))


@pytest.mark.parametrize("junk", JUNK, ids=lambda junk: repr(junk)[:12])
@pytest.mark.parametrize("name", ["quadratic", "timed", "inline"])
def test_every_part_replaced(name: str, junk: Any) -> None:
    """Every single part of a good run file is replaced by each kind of junk once."""
    failures = []
    for at in places(VALID[name]):
        try:
            assert_parses_or_complains(changed(VALID[name], at, junk))
        except Exception as error:
            failures.append(f"{'.'.join(map(str, at))} = {str(junk)[:12]}: {type(error).__name__}: {error}")
    assert not failures
