"""An assignment as notebooks for students and for instructors, with the marks that nbgrader looks for."""

from __future__ import annotations

import json
from typing import Any

from fedtheory.language.exercises import Assignment, CodeQuestion, Copy, ManualQuestion, Question
from verify.grade.questions import rule_of
from verify.grade.submission import METADATA, header

CLASS = "class"
"""The id of the copy that a whole class shares."""
_EMPTY_CODE = "# YOUR CODE HERE\nraise NotImplementedError()"
_EMPTY_TEXT = "YOUR ANSWER HERE"
_BEGIN, _END = "### BEGIN SOLUTION", "### END SOLUTION"
_BEGIN_TESTS, _END_TESTS = "### BEGIN HIDDEN TESTS", "### END HIDDEN TESTS"


def student_notebook(assignment: Assignment, copy: Copy) -> dict[str, Any]:
    """What a student gets: statements, a worked start, cells to fill, and cells in which points are counted."""
    return _notebook(assignment, copy, with_solutions=False)


def instructor_notebook(assignment: Assignment, copy: Copy) -> dict[str, Any]:
    """The same with solutions and tests: the source from which nbgrader makes the students' version."""
    return _notebook(assignment, copy, with_solutions=True)


def notebook_text(notebook: dict[str, Any]) -> str:
    """A notebook as the text of its file."""
    return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"


def rubric(assignment: Assignment, copy: Copy) -> str:
    """The rubric in Markdown: points, how each is earned, and the solutions of this copy."""
    lines = [f"# {assignment.title}: rubric", "", f"Copy of `{copy.student}`, {copy.points} points.", ""]
    for question in copy.questions:
        lines += [f"## {question.title} (`{question.name}`, {question.points} points)", "", rule_of(question), ""]
        fence = [] if isinstance(question, ManualQuestion) else ["```"]
        lines += [*(["```python"] if fence else []), question.solution_cell, *fence, ""]
    return "\n".join(lines)


def python_template(assignment: Assignment, copy: Copy) -> str:
    """The assignment as a plain Python file to fill; texts for people are handed in apart."""
    parts = [header(assignment.id, copy.student)]
    for question in copy.questions:
        if not isinstance(question, ManualQuestion):
            parts.append(f"# {question.title} ({question.points} points). {question.how}\n{question.start}")
    return "\n\n".join(parts) + "\n"


def _notebook(assignment: Assignment, copy: Copy, with_solutions: bool) -> dict[str, Any]:
    cells = [
        _read_only("title", f"# {assignment.title}\n\n{copy.introduction}\n\n**A start.** {copy.worked}"),
        _cell("code", "student", f'STUDENT = "{copy.student}"', locked=True),
    ]
    for question in copy.questions:
        cells += _cells_of(assignment, question, with_solutions)
    return {
        "cells": cells,
        "metadata": {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
            METADATA: {"assignment": assignment.id, "student": copy.student},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def _cells_of(assignment: Assignment, question: Question, with_solutions: bool) -> list[dict[str, Any]]:
    heading = f"## {question.title} ({question.points} points)"
    statement = f"{heading}\n\n{question.text}\n\n{question.listed}\n\n*{question.how}*"
    asked = _read_only(f"{question.name}-statement", statement)
    if isinstance(question, ManualQuestion):
        source = question.solution if with_solutions else _EMPTY_TEXT
        return [asked, _cell("markdown", question.name, source, solution=True, grade=True, points=question.points)]
    answer = _cell("code", question.name, _answer_source(question, with_solutions), solution=True)
    source = _test_source(assignment, question, with_solutions)
    return [
        asked,
        answer,
        _cell("code", f"{question.name}-points", source, grade=True, locked=True, points=question.points),
    ]


def _answer_source(question: Question, with_solutions: bool) -> str:
    if isinstance(question, CodeQuestion):
        head, _, body = question.solution_cell.partition("\n")
        empty = _EMPTY_CODE.replace("\n", "\n    ")
        return f"{head}\n    {_BEGIN}\n{body}\n    {_END}" if with_solutions else f"{head}\n    {empty}"
    return f"{_BEGIN}\n{question.solution_cell}\n{_END}" if with_solutions else _EMPTY_CODE


def _test_source(assignment: Assignment, question: Question, with_solutions: bool) -> str:
    told = f"# The points of `{question.name}` are counted here."
    if not with_solutions:
        return told
    call = f'points("{assignment.id}", STUDENT, "{question.name}", {question.name})'
    return f"{told}\n{_BEGIN_TESTS}\nfrom verify.grade import points\n\n{call}\n{_END_TESTS}"


def _read_only(name: str, source: str) -> dict[str, Any]:
    return _cell("markdown", name, source, locked=True)


def _cell(
    kind: str,
    name: str,
    source: str,
    *,
    solution: bool = False,
    grade: bool = False,
    locked: bool = False,
    points: int | None = None,
) -> dict[str, Any]:
    marks: dict[str, Any] = {
        "grade": grade,
        "grade_id": name,
        "locked": locked,
        "schema_version": 3,
        "solution": solution,
        "task": False,
        "cell_type": kind,
    }
    if points is not None:
        marks["points"] = points
    cell: dict[str, Any] = {"cell_type": kind, "id": name, "metadata": {"nbgrader": marks}, "source": source}
    return cell | ({"execution_count": None, "outputs": []} if kind == "code" else {})
