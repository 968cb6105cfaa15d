"""fedtheory: checks theorems of federated optimisation by exact simulation, counterexamples and certificates.

The public names are imported on first use, so that `import fedtheory` is fast.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fedtheory.api import *  # noqa: F403 - all functions of the package are public
    from fedtheory.arithmetic import FLOAT as FLOAT
    from fedtheory.arithmetic import RATIONAL as RATIONAL
    from fedtheory.engine.run import Run as Run
    from fedtheory.errors import FedtheoryError as FedtheoryError
    from fedtheory.errors import InputError as InputError
    from fedtheory.errors import NotApplicable as NotApplicable
    from fedtheory.federation import Algorithm as Algorithm
    from fedtheory.federation import fedavg as fedavg
    from fedtheory.federation.client_data import ClientData as ClientData
    from fedtheory.federation.problem import Problem as Problem
    from fedtheory.federation.problem import least_squares as least_squares
    from fedtheory.federation.problem import quadratic as quadratic
    from fedtheory.kernel.expressions import Average as Average
    from fedtheory.kernel.expressions import Expectation as Expectation
    from fedtheory.kernel.expressions import Gradient as Gradient
    from fedtheory.kernel.expressions import Value as Value
    from fedtheory.kernel.expressions import inner as inner
    from fedtheory.kernel.expressions import norm_sq as norm_sq
    from fedtheory.language import assumptions as assumptions
    from fedtheory.language import exercises as exercises
    from fedtheory.language import quantities as quantities
    from fedtheory.language.assumptions import Assumption as Assumption
    from fedtheory.language.claim import Claim as Claim
    from fedtheory.language.claim import Rate as Rate
    from fedtheory.language.claim import Relation as Relation
    from fedtheory.language.other_runs import on_another_run as on_another_run
    from fedtheory.language.parameters import parameter as parameter
    from fedtheory.language.registry import all_claims as all_claims
    from fedtheory.language.registry import all_sources as all_sources
    from fedtheory.language.schedules import step_sizes as step_sizes
    from fedtheory.language.source import Source as Source
    from fedtheory.language.terms import quantity as quantity
    from fedtheory.language.terms import quantity_at_steps as quantity_at_steps
    from fedtheory.language.weighted_sums import weighted_mean as weighted_mean
    from fedtheory.language.weighted_sums import weighted_sum as weighted_sum
    from fedtheory.runfile import parse_run as parse_run
    from fedtheory.runfile import read_run as read_run

_HOMES = {
    "api": "bound_figure check check_answers error_figure falsify plan problem_from prove run_on simulate verify",
    "arithmetic": "FLOAT RATIONAL",
    "engine.run": "Run",
    "errors": "FedtheoryError InputError NotApplicable",
    "federation": "Algorithm fedavg",
    "federation.client_data": "ClientData",
    "federation.problem": "Problem least_squares quadratic",
    "kernel.expressions": "Average Expectation Gradient Value inner norm_sq",
    "language.assumptions": "Assumption",
    "language.claim": "Claim Rate Relation",
    "language.other_runs": "on_another_run",
    "language.parameters": "parameter",
    "language.registry": "all_claims all_sources",
    "language.schedules": "step_sizes",
    "language.source": "Source",
    "language.terms": "quantity quantity_at_steps",
    "language.weighted_sums": "weighted_mean weighted_sum",
    "runfile": "parse_run read_run",
}
"""The public names, by the modules that define them."""
_MODULES = ("assumptions", "exercises", "quantities")
"""Modules of the language that are public as whole modules."""
_MODULE_OF = {name: module for module, names in _HOMES.items() for name in names.split()}

__all__ = [*_MODULE_OF, *_MODULES]  # noqa: PLE0604


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
