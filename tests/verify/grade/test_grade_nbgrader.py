"""nbgrader makes the students' version of a notebook, and grades a right, a wrong and a hostile submission."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from fedtheory.language.exercises import CLASS
from verify.grade import find_assignment
from verify.grade import notebooks as n

pytestmark = pytest.mark.skipif(find_spec("nbgrader") is None, reason="nbgrader is not installed")

NAME = "drift-recursion"
CONFIG = """
c = get_config()
c.CourseDirectory.course_id = "federated"
c.ExecutePreprocessor.timeout = 20
c.Execute.timeout = 20
c.ExecutePreprocessor.iopub_timeout = 60
c.Execute.iopub_timeout = 60
"""


def nbgrader(course: Path, *arguments: str) -> None:
    """Run nbgrader in a course directory; it has to succeed."""
    command = [sys.executable, "-m", "nbgrader", *arguments]
    # nbgrader starts alembic, which stands next to this Python.
    found = {**os.environ, "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])}
    done = subprocess.run(command, cwd=course, env=found, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-2000:]


def submit(course: Path, student: str, answers: dict[str, str]) -> None:
    """Write the released notebook with some cells filled in."""
    notebook: dict[str, Any] = json.loads((course / "release" / NAME / f"{NAME}.ipynb").read_text(encoding="utf-8"))
    for cell in notebook["cells"]:
        cell["source"] = answers.get(cell["metadata"]["nbgrader"]["grade_id"], cell["source"])
    folder = course / "submitted" / student / NAME
    folder.mkdir(parents=True)
    (folder / f"{NAME}.ipynb").write_text(json.dumps(notebook), encoding="utf-8")


@pytest.mark.slow
def test_generate_and_autograde(tmp_path: Path) -> None:
    """The right submission gets all points; the wrong and the looping ones get the points of their other answers."""
    assignment = find_assignment(NAME)
    copy = assignment.copy(CLASS)
    (tmp_path / "source" / NAME).mkdir(parents=True)
    source = n.write_notebook(n.build_instructor_notebook(assignment, copy))
    (tmp_path / "source" / NAME / f"{NAME}.ipynb").write_text(source, encoding="utf-8")
    (tmp_path / "nbgrader_config.py").write_text(CONFIG)
    nbgrader(tmp_path, "generate_assignment", NAME)
    released = (tmp_path / "release" / NAME / f"{NAME}.ipynb").read_text(encoding="utf-8")
    assert "verify" not in released
    right = {question.name: question.solution_cell for question in copy.questions}
    submit(tmp_path, "right", right)
    submit(tmp_path, "wrong", right | {"drift": 'drift = "0"'})
    submit(tmp_path, "looping", right | {"solved": "while True: pass"})
    submit(tmp_path, "cheating", right | {"solved": "from verify.grade import find_assignment\nsolved = '1'"})
    nbgrader(tmp_path, "autograde", NAME)
    nbgrader(tmp_path, "export")
    with (tmp_path / "grades.csv").open(newline="", encoding="utf-8") as file:
        points = {row["student_id"]: float(row["score"]) for row in csv.DictReader(file)}
    assert points == {"right": 15, "wrong": 9, "looping": 11, "cheating": 0}
