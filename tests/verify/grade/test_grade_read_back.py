"""Students' check of their own file: each answer as parsed, whether it is right or not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from fedtheory.errors import InputError
from fedtheory.language.exercises import CLASS
from verify.grade import assignments, read_back
from verify.grade import notebooks as n
from verify.grade.questions import GivenAnswer
from verify.grade.shown_answer import show_submitted

ASSIGNMENT = assignments()["drift-recursion"]


def answers(folder: Path, **given: str) -> dict[str, tuple[bool, str]]:
    """Return the parsed answers of the handout with some of them filled in."""
    copy = ASSIGNMENT.copy(CLASS)
    text = n.write_python_template(ASSIGNMENT, copy)
    for name, answer in given.items():
        text = text.replace(f'{name} = ""', f"{name} = {answer}")
    file = folder / "mine.py"
    file.write_text(text, encoding="utf-8")
    return {each.name: (each.is_readable, each.text) for each in read_back(file)}


def test_right_and_wrong_answers_are_read_alike(tmp_path: Path) -> None:
    """A wrong number is parsed like the right one; a missing answer is named."""
    names = [question.name for question in ASSIGNMENT.copy(CLASS).questions]
    found = answers(tmp_path, last='"0,5"', drift='"E^2 * s**2 zeta²"')
    assert list(found) == names
    assert found["last"] == (True, "1/2 = 0.5")
    assert found["drift"] == (True, "E**2*s**2*zeta**2")
    assert found["solved"] == (False, "there is no answer yet")


def test_other_units_and_other_symbols_are_named(tmp_path: Path) -> None:
    """Wrong units and unknown symbols are named, since both would cost the points of a bound."""
    is_readable, text = answers(tmp_path, drift='"E * s * zeta"')["drift"]
    assert not is_readable
    assert "other units" in text
    is_readable, text = answers(tmp_path, drift='"var * s"')["drift"]
    assert not is_readable
    assert "var is not a symbol of this question" in text


def test_solutions_are_read(tmp_path: Path) -> None:
    """All solutions in the instructor's notebook of every assignment are parsed."""
    for assignment in assignments().values():
        file = tmp_path / f"{assignment.id}.ipynb"
        file.write_text(
            n.write_notebook(n.build_instructor_notebook(assignment, assignment.copy("ana"))), encoding="utf-8"
        )
        assert all(each.is_readable for each in read_back(file)), assignment.id


def test_a_file_that_answers_nothing(tmp_path: Path) -> None:
    """One line says that the file has no answers."""
    with pytest.raises(InputError, match=r"expected a \.py or \.ipynb file"):
        read_back(tmp_path / "none.py")
    (tmp_path / "other.py").write_text("x = 1")
    with pytest.raises(InputError, match="expected its first line `# fedtheory assignment: ID"):
        read_back(tmp_path / "other.py")
    (tmp_path / "other.py").write_text("# fedtheory assignment: hidden (copy of ana)\nx = 1")
    with pytest.raises(InputError, match="keep the comments of the handout"):
        read_back(tmp_path / "other.py")


def test_a_cell_reads_the_answers_of_a_notebook(capsys: pytest.CaptureFixture[str]) -> None:
    """The last cell shows parsed answers, not whether they are right; empty answers and missing functions are named."""
    copy = ASSIGNMENT.copy(CLASS)
    cell = n.build_student_notebook(ASSIGNMENT, copy)["cells"][-1]
    assert cell["metadata"]["nbgrader"]["locked"]
    answers = {"STUDENT": CLASS, "last": "1/2", "drift": "s*E", "iterate": lambda *_given: None}
    exec(cell["source"], answers)
    printed = capsys.readouterr().out
    assert "solved: NOT READ: there is no answer yet" in printed
    assert "last: read as 1/2 = 0.5" in printed
    assert "drift: NOT READ: E*s has other units" in printed
    assert "iterate: NOT READ" in printed


def test_the_cell_of_an_exercise_of_ones_own(capsys: pytest.CaptureFixture[str]) -> None:
    """Without the file of the exercise, the cell uses the symbols of the notebook only."""
    own = replace(ASSIGNMENT, file="somewhere.py")
    answers = {"STUDENT": CLASS, "last": "x", "drift": "E^2*s"}
    exec(n.build_student_notebook(own, own.copy(CLASS))["cells"][-1]["source"], answers)
    printed = capsys.readouterr().out
    assert "drift: read as E**2*s" in printed
    assert "last: NOT READ: x is not a symbol of this question; it asks for a number" in printed


@pytest.mark.parametrize("suffix", [".py", ".ipynb"])
def test_answers_without_the_exercise_file_are_parsed(tmp_path: Path, suffix: str) -> None:
    """Formulas and numbers are parsed with the symbols that the file states."""
    hidden = replace(ASSIGNMENT, id="hidden", file="somewhere.py")
    copy = ASSIGNMENT.copy(CLASS)
    file = tmp_path / f"mine{suffix}"
    if suffix == ".py":
        text = n.write_python_template(hidden, copy)
        for name, answer in {"last": "'1/2'", "drift": "'E^2*s*var'", "solved": "'cE'"}.items():
            text = text.replace(f'{name} = ""', f"{name} = {answer}")
    else:
        notebook = n.build_student_notebook(hidden, copy)
        answers_of_cells = {"last": "last = '1/2'", "drift": "drift = 'E^2*s*var'", "solved": "solved = 'cE'"}
        for cell in notebook["cells"]:
            cell["source"] = answers_of_cells.get(cell["id"], cell["source"])
        text = n.write_notebook(notebook)
    file.write_text(text, encoding="utf-8")
    found = {each.name: (each.is_readable, each.text) for each in read_back(file)}
    assert found["last"] == (True, "1/2")
    assert found["solved"] == (True, "E*c")
    is_readable, text = found["drift"]
    assert not is_readable
    assert "var is not a symbol of this question" in text


def test_lost_backslashes_are_shown() -> None:
    """A form feed is shown as the LaTeX command that Python made it of; other controls are removed."""
    (drift,) = (question for question in ASSIGNMENT.copy(CLASS).questions if question.name == "drift")
    assert show_submitted(drift, GivenAnswer("\frac{E}{2}\x00\n+\bigl(E\bigr)")) == "\\frac{E}{2}\n+\\bigl(E\\bigr)"
