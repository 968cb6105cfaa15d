"""fedtheory: checks theorems of federated optimisation by exact simulation, counterexamples and certificates.

The public names below are imported on first use, so that `import fedtheory` is
fast.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fedtheory.api import (
        bound_figure,
        check,
        check_answers,
        error_figure,
        falsify,
        plan,
        problem_from,
        prove,
        run_on,
        simulate,
        verify,
    )
    from fedtheory.arithmetic import FLOAT, RATIONAL
    from fedtheory.engine.run import Run
    from fedtheory.errors import FedtheoryError, InputError, NotApplicable
    from fedtheory.federation import Algorithm, fedavg
    from fedtheory.federation.client_data import ClientData
    from fedtheory.federation.problem import Problem, least_squares, quadratic
    from fedtheory.kernel.expressions import Average, Expectation, Gradient, Value, inner, norm_sq
    from fedtheory.language import assumptions, exercises, quantities
    from fedtheory.language.assumptions import Assumption
    from fedtheory.language.claim import Claim, Rate, Relation
    from fedtheory.language.other_runs import on_another_run
    from fedtheory.language.parameters import parameter
    from fedtheory.language.registry import all_claims, all_sources
    from fedtheory.language.schedules import step_sizes
    from fedtheory.language.source import Source
    from fedtheory.language.terms import quantity, quantity_at_steps
    from fedtheory.language.weighted import weighted_mean, weighted_sum
    from fedtheory.runfile import parse_run, read_run

_HOMES = {
    "api": (
        "bound_figure",
        "check",
        "check_answers",
        "error_figure",
        "falsify",
        "plan",
        "problem_from",
        "prove",
        "run_on",
        "simulate",
        "verify",
    ),
    "arithmetic": ("FLOAT", "RATIONAL"),
    "engine.run": ("Run",),
    "errors": ("FedtheoryError", "InputError", "NotApplicable"),
    "federation": ("Algorithm", "fedavg"),
    "federation.client_data": ("ClientData",),
    "federation.problem": ("Problem", "least_squares", "quadratic"),
    "kernel.expressions": ("Average", "Expectation", "Gradient", "Value", "inner", "norm_sq"),
    "language.assumptions": ("Assumption",),
    "language.claim": ("Claim", "Rate", "Relation"),
    "language.other_runs": ("on_another_run",),
    "language.parameters": ("parameter",),
    "language.registry": ("all_claims", "all_sources"),
    "language.schedules": ("step_sizes",),
    "language.source": ("Source",),
    "language.terms": ("quantity", "quantity_at_steps"),
    "language.weighted": ("weighted_mean", "weighted_sum"),
    "runfile": ("parse_run", "read_run"),
}
_MODULES = ("assumptions", "exercises", "quantities")
"""Modules of the language that are public as whole modules."""
_MODULE_OF = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [
    "FLOAT",
    "RATIONAL",
    "Algorithm",
    "Assumption",
    "Average",
    "Claim",
    "ClientData",
    "Expectation",
    "FedtheoryError",
    "Gradient",
    "InputError",
    "NotApplicable",
    "Problem",
    "Rate",
    "Relation",
    "Run",
    "Source",
    "Value",
    "all_claims",
    "all_sources",
    "assumptions",
    "bound_figure",
    "check",
    "check_answers",
    "error_figure",
    "exercises",
    "falsify",
    "fedavg",
    "inner",
    "least_squares",
    "norm_sq",
    "on_another_run",
    "parameter",
    "parse_run",
    "plan",
    "problem_from",
    "prove",
    "quadratic",
    "quantities",
    "quantity",
    "quantity_at_steps",
    "read_run",
    "run_on",
    "simulate",
    "step_sizes",
    "verify",
    "weighted_mean",
    "weighted_sum",
]


_PACKAGE = Path(__file__).resolve().parent
_INSTALLED = _PACKAGE / "_floors"
"""Folder of `verify` and `report` in an installed wheel; ``pyproject.toml`` puts them there."""


def find_floors_first() -> None:
    """Put the folder that contains `verify` and `report` first on the import path.

    Both names are generic: another distribution, or a file of the user, may be
    called so too.  Worker processes on the same machine inherit the path.
    """
    home = str(_INSTALLED if _INSTALLED.is_dir() else _PACKAGE.parent)
    sys.path[:] = [home, *(entry for entry in sys.path if entry != home)]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"fedtheory.language.{name}")
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'fedtheory' has no attribute {name!r}")
    return getattr(importlib.import_module(f"fedtheory.{_MODULE_OF[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
