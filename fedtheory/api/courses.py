"""For students: whether the answers of a notebook can be read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


def check_answers(
    assignment: str,
    student: str,
    answers: Mapping[str, Any],
    symbols: Mapping[str, Sequence[str]] | None = None,
) -> None:
    """Print how each answer is read, and whether its units are right; nothing about its truth.

    `answers` are the variables of the notebook, `globals()`.  `symbols` are those of each question, for an exercise
    whose file only the instructor has; units are not checked then.
    """
    from verify.grade.in_notebook import read_answers

    for found in read_answers(assignment, student, answers, symbols):
        print(f"{found.name}: {'read as' if found.is_readable else 'NOT READ:'} {found.text}")
    print("This says nothing about whether an answer is right.")
