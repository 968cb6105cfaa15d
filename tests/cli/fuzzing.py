"""Check answers of the command line to arbitrary input: in time, one line for wrong input, never a traceback."""

from __future__ import annotations

import contextlib
import copy
import io
import json
import os
import signal
from collections.abc import Iterator
from functools import partial
from typing import Any

from cli_support import Outcome
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from fedtheory.cli import run

PATIENCE = 20.0
"""Largest number of seconds for an answer to a small file; most take milliseconds."""

TIMES = int(os.environ.get("FUZZ", "1"))
"""Factor on the usual number of cases."""


def fuzz(max_examples: int) -> settings:
    """Return the settings of a test with a number of cases."""
    return _fuzz(max_examples=max_examples * TIMES)


_fuzz = partial(
    settings,
    deadline=None,
    database=None,
    # The cases are the same in every environment.
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture, HealthCheck.data_too_large],
)


@contextlib.contextmanager
def in_time() -> Iterator[None]:
    """Raise an error if the block takes too long."""

    def too_late(_signal: int, _frame: object) -> None:
        raise AssertionError(f"no answer within {PATIENCE:g} seconds")

    before = signal.signal(signal.SIGALRM, too_late)
    signal.setitimer(signal.ITIMER_REAL, PATIENCE)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def answer(*arguments: object) -> Outcome:
    """Run a command in this process, and check its exit code, and that wrong input gives one line."""
    out, err = io.StringIO(), io.StringIO()
    with in_time(), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run([str(argument) for argument in arguments])
    outcome = Outcome(code, out.getvalue(), err.getvalue())
    assert outcome.code in (0, 1, 2)
    if outcome.code == 2:
        assert len(outcome.complaint()) > len("fedtheory: ")
    else:
        assert outcome.err == ""
    return outcome


class Raw(str):
    """A text that is written to TOML without quotes."""


def toml(value: Any) -> str:
    """Return a value as TOML in one line."""
    if isinstance(value, Raw):
        return str(value)
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{json.dumps(key)} = {toml(part)}" for key, part in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    return json.dumps(value)


def document(content: dict[str, Any]) -> str:
    """Return a run file with a table in each line."""
    return "".join(f"{json.dumps(key)} = {toml(value)}\n" for key, value in content.items())


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
        "local_step_size": "1/20",
        "local_steps": 2,
        "server_step_size": 1,
        "rounds": 3,
        "participation": {"kind": "full"},
        "clock": {"policy": "sync", "times": [1, "5/2"]},
        "aggregation": "importance",
    },
}
"""A run file with all keys of a quadratic problem."""
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
"""Least squares on numbers in the run file itself."""

Path = tuple[Any, ...]


def places(value: Any, at: Path = ()) -> list[Path]:
    """Return the paths of all parts of nested dictionaries and lists."""
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [found for key, part in parts for found in [(*at, key), *places(part, (*at, key))]]


def changed(content: dict[str, Any], at: Path, new: Any) -> dict[str, Any]:
    """Return a copy with one part replaced, or removed if `new` is None."""
    other = copy.deepcopy(content)
    *outer, last = at
    holder: Any = other
    for key in outer:
        holder = holder[key]
    if new is None:
        del holder[last]
    else:
        holder[last] = new
    return other


def variant(content: dict[str, Any], **algorithm: Any) -> dict[str, Any]:
    """Return a copy with other keys of the algorithm; those that are None are removed."""
    other = copy.deepcopy(content)
    keys = other["algorithm"] | algorithm
    other["algorithm"] = {key: value for key, value in keys.items() if value is not None}
    return other


@st.composite
def torn(draw: st.DrawFn, text: str) -> str:
    """Return a text in which one piece is removed, and another one inserted."""
    first = draw(st.integers(0, len(text)))
    last = min(len(text), first + draw(st.integers(0, 6)))
    piece = draw(
        st.sampled_from(["", "[", "]", "{", "}", '"', "=", ",", ".", "-", "e9", "\n", "\x00", "\ufeff", "#", "/0"])
    )
    return text[:first] + piece + text[last:]
