"""Runs from data alone: regression or classification on a file with a client column."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

from fedtheory.arithmetic import FLOAT
from fedtheory.engine.run import Run
from fedtheory.errors import InputError
from fedtheory.runfile import parse_run
from fedtheory.runfile.problems import AUTOMATIC, USUAL
from fedtheory.runfile.synonyms import describe_key, find_key

_ALGORITHM: dict[str, Any] = {"rounds": 100, "local_steps": 1, "local_step_size": None, "server_step_size": 1}
_NAME = "name"
_IN_RUN_FILES = (
    "participation",
    "clock",
    "time",
    "aggregation",
    "momentum",
    "nesterov",
    "proximal",
    "probability",
    "mixing",
)
"""Keys of an algorithm that only run files have."""


def build_run_from_data(file: str, settings: Mapping[str, str | float]) -> Run:
    """Return FedAvg on the rows of a file: least squares, or the regression that the key `kind` names.

    An npz file has the arrays X, y and client; the last two columns of a csv file are y and client.

    All clients participate in every round, from x = 0.  `settings`, numbers or texts, are rounds (100 by default),
    local_steps (1), local_step_size (1/(4L)), server_step_size (1), name (fedavg; scaffold and others), and the keys
    of a problem on data in a run file: kind (least-squares; logistic and others), target, client, features and drop
    name columns, others are batch, shares, standardize and intercept (by default as `fedtheory data` chooses all
    three), ridge, width, clients, split, concentration and seed.
    Raises `InputError` for other keys, and for files that cannot be read.
    """
    known = [*_ALGORITHM, _NAME, *_PROBLEM]
    unknown = min(settings.keys() - set(known), default=None)
    if unknown is not None:
        raise InputError(unknown, _describe_unknown_key(unknown, known, Path(file).name))
    path = Path(file)
    problem: dict[str, Any] = {"kind": "least-squares", "data": path.name, "start": "zeros", **USUAL}
    problem |= {name: read(name, settings[name]) for name, read in _PROBLEM.items() if name in settings}
    algorithm = {**_ALGORITHM, **{name: _read_number(name, settings[name]) for name in _ALGORITHM if name in settings}}
    algorithm |= {_NAME: str(settings[_NAME])} if _NAME in settings else {}
    chosen = algorithm["local_step_size"] or 1
    run = parse_run({"problem": problem, "algorithm": {**algorithm, "local_step_size": chosen}}, FLOAT, path.parent)
    if algorithm["local_step_size"] is not None:
        return run
    if not run.smoothness > 0:
        raise InputError("local_step_size", "expected a number: all inputs are zero, and determine no step size", file)
    return run.with_step_factor(1 / (4 * run.smoothness))


def _describe_unknown_key(name: str, known: Collection[str], file: str) -> str:
    """Return a sentence about a key that is not accepted beside a data file: its name here, or where it belongs."""
    key = find_key(name, (*known, *_IN_RUN_FILES))
    if key is not None and key in known:
        return describe_key(name, key)
    if key is not None or name in _IN_RUN_FILES:
        lead = "it" if key is None else f"{describe_key(name, key)}, and"
        return (
            f"{lead} is a key of run files: `fedtheory data {file} --save run.toml` writes one; add {key or name} to "
            "its [algorithm], and plan run.toml"
        )
    return f"expected one of {', '.join(known)} beside a data file"


def _read_number(name: str, value: str | float) -> float | int:
    """Read a number; a whole number unless the name ends in "size"."""
    number: float = FLOAT.number(value, name)
    return number if name.endswith("size") else _read_whole_number(name, value)


def _read_whole_number(name: str, value: str | float) -> int:
    """Read a whole number; raise `InputError` for any other value."""
    number: float = FLOAT.number(value, name)
    if number != int(number):
        raise InputError(name, f"expected a whole number, got {number:g}")
    return int(number)


def _read_flag(name: str, value: str | float) -> bool:
    """Read true or false."""
    if value not in ("true", "false"):
        raise InputError(name, f"expected true or false, got {value}")
    return value == "true"


def _read_choice(name: str, value: str | float) -> bool | str:
    """Read true, false or the automatic choice."""
    return AUTOMATIC if value == AUTOMATIC else _read_flag(name, value)


def _keep_text(_name: str, value: str | float) -> str:
    """Return the value as text."""
    return str(value)


def _read_names(_name: str, value: str | float) -> list[str]:
    """Read names that are separated by commas."""
    return [name.strip() for name in str(value).split(",")]


_PROBLEM: dict[str, Callable[[str, str | float], Any]] = {
    "kind": _keep_text,
    "target": _keep_text,
    "client": _keep_text,
    "features": _read_names,
    "drop": _read_names,
    "shares": _keep_text,
    "standardize": _read_choice,
    "intercept": _read_choice,
    "penalize_intercept": _read_flag,
    "ridge": lambda _name, value: value,
    "width": lambda _name, value: value,
    "batch": _read_whole_number,
    "replacement": _read_flag,
    "clients": _read_whole_number,
    "split": _keep_text,
    "concentration": lambda _name, value: value,
    "seed": _read_whole_number,
}
"""Readers of the keys of a problem."""
