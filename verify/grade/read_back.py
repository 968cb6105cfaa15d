"""Before handing in: whether each answer can be read and has the right units, and nothing about its truth."""

from __future__ import annotations

from dataclasses import dataclass
from functools import singledispatch
from pathlib import Path

from fedtheory.errors import InputError
from fedtheory.language.exercises import (
    CLASS,
    BoundQuestion,
    ChoiceQuestion,
    CodeQuestion,
    ExpressionQuestion,
    ManualQuestion,
    NumberQuestion,
    Question,
)
from fedtheory.language.exercises.letters import written
from verify.grade.answer import read_answer
from verify.grade.assignments import assignment_with_id, find_assignment
from verify.grade.confinement import find_launch
from verify.grade.guarded import Unreadable
from verify.grade.marking import answers_of
from verify.grade.questions import Given
from verify.grade.same import has_units_of, number_at
from verify.grade.submission import read_submission


@dataclass(frozen=True)
class ReadBack:
    """One answer as the grader reads it."""

    name: str
    title: str
    is_readable: bool
    text: str
    """The answer as it was read, or why it cannot be read."""


def read_back(file: Path, assignment: str | None = None, copy: str | None = None) -> list[ReadBack]:
    """Each answer of a student's own file as it is read; the code is executed with the rights of its author.

    Raises:
        InputError: Where there is no such file, or it does not say which assignment it answers.

    """
    if not file.is_file():
        raise InputError("FILE", f"expected a .py or .ipynb file with answers, got {file}")
    submission = read_submission(file, CLASS)
    if submission.trouble is not None:
        raise InputError("FILE", submission.trouble, str(file))
    chosen = find_assignment(assignment) if assignment else assignment_with_id(submission.assignment or "")
    own = chosen.copy(copy or submission.copy_of or CLASS)
    given = answers_of(own.questions, submission, find_launch(unsafe=True))
    return [_read(question, given[question.name]) for question in own.questions]


def _read(question: Question, given: Given) -> ReadBack:
    try:
        if not (given.text.strip() or given.outputs):
            raise Unreadable(given.trouble or "there is no answer yet")
        return ReadBack(question.name, question.title, True, _shown(question, given))
    except Unreadable as reason:
        return ReadBack(question.name, question.title, False, str(reason))


@singledispatch
def _shown(question: Question, _given: Given) -> str:
    """An answer as it was read; `Unreadable` where it cannot be."""
    raise NotImplementedError(type(question).__name__)


@_shown.register
def _bound(question: BoundQuestion, given: Given) -> str:
    answer = read_answer(given.text, question.names)
    if has_units_of(answer, question.claim.relations[0].right, question.claim) is False:
        raise Unreadable(f"{written(answer, question.names)} has other units than what it bounds")
    return written(answer, question.names)


@_shown.register
def _expression(question: ExpressionQuestion, given: Given) -> str:
    return written(read_answer(given.text, question.names), question.names)


@_shown.register
def _number(_question: NumberQuestion, given: Given) -> str:
    answer = read_answer(given.text, {})
    value = number_at(answer, {})
    if value is None:
        raise Unreadable(f"{given.text.strip()[:40]} is no real number")
    return f"{answer}" if answer.is_Integer else f"{answer} = {float(value):.6g}"


@_shown.register
def _choice(question: ChoiceQuestion, given: Given) -> str:
    letter = given.text.strip().strip("()").lower()
    if letter not in list(question.letters):
        raise Unreadable(f"expected one letter of {', '.join(question.letters)}, got {given.text.strip()[:40]}")
    return letter


@_shown.register
def _code(question: CodeQuestion, given: Given) -> str:
    if len(given.outputs) < len(question.tried):
        raise Unreadable(given.trouble or f"{question.name} does not return a number on each case")
    for output in given.outputs:
        read_answer(output, {})
    return f"a function that returns a number on each of {len(question.tried)} cases"


@_shown.register
def _manual(_question: ManualQuestion, given: Given) -> str:
    return f"a text of {len(given.text.split())} words, for a person to read"
