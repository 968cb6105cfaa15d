"""The assignments of all papers, and an instructor's own."""

from __future__ import annotations

from pathlib import Path

from fedtheory.errors import InputError
from fedtheory.language.exercises import Assignment
from fedtheory.language.exercises.own import exercise_of
from fedtheory.language.registry import papers

PART = "assignments"
"""The module of a paper that lists its `ASSIGNMENTS`."""
_SUFFIX = ".py"


def assignments() -> dict[str, Assignment]:
    """Every assignment by its id, paper by paper, each in the order of its list; ids must be unique."""
    parts = [part for paper in papers().values() if (part := paper.part(PART)) is not None]
    found = [assignment for part in parts for assignment in part.ASSIGNMENTS]
    by_id = {assignment.id: assignment for assignment in found}
    if len(by_id) != len(found):
        raise ValueError("two assignments have the same id")
    return by_id


def find_assignment(target: str) -> Assignment:
    """The assignment of an id, or of an instructor's ``my_exercise.py``; `InputError`, with all ids, for others.

    The file is executed as Python, with all rights: name only your own.
    """
    return exercise_of(Path(target)) if target.endswith(_SUFFIX) else assignment_with_id(target)


def assignment_with_id(name: str) -> Assignment:
    """The assignment of an id, which may come from a stranger; `InputError`, with all ids, for anything else."""
    if name not in assignments():
        raise InputError("assignment", f"expected one of {', '.join(assignments())}, or my_exercise.py, got {name!r}")
    return assignments()[name]


def edition_of(target: str) -> str:
    """Return the mark that distinguishes editions of an assignment: the text of its file, if it has one of its own."""
    path = Path(target)
    return path.read_text(encoding="utf-8", errors="replace") if target.endswith(_SUFFIX) and path.is_file() else ""
