"""Algorithms, one definition in each file; new files in this folder are found automatically."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from typing import TYPE_CHECKING

from fedtheory.errors import InputError

if TYPE_CHECKING:
    from fedtheory.federation.definition import FederatedAlgorithm


@cache
def names() -> tuple[str, ...]:
    """Return the names that run files know, in alphabetical order."""
    return tuple(sorted(module.name for module in pkgutil.iter_modules(__path__)))


def definition(name: str) -> FederatedAlgorithm:
    """Return the definition of that name; raise `InputError` if there is none."""
    if name not in names():
        raise InputError("algorithm.name", f"expected one of {', '.join(names())}, got {name!r}")
    found: FederatedAlgorithm = importlib.import_module(f"{__name__}.{name}").algorithm
    return found
