"""Functions for the cells of a notebook: they count points, and show answers as parsed."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from fedtheory.errors import InputError
from fedtheory.language.exercises import ManualQuestion, Question
from verify.grade.asked_in_file import build_questions
from verify.grade.assignments import PART, find_assignment
from verify.grade.questions import GivenAnswer, mark_answer
from verify.grade.read_back import ReadBack, read_one


def points(assignment: str, student: str, name: str, answer: Any) -> float:
    """Return the points of an answer in a notebook, and print the comment.

    In an nbgrader test cell the returned value is the partial credit. An answer that is a function is called in the
    notebook's process, under nbgrader's limits. A notebook in which a student's cell names the grader gets no points.
    """
    if any(map(has_name_of_grader, _get_executed())):
        print("a cell of this notebook uses the grader or its solutions: remove it, answers must not use them")
        return 0.0
    question = _find_question(assignment, student, name)
    mark = mark_answer(question, _take_answer(question, answer))
    print(mark.comment)
    if mark.run_file is not None:
        print("the run that violates it, as a run file:", mark.run_file, sep="\n\n")
    if mark.relation is not None:
        print(f'saved as run.toml, `fedtheory check "{mark.relation}" run.toml` shows both sides')
    return mark.points_of(question) or 0.0


def read_answers(
    assignment: str, student: str, answers: Mapping[str, Any], by_question: Mapping[str, Sequence[str]] | None
) -> list[ReadBack]:
    """Return each answer as parsed; `by_question` has the symbols if the exercise's file is missing."""
    questions = (
        build_questions(by_question) if by_question is not None else find_assignment(assignment).copy(student).questions
    )
    asked = [question for question in questions if not isinstance(question, ManualQuestion)]
    return [read_one(question, _take_answer(question, answers.get(question.name))) for question in asked]


def _find_question(assignment: str, student: str, name: str) -> Question:
    for question in find_assignment(assignment).copy(student).questions:
        if question.name == name:
            return question
    raise InputError("name", f"{assignment} has no question {name!r}")


def _take_answer(question: Question, answer: Any) -> GivenAnswer:
    if answer is None or answer is Ellipsis:
        return GivenAnswer()
    if question.cases is None:
        is_alone = isinstance(answer, list | tuple | set) and len(answer) == 1
        return GivenAnswer(str(next(iter(answer)) if is_alone else answer))
    outputs: list[str] = []
    try:
        for case in question.cases:
            found = answer(*map(Fraction, case))
            outputs.append("" if found is None or found is Ellipsis else str(found))
    except Exception as error:
        return GivenAnswer(outputs=tuple(outputs), trouble=f"{type(error).__name__}: {error}")
    return GivenAnswer(outputs=tuple(outputs))


_COUNTING = re.compile(r"^from verify\.grade import points\n\npoints\(.*\)$", re.MULTILINE)


def has_name_of_grader(source: str) -> bool:
    """Return whether a cell names the grader or the assignments of a paper, outside of calls that count points."""
    words = set(re.findall(r"\w+", _COUNTING.sub("", source)))
    return "verify" in words or {"fedtheory", PART} <= words


def _get_executed() -> Iterable[str]:
    """Return the cells that the notebook has executed; empty outside of a notebook."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return [] if shell is None else list(shell.user_ns.get("In", []))
