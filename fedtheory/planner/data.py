"""A run from data alone: least squares on a file with a client column."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fedtheory.arithmetic import FLOAT
from fedtheory.engine.run import Run
from fedtheory.errors import InputError
from fedtheory.runfile import parse_run

_ALGORITHM: dict[str, Any] = {"rounds": 100, "local_steps": 1, "local_step_size": None, "server_step_size": 1}
_PROBLEM = ("batch",)
_WHOLE = ("rounds", "local_steps", "batch")


def run_of_data(file: str, settings: Mapping[str, float]) -> Run:
    """FedAvg on least squares over the rows of a file (npz: X, y, client; csv: the last two columns are y, client).

    All clients count alike and take part in every round, from x = 0.  `settings`
    are rounds (100 where not given), local_steps (1), local_step_size (1/(4L)),
    server_step_size (1) and batch (full gradients).  Raises `InputError` for
    others, and for files that cannot be read.
    """
    unknown = settings.keys() - {*_ALGORITHM, *_PROBLEM}
    if unknown:
        expected = ", ".join([*_ALGORITHM, *_PROBLEM])
        raise InputError(min(unknown), f"expected one of {expected} beside a data file")
    given = {name: _read(name, value) for name, value in settings.items()}
    path = Path(file)
    problem: dict[str, Any] = {"kind": "least-squares", "data": path.name, "start": "zeros"}
    problem |= {name: value for name, value in given.items() if name in _PROBLEM}
    algorithm = {**_ALGORITHM, **{name: value for name, value in given.items() if name in _ALGORITHM}}
    chosen = algorithm["local_step_size"] or 1
    run = parse_run({"problem": problem, "algorithm": {**algorithm, "local_step_size": chosen}}, FLOAT, path.parent)
    if algorithm["local_step_size"] is not None:
        return run
    if not run.smoothness > 0:
        raise InputError(
            "local_step_size", "expected a number: the inputs are all zero, and no step size follows", file
        )
    return run.with_step_factor(1 / (4 * run.smoothness))


def _read(name: str, value: float) -> float | int:
    if name not in _WHOLE:
        return value
    if value != int(value):
        raise InputError(name, f"expected a whole number, got {value:g}")
    return int(value)
