"""A file that asks other symbols or numbers than the copy it is marked as costs no points."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from fedtheory.language.exercises import ChoiceQuestion, Copy, ExpressionQuestion, NumberQuestion
from verify.grade.assignments import assignment_with_id
from verify.grade.confinement import NoSandbox
from verify.grade.feedback import write_feedback_page
from verify.grade.marking import mark_submission
from verify.grade.notebooks import build_student_notebook, write_notebook, write_python_template
from verify.grade.other_copies import differs_from_copy
from verify.grade.read_back import read_back
from verify.grade.submission import Submission, read_submission

DRIFT = assignment_with_id("drift-recursion")


def _file(folder: Path, copy: Copy, suffix: str) -> Submission:
    path = folder / f"ana{suffix}"
    text = (
        write_python_template(DRIFT, copy) if suffix == ".py" else write_notebook(build_student_notebook(DRIFT, copy))
    )
    path.write_text(text, encoding="utf-8")
    return read_submission(path, "ana")


@pytest.mark.parametrize("suffix", [".py", ".ipynb"])
def test_a_handout_asks_what_its_copy_asks(suffix: str, tmp_path: Path) -> None:
    own, other = DRIFT.copy("ana"), DRIFT.copy("cleo")
    submission = _file(tmp_path, own, suffix)
    assert not any(differs_from_copy(question, submission) for question in own.questions)
    assert any(differs_from_copy(question, submission) for question in other.questions)


def test_answers_without_the_handout_are_marked(tmp_path: Path) -> None:
    path = tmp_path / "ana.py"
    path.write_text('# fedtheory assignment: drift-recursion (copy of ana)\nlast = "1"\n', encoding="utf-8")
    submission = read_submission(path, "ana")
    assert not any(differs_from_copy(question, submission) for question in DRIFT.copy("ana").questions)


def test_a_wrong_answer_to_another_question_goes_to_a_person(tmp_path: Path) -> None:
    """If no copy has the question, right answers get points, and wrong ones are left to a person."""
    own, other = DRIFT.copy("ana"), DRIFT.copy("cleo")
    path = tmp_path / "ana.py"
    answered = write_python_template(DRIFT, other).replace('last = ""', 'last = "1"')
    path.write_text(re.sub(r"k=(.+)=\d+\$ and", r"k=\1=77$ and", answered), encoding="utf-8")
    submission = read_submission(path, "ana")
    rows = {row.name: row for row in mark_submission(DRIFT, own, submission, NoSandbox("none")).rows}
    assert rows["last"].points is None
    assert "other symbols or numbers" in rows["last"].comment
    assert rows["solved"].points == 0
    path.write_text(answered, encoding="utf-8")
    submission = read_submission(path, "ana")
    rows = {row.name: row for row in mark_submission(DRIFT, other, submission, NoSandbox("none")).rows}
    assert rows["last"].points == 0


def test_braces_and_blanks_ask_the_same(tmp_path: Path) -> None:
    """Two versions of a question may write one symbol with or without braces."""
    own = DRIFT.copy("ana")
    path = tmp_path / "ana.py"
    path.write_text(
        write_python_template(DRIFT, own).replace(r"\eta", r"{\eta}").replace(r"\tau", r"{\tau}"), encoding="utf-8"
    )
    submission = read_submission(path, "ana")
    assert not any(differs_from_copy(question, submission) for question in own.questions)


def test_the_copy_of_another_student_is_graded_as_it_asks(tmp_path: Path) -> None:
    """Another student's copy is graded as it stands in the file; the note is for the instructor alone."""
    own, other = DRIFT.copy("ana"), DRIFT.copy("cleo")
    (last,) = (question for question in other.questions if isinstance(question, NumberQuestion))
    (solved,) = (question for question in other.questions if isinstance(question, ExpressionQuestion))
    symbol = next(name for name in solved.names if name not in "kc")
    text = write_python_template(DRIFT, other).replace("copy of cleo", "copy of ana")
    right = text.replace('last = ""', f'last = "{last.solution}"').replace('solved = ""', f'solved = "{symbol}*c"')
    for content, points in ((right, 2), (right.replace(f'"{last.solution}"', '"1"'), 0)):
        path = tmp_path / "ana.py"
        path.write_text(content, encoding="utf-8")
        result = mark_submission(DRIFT, own, read_submission(path, "ana"), NoSandbox("none"))
        rows = {row.name: row for row in result.rows}
        assert rows["last"].points == points
        assert rows["solved"].points == 0
        assert rows["solved"].comment.startswith("not correct: for")
        (note,) = result.notes
        assert note.startswith("worded as in another copy or version, and graded as worded: ")
        assert {"solved", "last"} <= set(re.findall(r"\w+", note))
        assert note in result.troubles
        assert "worded as in another copy" not in write_feedback_page(result)
        assert next(each for each in read_back(path) if each.name == "solved").is_readable


def test_options_in_another_order_are_asked_otherwise(tmp_path: Path) -> None:
    """The letter of an option is meaningless without the order of the options."""
    speedup = assignment_with_id("linear-speedup")
    by_order = {}
    for number in range(30):
        copy = speedup.copy(f"student {number}")
        (choice,) = (question for question in copy.questions if isinstance(question, ChoiceQuestion))
        by_order[choice.letter] = copy
    (first, own), (second, other) = list(by_order.items())[:2]
    path = tmp_path / "ana.py"
    for letter, points in ((second, 1), (first, 0)):
        path.write_text(write_python_template(speedup, other).replace('speedup = ""', f'speedup = "{letter}"'))
        result = mark_submission(speedup, own, read_submission(path, own.student), NoSandbox("none"))
        assert [row.points for row in result.rows if row.name == "speedup"] == [points]
