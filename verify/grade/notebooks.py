"""Write an assignment as notebooks for students and instructors, with the metadata of nbgrader."""

from __future__ import annotations

import json
import textwrap
from functools import partial
from typing import Any

from fedtheory.language.exercises import (
    Assignment,
    BoundQuestion,
    CodeQuestion,
    Copy,
    ExpressionQuestion,
    ManualQuestion,
    NumberQuestion,
    Question,
)
from verify.grade.notebook_cells import AUTOGRADED, BEFORE_HANDING_IN, METADATA
from verify.grade.questions import describe_rule
from verify.grade.submission import header

_EMPTY_CODE = "# YOUR CODE HERE\nraise NotImplementedError()"
EMPTY_TEXT = "YOUR ANSWER HERE"
"""The text of a cell that is not answered yet, as in nbgrader."""
_BEGIN, _END = "### BEGIN SOLUTION", "### END SOLUTION"
_BEGIN_TESTS, _END_TESTS = "### BEGIN HIDDEN TESTS", "### END HIDDEN TESTS"


def build_student_notebook(assignment: Assignment, copy: Copy) -> dict[str, Any]:
    """Write a student's notebook: statements, a worked start, cells to fill, and cells in which points are counted."""
    return _build_notebook(assignment, copy, with_solutions=False)


def build_instructor_notebook(assignment: Assignment, copy: Copy) -> dict[str, Any]:
    """Write the notebook with solutions and tests, from which nbgrader makes the students' version."""
    return _build_notebook(assignment, copy, with_solutions=True)


def write_notebook(notebook: dict[str, Any]) -> str:
    """Return a notebook as the text of its file."""
    return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"


def write_rubric(assignment: Assignment, copy: Copy) -> str:
    """Return the rubric in Markdown: points, rules, and the solutions of this copy."""
    lines = [f"# {assignment.title}: rubric", "", f"Copy of `{copy.student}`, {format_points(copy.points)}.", ""]
    for question in copy.questions:
        lines += [
            f"## {question.title} (`{question.name}`, {format_points(question.points)})",
            "",
            describe_rule(question),
            "",
        ]
        fence = [] if isinstance(question, ManualQuestion) else ["```"]
        lines += [*(["```python"] if fence else []), question.solution_cell, *fence, ""]
    return "\n".join(lines)


def write_python_template(assignment: Assignment, copy: Copy) -> str:
    """Return the assignment as a Python file to complete; the questions are comments."""
    start = f"Hint. {copy.worked}" if copy.worked else ""
    about = _write_comment(assignment.title, copy.introduction, start)
    parts = [header(assignment.id, copy.student), about]
    for question in copy.questions:
        asked = _write_comment(_write_heading(question), question.text, question.option_list, question.how)
        is_manual = isinstance(question, ManualQuestion)
        start = "# Write your text here, as comments." if is_manual else question.start
        parts.append(f"{asked}\n{start}")
    return "\n\n".join([*parts, _BEFORE_HANDING_IN]) + "\n"


_BEFORE_HANDING_IN = "# Before you hand in: `fedtheory course check FILE` says whether each answer can be read."


def write_comment_heading(question: Question) -> str:
    """Return the comment line above a question."""
    return _write_comment(_write_heading(question))


def _write_heading(question: Question) -> str:
    return f"{question.title} ({format_points(question.points)})"


def format_points(points: float) -> str:
    """Format a number of points."""
    return "1 point" if points == 1 else f"{points:g} points"


def _write_comment(*paragraphs: str) -> str:
    """Return paragraphs as wrapped comments."""
    lines = [line for text in paragraphs if text for line in ("", *text.splitlines())][1:]
    wrapped = [part for line in lines for part in _wrap(line) or [""]]
    return "\n".join(f"# {line}".rstrip() for line in wrapped)


_wrap = partial(textwrap.wrap, width=96, break_long_words=False, break_on_hyphens=False)


def _build_notebook(assignment: Assignment, copy: Copy, with_solutions: bool) -> dict[str, Any]:
    start = [f"**Hint.** {copy.worked}"] if copy.worked else []
    cells = [
        _make_read_only_cell("title", "\n\n".join((f"# {assignment.title}", copy.introduction, *start))),
        _build_cell("code", "student", f'STUDENT = "{copy.student}"', locked=True),
    ]
    for question in copy.questions:
        cells += _build_cells(assignment, question, with_solutions)
    cells.append(_build_cell("code", "check-answers", _check_source(assignment, copy), locked=True))
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


def _check_source(assignment: Assignment, copy: Copy) -> str:
    """Return the cell that checks whether answers can be parsed; students lack the file of a user-defined exercise."""
    symbols = {q.name: sorted(q.names) for q in copy.questions if isinstance(q, BoundQuestion | ExpressionQuestion)}
    symbols |= {q.name: [] for q in copy.questions if isinstance(q, NumberQuestion)}
    own = "" if assignment.file is None else f", {json.dumps(symbols)}"
    return (
        f"{BEFORE_HANDING_IN}can each answer be read? This does not say whether it is right.\n"
        "import fedtheory as ft\n\n"
        f'ft.check_answers("{assignment.id}", STUDENT, globals(){own})'
    )


def _build_cells(assignment: Assignment, question: Question, with_solutions: bool) -> list[dict[str, Any]]:
    statement = f"## {_write_heading(question)}\n\n{question.text}\n\n{question.option_list}\n\n*{question.how}*"
    asked = _make_read_only_cell(f"{question.name}-statement", statement)
    if isinstance(question, ManualQuestion):
        source = question.solution if with_solutions else EMPTY_TEXT
        return [
            asked,
            _build_cell("markdown", question.name, source, solution=True, grade=True, points=question.points),
        ]
    answer = _build_cell("code", question.name, _write_answer_source(question, with_solutions), solution=True)
    source = _write_test_source(assignment, question, with_solutions)
    return [
        asked,
        answer,
        _build_cell("code", f"{question.name}-points", source, grade=True, locked=True, points=question.points),
    ]


def _write_answer_source(question: Question, with_solutions: bool) -> str:
    if isinstance(question, CodeQuestion):
        head, _, body = question.solution_cell.partition("\n")
        empty = _EMPTY_CODE.replace("\n", "\n    ")
        return f"{head}\n    {_BEGIN}\n{body}\n    {_END}" if with_solutions else f"{head}\n    {empty}"
    asked = f"# Your answer goes here: {question.start}"
    return f"{asked}\n{_BEGIN}\n{question.solution_cell}\n{_END}" if with_solutions else f"{asked}\n{_EMPTY_CODE}"


def _write_test_source(assignment: Assignment, question: Question, with_solutions: bool) -> str:
    heading = f"{AUTOGRADED}`{question.name}`; leave it empty."
    if not with_solutions:
        return heading
    call = f'points("{assignment.target}", STUDENT, "{question.name}", {question.name})'
    return f"{heading}\n{_BEGIN_TESTS}\nfrom verify.grade import points\n\n{call}\n{_END_TESTS}"


def _make_read_only_cell(name: str, source: str) -> dict[str, Any]:
    return _build_cell("markdown", name, source, locked=True)


def _build_cell(
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
