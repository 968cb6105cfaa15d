"""The assignments, found by themselves: every module here that has an ASSIGNMENT."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache

from fedtheory.errors import InputError
from verify.grade.assignment import Assignment


@cache
def assignments() -> dict[str, Assignment]:
    """Every assignment by its id, in the order of their modules."""
    names = sorted(module.name for module in pkgutil.iter_modules(__path__))
    found = [importlib.import_module(f"{__name__}.{name}").ASSIGNMENT for name in names]
    return {assignment.id: assignment for assignment in found}


def find_assignment(assignment_id: str) -> Assignment:
    """The assignment of an id; `InputError`, with all ids, where there is none."""
    if assignment_id not in assignments():
        raise InputError("assignment", f"expected one of {', '.join(assignments())}, got {assignment_id!r}")
    return assignments()[assignment_id]
