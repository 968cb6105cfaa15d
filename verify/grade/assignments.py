"""The assignments of all papers, and user-defined exercises of instructors."""

from __future__ import annotations

from pathlib import Path

from fedtheory.errors import InputError
from fedtheory.language.exercises import Assignment
from fedtheory.language.exercises.instructors import exercise_of
from fedtheory.language.registry import papers

PART = "assignments"
"""The module of a paper that lists its `ASSIGNMENTS`."""
_SUFFIX = ".py"


def assignments() -> dict[str, Assignment]:
    """Return all assignments by id, paper by paper, each in the order of its list; ids must be unique."""
    parts = [part for paper in papers().values() if (part := paper.part(PART)) is not None]
    found = [assignment for part in parts for assignment in part.ASSIGNMENTS]
    by_id = {assignment.id: assignment for assignment in found}
    if len(by_id) != len(found):
        raise ValueError("two assignments have the same id")
    return by_id


def find_assignment(target: str) -> Assignment:
    """Return the assignment of an id or a file ``my_exercise.py``; raises `InputError` with all ids.

    The file is executed as Python with all rights of the user, so it must come from a trusted source.
    """
    return exercise_of(Path(target)) if target.endswith(_SUFFIX) else assignment_with_id(target)


def assignment_with_id(name: str) -> Assignment:
    """Return the assignment of an untrusted id; raises `InputError` with all ids for anything else."""
    if name not in assignments():
        raise InputError("assignment", f"expected one of {', '.join(assignments())}, or my_exercise.py, got {name!r}")
    return assignments()[name]


def read_edition(target: str) -> str:
    """Return a key of the edition of an assignment: the text of its file for a user-defined exercise."""
    path = Path(target)
    return path.read_text(encoding="utf-8", errors="replace") if target.endswith(_SUFFIX) and path.is_file() else ""
