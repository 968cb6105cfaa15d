"""Families for user-defined algorithms: a definition in a file, with admissible parameters."""

from __future__ import annotations

from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import sympy as sp
from flint import fmpq

from fedtheory.engine.run import Run
from fedtheory.federation.definition import FederatedAlgorithm, Mixed, Parameter
from fedtheory.language.assumptions import OfAlgorithm
from fedtheory.language.claim import Claim
from fedtheory.language.families import FAMILIES, Family
from fedtheory.runfile.definitions import find_definition, is_user_defined
from verify.instances.algorithms import SIZE, build_mixing_matrix, small_problem, small_run

_TRIED = ("0", "1/10", "1/5", "1/2", "9/10", "1", "2", "3", "10")
"""Values that are tried for a parameter, if they are admissible."""


def own_families(claim: Claim) -> list[str]:
    """Return the families of a claim's user-defined algorithms, named as these."""
    return [
        name for one in claim.assumptions if isinstance(one, OfAlgorithm) for name in one.names if is_user_defined(name)
    ]


def own_family(name: str) -> Family | None:
    """Return the runs of ``file.py:NAME``; raises `InputError` if there is no such definition."""
    return _build_family(name, Path.cwd()) if is_user_defined(name) else None


FAMILIES.makers.append(own_family)


@cache
def _build_family(name: str, folder: Path) -> Family:
    algorithm = find_definition(name, "algorithm.name", folder)
    return Family(name, f"{name} with numbers that its parameters can have", SIZE, partial(_run, name, algorithm))


def _run(name: str, algorithm: FederatedAlgorithm, number: int) -> Run:
    generator = np.random.default_rng([30, number])
    problem, steps = small_problem(generator, number), 1 if algorithm.steps_are_rounds else 1 + number % 3
    keys: dict[str, Any] = {"name": name, "local_steps": steps}
    if algorithm.uses(Mixed):
        keys["mixing"] = build_mixing_matrix(problem.clients, fmpq(number % 3 + 1, 3))
    keys |= {one.key: _format_value(one, generator) for one in algorithm.parameters if _list_values(one)}
    return small_run(problem, generator, steps, keys)


def _format_value(parameter: Parameter, generator: np.random.Generator) -> str | bool:
    values = _list_values(parameter)
    chosen = values[int(generator.integers(len(values)))]
    return chosen == "1" if parameter.is_flag else chosen


def _list_values(parameter: Parameter) -> list[str]:
    """Return admissible values of a parameter; none where only its author knows one."""
    if parameter.is_flag:
        return ["0", "1"]
    return [value for value in _TRIED if parameter.allowed.contains(sp.Rational(value)) == sp.true]
