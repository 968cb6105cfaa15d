"""Lets students check that the answers in a notebook can be parsed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


def check_answers(
    assignment: str,
    student: str,
    answers: Mapping[str, Any],
    symbols: Mapping[str, Sequence[str]] | None = None,
) -> None:
    """Print how each answer is parsed, and whether its units are consistent; nothing about its correctness.

    `answers` are the variables of the notebook, `globals()`.  `symbols` lists the symbols of each question, for an
    exercise whose file only the instructor has; units are not checked then.
    """
    from verify.grade.notebook_answers import read_answers

    for found in read_answers(assignment, student, answers, symbols):
        print(f"{found.name}: {'read as' if found.is_readable else 'NOT READ:'} {found.text}")
    print("This says nothing about whether an answer is right.")
