"""Runs of clients in types: of equal clients one is followed, where the server treats them alike."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fedtheory.arithmetic import Arithmetic
from fedtheory.engine.run import Run
from fedtheory.engine.typed_run import TypedRun
from fedtheory.errors import InputError, NotApplicable
from fedtheory.federation.types import InTypes
from fedtheory.runfile import parse_run, read_toml
from fedtheory.runfile.algorithms import read_algorithm
from fedtheory.runfile.limits import require_affordable
from fedtheory.runfile.linear_models import is_linear_model
from fedtheory.runfile.mistakes import read_or_list
from fedtheory.runfile.problems import read_types
from fedtheory.runfile.table import Table

_NAMES = ("fedavg", "sgd", "two-sided-fedavg")
"""Algorithms whose participation is free."""
_OF_CLIENTS = ("local_step_size", "local_steps", "aggregation")
"""Keys that may list a number for each client."""


def read_run_in_types(file: str | Path, arithmetic: Arithmetic) -> Run:
    """The run of a TOML file as `parse_run_in_types` has it; `InputError` names the file, the key and what is wrong."""
    content = read_toml(file)
    try:
        return read_or_list(content, lambda tables: parse_run_in_types(tables, arithmetic, Path(file).parent))
    except InputError as error:
        raise error.in_file(str(file)) from None


def parse_run_in_types(content: dict[str, Any], arithmetic: Arithmetic, folder: Path = Path()) -> Run:
    """The run of an already parsed run file: by types where it has counts and rounds wait for all participants.

    Otherwise every client is written out.
    """
    if not _may_go_by_types(content, arithmetic):
        return parse_run(content, arithmetic, folder)
    document = Table(content, "", arithmetic)
    types = read_types(document.table("problem"), folder)
    if not types.is_alike or set(types.counts) == {1}:
        return parse_run(content, arithmetic, folder)
    try:
        algorithm = read_algorithm(
            document.table("algorithm"), types.problem, folder, lambda law: InTypes(law, types.counts)
        )
    except NotApplicable:
        return parse_run(content, arithmetic, folder)
    document.finish()
    require_affordable(types.problem, algorithm)
    return TypedRun(types.problem, algorithm, types.counts)


def _may_go_by_types(content: dict[str, Any], arithmetic: Arithmetic) -> bool:
    problem, algorithm = content.get("problem"), content.get("algorithm")
    if not isinstance(problem, dict) or not isinstance(algorithm, dict) or "count" not in problem:
        return False
    if is_linear_model(Table(problem, "problem", arithmetic)) or algorithm.get("name", "fedavg") not in _NAMES:
        return False
    kind = algorithm.get("participation", {})
    is_synchronous = "clock" not in algorithm and isinstance(kind, dict) and kind.get("kind") != "cyclic"
    has_lists = any(isinstance(algorithm.get(key), list) for key in _OF_CLIENTS)
    return is_synchronous and not has_lists and algorithm.get("aggregation", "importance") == "importance"
