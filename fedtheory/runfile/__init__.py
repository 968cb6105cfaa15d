"""Run files: reads a `Run` from TOML, and writes it back.

Uses `engine`, `federation`, `arithmetic`.
"""

from __future__ import annotations

import tomllib
from copy import deepcopy
from pathlib import Path
from typing import Any

from fedtheory.arithmetic import Arithmetic
from fedtheory.engine.linear_models import LinearModelRun
from fedtheory.engine.losses import LossRun
from fedtheory.engine.run import Run
from fedtheory.errors import InputError
from fedtheory.federation import Algorithm
from fedtheory.federation.linear_models import LinearModelProblem
from fedtheory.federation.losses import LossProblem
from fedtheory.federation.problem import Problem
from fedtheory.federation.problem.datasets import FILES, DataFiles, cache_files
from fedtheory.federation.problem.least_squares import expand_to_all_dimensions
from fedtheory.runfile.algorithms import read_algorithm
from fedtheory.runfile.counts import ProblemInTypes
from fedtheory.runfile.early_limits import require_possible
from fedtheory.runfile.limits import require_affordable
from fedtheory.runfile.linear_models import read_any_problem
from fedtheory.runfile.mistakes import read_or_list
from fedtheory.runfile.model_limits import require_affordable_models
from fedtheory.runfile.table import TomlTable
from fedtheory.runfile.types import read_algorithm_in_types
from fedtheory.runfile.write import run_table, run_toml

__all__ = ["RunReader", "parse_run", "read_or_list", "read_run", "read_toml", "run_table", "run_toml", "run_with"]


def read_run(file: str | Path, arithmetic: Arithmetic) -> Run:
    """Return the run of a TOML file; an `InputError` names the file, the key and what was expected."""
    content = read_toml(file)
    try:
        return read_or_list(content, lambda tables: parse_run(tables, arithmetic, Path(file).parent))
    except InputError as error:
        raise error.in_file(str(file)) from None


def read_toml(file: str | Path) -> dict[str, Any]:
    """Return the tables of a TOML file; an `InputError` names the file and the mistake."""
    if str(file).endswith(FILES) and Path(file).is_file():
        way_out = f"`fedtheory data {file} --save run.toml` writes a run file that reads it"
        raise InputError("", f"expected a run file (TOML), got a file of data: {way_out}", str(file))
    try:
        return tomllib.loads(Path(file).read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError("", f"cannot be read ({error.strerror})", str(file)) from None
    except UnicodeDecodeError:
        raise InputError("", "is not UTF-8 text", str(file)) from None
    except (ValueError, RecursionError) as error:
        raise InputError("", f"is not TOML: {error}", str(file)) from None


class RunReader:
    """Reads several runs in succession; a problem equal to the previous run's is not read again."""

    def __init__(self, arithmetic: Arithmetic, folder: Path) -> None:
        self.arithmetic, self.folder = arithmetic, folder
        self._last: tuple[object, ProblemInTypes] | None = None
        self._files: DataFiles = {}

    def read(self, content: dict[str, Any]) -> Run:
        """Return the run of a parsed run file."""
        document = TomlTable(content, "", self.arithmetic)
        given = document.take("problem")
        if self._last is None or self._last[0] != given:
            with cache_files(self._files):
                self._last = (
                    deepcopy(given),
                    read_any_problem(TomlTable(given, "problem", self.arithmetic), self.folder),
                )
        return _build_run(document, self._last[1], self.folder)


def parse_run(content: dict[str, Any], arithmetic: Arithmetic, folder: Path = Path()) -> Run:
    """Return the run of a parsed run file; the paths of data files are relative to `folder`."""
    document = TomlTable(content, "", arithmetic)
    require_possible(content, arithmetic, folder)
    return _build_run(document, read_any_problem(document.table("problem"), folder), folder)


def _build_run(document: TomlTable, types: ProblemInTypes, folder: Path) -> Run:
    """Return the run with one client of each type if this suffices, else with every client."""
    given = document.take("algorithm")
    document.finish()
    in_types = read_algorithm_in_types(TomlTable(given, "algorithm", document.arithmetic), types, folder)
    if in_types is not None:
        return _require_affordable(types.problem, in_types)
    problem = types.follow_all_clients()
    return _require_affordable(
        problem, read_algorithm(TomlTable(given, "algorithm", document.arithmetic), problem, folder)
    )


def run_with(problem: Problem, keys: dict[str, Any]) -> Run:
    """Return the run of a problem and the keys of an `[algorithm]` table."""
    return _require_affordable(problem, read_algorithm(TomlTable(keys, "algorithm", problem.arithmetic), problem))


def _require_affordable(problem: Problem, algorithm: Algorithm) -> Run:
    """Return the run, after a check of its size."""
    if isinstance(problem, LinearModelProblem):
        require_affordable_models(problem, algorithm)
        return LinearModelRun(problem, algorithm)
    if algorithm.defined is not None and algorithm.defined.depends_on_axes:
        problem = expand_to_all_dimensions(problem)
    require_affordable(problem, algorithm)
    return LossRun(problem, algorithm) if isinstance(problem, LossProblem) else Run(problem, algorithm)
