"""Check before submission whether each answer can be parsed and has the right units, but not whether it is correct."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fedtheory.errors import InputError
from fedtheory.language.exercises import CLASS, BoundQuestion, Question
from verify.grade.answer_limits import Unreadable
from verify.grade.asked_formula import read_formula
from verify.grade.asked_in_file import read_questions
from verify.grade.assignments import assignments, find_assignment
from verify.grade.confinement import find_launch
from verify.grade.equality import has_units_of
from verify.grade.marking import read_answers
from verify.grade.other_copies import match_questions
from verify.grade.questions import GivenAnswer
from verify.grade.shown_answer import show_answer
from verify.grade.submission import Submission, header, read_submission


@dataclass(frozen=True)
class ReadBack:
    """One answer as the grader parses it."""

    name: str
    title: str
    is_readable: bool
    text: str
    """The answer as parsed, or the reason why it cannot be parsed."""


def read_back(file: Path, assignment: str | None = None, copy: str | None = None) -> list[ReadBack]:
    """Return each answer of a student's file as parsed; the code is executed with the rights of the user.

    Raises:
        InputError: If there is no such file, or it names no assignment.
    """
    if not file.is_file():
        raise InputError("FILE", f"expected a .py or .ipynb file with answers, got {file}")
    submission = read_submission(file, CLASS)
    if submission.trouble is not None:
        raise InputError("FILE", submission.trouble, str(file))
    questions = _find_questions(submission, assignment, copy)
    given = read_answers(questions, submission, find_launch(unsafe=True))
    return [read_one(question, given[question.name]) for question in questions]


def _find_questions(submission: Submission, assignment: str | None, copy: str | None) -> Sequence[Question]:
    """Return the questions that a file answers; read from the file if the exercise is user-defined."""
    named = assignment or submission.assignment or ""
    if not named:
        line = header("ID", "NAME")
        raise InputError("FILE", f"expected its first line `{line}`, got none: put it back, or add --assignment ID")
    if assignment is None and named not in assignments():
        return read_questions(submission)
    chosen = find_assignment(named)
    return match_questions(chosen, chosen.copy(copy or submission.copy_of or CLASS), submission)


def read_one(question: Question, given: GivenAnswer) -> ReadBack:
    """Return one answer as parsed, or the reason why it cannot be parsed."""
    try:
        if not (given.text.strip() or given.outputs):
            raise Unreadable(given.trouble or "there is no answer yet")
        _require_units(question, given)
        return ReadBack(question.name, question.title, True, show_answer(question, given))
    except Unreadable as reason:
        return ReadBack(question.name, question.title, False, str(reason))


def _require_units(question: Question, given: GivenAnswer) -> None:
    """Raise `Unreadable` if a bound has other units than the left side."""
    if isinstance(question, BoundQuestion):
        answer = read_formula(question, given.text)
        if has_units_of(answer, question.claim.relations[0].right, question.claim) is False:
            raise Unreadable(f"{show_answer(question, given)} has other units than the left side of the bound")
