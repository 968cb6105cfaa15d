"""The assignments of all papers."""

from __future__ import annotations

from fedtheory.errors import InputError
from fedtheory.language.exercises import Assignment
from fedtheory.language.registry import papers

PART = "assignments"
"""The module of a paper that lists its `ASSIGNMENTS`."""


def assignments() -> dict[str, Assignment]:
    """Every assignment by its id, paper by paper, each in the order of its list; ids must be unique."""
    parts = [part for paper in papers().values() if (part := paper.part(PART)) is not None]
    found = [assignment for part in parts for assignment in part.ASSIGNMENTS]
    by_id = {assignment.id: assignment for assignment in found}
    if len(by_id) != len(found):
        raise ValueError("two assignments have the same id")
    return by_id


def find_assignment(assignment_id: str) -> Assignment:
    """The assignment of an id; `InputError`, with all ids, where there is none."""
    if assignment_id not in assignments():
        raise InputError("assignment", f"expected one of {', '.join(assignments())}, got {assignment_id!r}")
    return assignments()[assignment_id]
