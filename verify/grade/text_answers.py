"""Read a student's text from a Python file: a string, or the comments below the question."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from fedtheory.language.exercises import Assignment, Copy, Question
from verify.grade.literals import read_literals
from verify.grade.notebooks import EMPTY_TEXT, write_comment_heading, write_python_template
from verify.grade.submission import Submission


def read_texts(assignment: Assignment, copy: Copy, submission: Submission, wanted: Sequence[str]) -> dict[str, str]:
    """Return the text answers of some questions by name, from a notebook's cells or from a Python file."""
    if not submission.source:
        return {name: "" if text.strip() == EMPTY_TEXT else text for name, text in submission.texts.items()}
    strings = read_literals(submission.units)
    handout = {line.strip() for line in write_python_template(assignment, copy).splitlines()}
    lines = submission.source.splitlines()
    return {
        question.name: strings.get(question.name) or _find_text(question, copy.questions, lines, handout)
        for question in copy.questions
        if question.name in wanted
    }


def _find_text(question: Question, questions: Iterable[Question], lines: Sequence[str], handout: set[str]) -> str:
    """Return the lines between a question's heading and the next one that are not in the handout."""
    begin = _find_heading_line(question, lines)
    if begin is None:
        return ""
    places = [place for other in questions if (place := _find_heading_line(other, lines)) is not None]
    end = min((place for place in places if place > begin), default=len(lines))
    own = [line.strip() for line in lines[begin:end] if line.strip() not in handout]
    return "\n".join(line.removeprefix("#").removeprefix(" ") for line in own).strip()


def _find_heading_line(question: Question, lines: Sequence[str]) -> int | None:
    heading = write_comment_heading(question)
    return next((place for place, line in enumerate(lines) if line.strip() == heading), None)
