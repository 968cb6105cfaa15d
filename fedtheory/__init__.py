"""fedtheory: proof desk and test bench for the theory of federated optimisation.

The public names below load on first use, so that importing the package costs
next to nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fedtheory import quantities
    from fedtheory.arithmetic import FLOAT, RATIONAL
    from fedtheory.assumptions import Assumption
    from fedtheory.claim import Claim, Rate, Relation, Source
    from fedtheory.client_data import ClientData
    from fedtheory.errors import FedtheoryError, InputError, NotApplicable
    from fedtheory.expressions import Average, Expectation, Gradient, Value, inner, norm_sq
    from fedtheory.federation import Algorithm, fedavg
    from fedtheory.problem import Problem, least_squares, quadratic
    from fedtheory.registry import all_claims, all_sources
    from fedtheory.run import Run
    from fedtheory.runfile import parse_run, read_run

_HOMES = {
    "arithmetic": ("FLOAT", "RATIONAL"),
    "assumptions": ("Assumption",),
    "claim": ("Claim", "Rate", "Relation", "Source"),
    "client_data": ("ClientData",),
    "errors": ("FedtheoryError", "InputError", "NotApplicable"),
    "expressions": ("Average", "Expectation", "Gradient", "Value", "inner", "norm_sq"),
    "federation": ("Algorithm", "fedavg"),
    "problem": ("Problem", "least_squares", "quadratic"),
    "registry": ("all_claims", "all_sources"),
    "run": ("Run",),
    "runfile": ("parse_run", "read_run"),
}
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
    "fedavg",
    "inner",
    "least_squares",
    "norm_sq",
    "parse_run",
    "quadratic",
    "quantities",
    "read_run",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'fedtheory' has no attribute {name!r}")
    return getattr(importlib.import_module(f"fedtheory.{_MODULE_OF[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
