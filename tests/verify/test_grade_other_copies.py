"""A file that asks other symbols or numbers than the copy it is marked as costs nobody points."""

from __future__ import annotations

from pathlib import Path

import pytest

from fedtheory.language.exercises import Copy
from verify.grade.assignments import assignment_with_id
from verify.grade.confinement import NoSandbox
from verify.grade.marking import mark_submission
from verify.grade.notebooks import notebook_text, python_template, student_notebook
from verify.grade.other_copies import is_asked_otherwise
from verify.grade.submission import Submission, read_submission

DRIFT = assignment_with_id("drift-recursion")


def _file(folder: Path, copy: Copy, suffix: str) -> Submission:
    path = folder / f"ana{suffix}"
    text = python_template(DRIFT, copy) if suffix == ".py" else notebook_text(student_notebook(DRIFT, copy))
    path.write_text(text, encoding="utf-8")
    return read_submission(path, "ana")


@pytest.mark.parametrize("suffix", [".py", ".ipynb"])
def test_a_handout_asks_what_its_copy_asks(suffix: str, tmp_path: Path) -> None:
    own, other = DRIFT.copy("ana"), DRIFT.copy("cleo")
    submission = _file(tmp_path, own, suffix)
    assert not any(is_asked_otherwise(question, submission) for question in own.questions)
    assert any(is_asked_otherwise(question, submission) for question in other.questions)


def test_answers_without_the_handout_are_marked(tmp_path: Path) -> None:
    path = tmp_path / "ana.py"
    path.write_text('# fedtheory assignment: drift-recursion (copy of ana)\nlast = "1"\n', encoding="utf-8")
    submission = read_submission(path, "ana")
    assert not any(is_asked_otherwise(question, submission) for question in DRIFT.copy("ana").questions)


def test_a_wrong_answer_to_another_question_goes_to_a_person(tmp_path: Path) -> None:
    """Right ones count, an empty one gives nothing, and in its own copy the same answer is wrong."""
    own, other = DRIFT.copy("ana"), DRIFT.copy("cleo")
    path = tmp_path / "ana.py"
    path.write_text(python_template(DRIFT, other).replace('last = ""', 'last = "1"'), encoding="utf-8")
    submission = read_submission(path, "ana")
    rows = {row.name: row for row in mark_submission(DRIFT, own, submission, NoSandbox("none")).rows}
    assert rows["last"].points is None
    assert "other symbols or numbers" in rows["last"].comment
    assert rows["solved"].points == 0
    rows = {row.name: row for row in mark_submission(DRIFT, other, submission, NoSandbox("none")).rows}
    assert rows["last"].points == 0


def test_braces_and_blanks_ask_the_same(tmp_path: Path) -> None:
    """Versions may write one symbol with braces or without."""
    own = DRIFT.copy("ana")
    path = tmp_path / "ana.py"
    path.write_text(
        python_template(DRIFT, own).replace(r"\eta", r"{\eta}").replace(r"\tau", r"{\tau}"), encoding="utf-8"
    )
    submission = read_submission(path, "ana")
    assert not any(is_asked_otherwise(question, submission) for question in own.questions)
