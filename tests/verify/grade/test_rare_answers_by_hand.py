"""Answers and files of students that few submissions contain, with stand-ins, against values by hand."""

from __future__ import annotations

import json
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import pytest
import sympy as sp

from fedtheory.errors import InputError
from verify.grade import answer_text, result_files, sandbox, submission
from verify.grade.answer_limits import Ambiguous, Unreadable
from verify.grade.answer_sides import _remove_condition
from verify.grade.sandbox import run_code

read_back = import_module("verify.grade.read_back")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2*eta for eta <= 1", "2*eta"),
        ("2*eta, for eta <= 1", "2*eta"),
        ("2*eta, eta <= 1", "2*eta"),
        ("2*eta, L", "2*eta, L"),
        ("for eta <= 1", "for eta <= 1"),
        ("2*eta for all", "2*eta for all"),
    ],
)
def test_conditions_after_a_formula(text: str, expected: str) -> None:
    assert _remove_condition(text) == expected


def test_statements_side_by_side_are_refused() -> None:
    with pytest.raises(Ambiguous, match="expected one statement, got several"):
        _remove_condition("a <= b, eta <= 1")


@pytest.mark.parametrize(
    ("other", "side", "names", "expected"),
    [
        ("x", "3", {}, "3"),
        ("0", "3", {}, "3"),
        ("1 + 2", "3", {}, "3"),
        ("0.333", "1/3", {}, "1/3"),
        ("1/3", "0.333", {}, "1/3"),
        ("0.333", "0.3333", {}, "0.3333"),
        ("0.3333", "0.333", {}, "0.3333"),
        ("0.4", "1/3", {}, None),
        ("2/6 + 10**(-9)", "1/3", {}, None),
        ("0.333", "1/3", {"a": sp.Symbol("a")}, None),
    ],
)
def test_sides_that_agree(other: str, side: str, names: Any, expected: str | None) -> None:
    """Rounded numbers agree with the one with more digits, or that is not rounded, if nothing has a name."""
    found = sp.Rational(side) if "." not in side else answer_text._read_side(side, names)
    if expected is None:
        with pytest.raises(Ambiguous, match="differ"):
            answer_text._require_agreement(other, side, found, names)
    else:
        assert answer_text._require_agreement(other, side, found, names) == answer_text._read_side(expected, names)


def test_answers_that_are_read_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """An answer in text or as printed is shown, unless it cannot be read; an empty one says why it is."""
    question: Any = SimpleNamespace(name="a", title="A")
    monkeypatch.setattr(read_back, "show_answer", lambda _question, given: f"shown {given.text}")

    def read(text: str, outputs: Any = (), trouble: str = "") -> tuple[bool, str]:
        given: Any = SimpleNamespace(text=text, outputs=outputs, trouble=trouble)
        found = read_back.read_one(question, given)
        assert (found.name, found.title) == ("a", "A")
        return found.is_readable, found.text

    assert read("eta") == (True, "shown eta")
    assert read("", ("1",)) == (True, "shown ")
    assert read("  ") == (False, "there is no answer yet")
    assert read(" ", trouble="line 3: NameError") == (False, "line 3: NameError")

    def refuse(*_: Any) -> Any:
        raise Unreadable("no formula")

    monkeypatch.setattr(read_back, "show_answer", refuse)
    assert read("?") == (False, "no formula")


def test_questions_of_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    """A named assignment of the package has its own questions, in the file's copy unless another one is given."""
    chosen: Any = SimpleNamespace(copy=lambda name: f"copy {name}")
    monkeypatch.setattr(read_back, "assignments", lambda: {"known": chosen})
    monkeypatch.setattr(read_back, "find_assignment", lambda name: (name, chosen)[1])
    monkeypatch.setattr(read_back, "match_questions", lambda of, copy, _submission: (of is chosen, copy))
    monkeypatch.setattr(read_back, "read_questions", lambda _: "of the file")

    def asked(of: str | None, copy_of: str | None = None, *given: Any) -> Any:
        file: Any = SimpleNamespace(assignment=of, copy_of=copy_of)
        return read_back._find_questions(file, *(given or (None, None)))

    assert asked("known") == (True, f"copy {read_back.CLASS}")
    assert asked("known", "AB") == (True, "copy AB")
    assert asked("known", "AB", None, "CD") == (True, "copy CD")
    assert asked("mine") == "of the file"
    assert asked("mine", None, "known", None) == (True, f"copy {read_back.CLASS}")
    with pytest.raises(InputError, match="expected its first line"):
        asked(None)


def test_files_that_cannot_be_read() -> None:
    """Readers learn the line of a damaged notebook, or the reason of the system."""
    damaged = json.JSONDecodeError("Expecting value", "{\n?", 2)
    assert submission._explain_error(damaged) == "it is not a notebook (line 2: Expecting value)"
    for error in (KeyError("cells"), AttributeError("x"), TypeError("x"), RecursionError("x"), IndexError("x")):
        assert submission._explain_error(error) == "it is not a notebook: parts of the format are missing"
    assert submission._explain_error(PermissionError(13, "Permission denied")) == "Permission denied"
    assert submission._explain_error(OSError("odd")) == "odd"
    assert submission._explain_error(ValueError("it is empty")) == "it is empty"


def test_tables_of_points_that_were_edited_are_kept(tmp_path: Any) -> None:
    """A table that differs from what was written is renamed; without a record nothing happens."""
    points, edited = tmp_path / result_files.POINTS, tmp_path / result_files.EDITED
    points.write_text("a,1\n")
    result_files._keep_edited(tmp_path)
    assert points.exists()
    (tmp_path / result_files._GRADED).write_text(json.dumps({"points": result_files.digest(points)}))
    result_files._keep_edited(tmp_path)
    assert points.exists()
    assert not edited.exists()
    points.write_text("a,2\n")
    result_files._keep_edited(tmp_path)
    assert not points.exists()
    assert edited.read_text() == "a,2\n"
    result_files._keep_edited(tmp_path)
    assert edited.read_text() == "a,2\n"


@pytest.mark.parametrize(
    ("value", "expected", "troubles"),
    [("", "eta*L", ()), ("7", "7", ("line 1: x: NameError: eta",))],
)
def test_formulas_with_unknown_names_are_read_as_text(
    value: str, expected: str, troubles: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A right side in symbols without a value is the answer, unless the name has a value."""
    monkeypatch.setattr(sandbox, "_find_first_line", lambda _: "line 1")
    found = ((value,), "") if value else ((), "")
    monkeypatch.setattr(sandbox, "_execute", lambda *_: [((), "x: NameError: eta"), found])
    answers = run_code(["a = eta*L"], ["a"], {}, None)  # type: ignore[arg-type]
    assert answers.values == {"a": expected}
    assert answers.troubles == troubles
    nothing = run_code(["b = eta*L"], ["a"], {}, None)  # type: ignore[arg-type]
    assert nothing.troubles == ("line 1: x: NameError: eta",)
