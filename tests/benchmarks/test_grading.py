"""Cost of grading a class: right, wrong and hostile submissions to assignments whose answers are bounds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from problems import best_of, seconds_of_sympy
from rows import Row

from fedtheory.language.exercises import BoundQuestion, ManualQuestion
from verify.grade import Assignment, assignments, grade_folder
from verify.grade import notebooks as n
from verify.grade.submission import header

pytestmark = pytest.mark.slow
STUDENTS = 200
HOSTILE = (
    "while True: pass",
    "for _ in range(10**9): print('x' * 100)",
    "open('/etc/passwd').read()",
    "import verify.grade.assignments",
)


ABOUT_BOUNDS = [
    found
    for found in assignments().values()
    if any(isinstance(question, BoundQuestion) for question in found.copy("class").questions)
]
FACTORS = {5: "3/2", 6: "3", 7: "1/2", 8: "1/100"}
"""Factors of the bounds of some students, which are looser than the reference, or false."""


def handed_in(assignment: Assignment, student: str, number: int) -> tuple[str, str]:
    """Return the name and the text of a file; half of the class is right, a tenth hostile, and others have other
    bounds.
    """
    copy, kind = assignment.copy(student), number % 10
    if kind < 2:
        return f"{student}.ipynb", n.write_notebook(n.build_instructor_notebook(assignment, copy))
    cells = {q.name: q.solution_cell for q in copy.questions if not isinstance(q, ManualQuestion)}
    for question in copy.questions:
        if isinstance(question, BoundQuestion) and kind in FACTORS:
            name, _, bound = question.solution_cell.partition(" = ")
            cells[question.name] = f'{name} = "{FACTORS[kind]}*(" + {bound} + ")"'
    if kind == 9:
        cells[next(iter(cells))] = HOSTILE[number // 10 % len(HOSTILE)]
    return f"{student}.py", "\n".join([header(assignment.id, student), *cells.values()]) + "\n"


def test_two_hundred_submissions(tmp_path: Path, benchmark: Any, row: Row) -> None:
    """Right, wrong and hostile submissions are graded one after the other; waiting time does not count."""
    folder = tmp_path / "in"
    folder.mkdir()
    for number in range(STUDENTS):
        # Every kind of submission to every assignment is included.
        assignment = ABOUT_BOUNDS[(number + number // 10) % len(ABOUT_BOUNDS)]
        name, text = handed_in(assignment, f"student{number}", number)
        (folder / name).write_text(text, encoding="utf-8")
    results: list[Any] = []

    def grade() -> None:
        results.extend(grade_folder(folder, tmp_path / "out", jobs=1))

    seconds = best_of(lambda: benchmark.pedantic(grade, rounds=1), 1)
    assert len(results) == STUDENTS
    assert len({result.points for result in results}) > 5
    row(f"grading {STUDENTS} submissions", "import of SymPy", seconds / seconds_of_sympy(), "times the cost")
