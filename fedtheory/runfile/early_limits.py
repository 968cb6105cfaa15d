"""Limits that do not depend on the numbers in a data file.

A run that exceeds them is refused before the file is read.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fedtheory.arithmetic import FLOAT, Arithmetic
from fedtheory.engine.linear_models.replicas import GROUPS, count_work_of_losses
from fedtheory.errors import InputError, TooLarge
from fedtheory.federation.losses import KINDS
from fedtheory.federation.problem.datasets import FILES
from fedtheory.federation.problem.file_sizes import bound_file_size
from fedtheory.federation.problem.row_span import bound_coordinates_in_floats
from fedtheory.runfile.limits import require_countable, require_few_numbers, require_fitting, require_passable
from fedtheory.runfile.model_limits import require_listable_models, require_work


def require_possible(content: Mapping[str, Any], arithmetic: Arithmetic, folder: Path) -> None:
    """Raise `TooLarge` if a run on a data file exceeds limits by its header and its keys alone.

    Invalid keys are ignored here; they are reported when they are read.
    """
    try:
        _require_possible(content, arithmetic, folder)
    except InputError as error:
        raise TooLarge(error.key, error.message) from None


def _require_possible(content: Mapping[str, Any], arithmetic: Arithmetic, folder: Path) -> None:
    problem, algorithm = (_find_table(content, name) for name in ("problem", "algorithm"))
    data = problem.get("data")
    if not isinstance(data, str) or not data.endswith(FILES):
        return
    rounds, steps = _find_largest(algorithm.get("rounds")), _find_largest(algorithm.get("local_steps"))
    require_countable(rounds, steps)
    rows, features = bound_file_size(folder / data)
    if isinstance(problem.get("features"), list):
        features = len(problem["features"])
    elif isinstance(problem.get("drop"), list):
        features = max(features - len(problem["drop"]), 0)
    if problem.get("kind") in ("logistic", *KINDS):
        require_listable_models(rounds, features, GROUPS if "batch" in problem else 1)
        require_work(count_work_of_losses(rows, features) * rounds, "at least ")
        return
    if "batch" in problem:
        require_passable(rounds * steps)
    if arithmetic.is_rigorous:
        require_few_numbers(rows, features)
    columns = bound_coordinates_in_floats(rows, features) if arithmetic is FLOAT else features
    require_fitting(max(_find_largest(problem.get("clients")), 1), columns if rows else 0)


def _find_table(content: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return the table of this name; an empty one if there is none."""
    found = content.get(name)
    return found if isinstance(found, Mapping) else {}


def _find_largest(given: object) -> int:
    """Return a whole number, or the largest of a list; 0 for anything else."""
    numbers = given if isinstance(given, list) else [given]
    return max((number for number in numbers if type(number) is int), default=0)
