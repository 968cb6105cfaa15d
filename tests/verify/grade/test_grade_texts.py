"""Texts that grading reads and writes, against values by hand: literals, quotes, points, columns, shares."""

from __future__ import annotations

import csv
import math
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from fedtheory.errors import InputError
from verify.grade import code_repair, point_entries, shown_answer
from verify.grade.code_repair import is_python, leave_out_if_huge, repair_signs
from verify.grade.literals import list_bound_names, read_literals
from verify.grade.marking import AnswerRow, Result, _check_header
from verify.grade.partial_credit import compute_share
from verify.grade.point_entries import (
    EnteredPoints,
    add_given_points,
    escape_formula,
    match_entries,
    parse_points,
    read_given,
    split_entries,
)
from verify.grade.questions.mark import GivenAnswer
from verify.grade.result_files import _list_cells, write_points
from verify.grade.submission import digest, header


def test_shares_of_bounds() -> None:
    """Up to twice the reference is close; more, or a bound without comparison, is loose; right units give a quarter."""
    half, quarter = Fraction(1, 2), Fraction(1, 4)
    for standing in ("proved", "not refuted"):
        found = [compute_share(standing, excess, True) for excess in (1.0, 2.0, 2.0001, math.inf, None)]  # type: ignore[arg-type]
        assert found == [1, 1, half, half, half]
    assert compute_share("equal", None, False) == 1
    for standing in ("refuted", "not applicable"):
        assert [compute_share(standing, 1.0, units) for units in (True, False)] == [quarter, 0]  # type: ignore[arg-type]


def test_answers_that_are_literals() -> None:
    """The last text or number of a name is its answer, if the name has no computed value."""
    assert read_literals(["a = 1", "b = 'x'\nc = 2.5", "a = 3"]) == {"a": "3", "b": "x", "c": "2.5"}
    for other in ("a = x", "for a in b: pass", "def a(): pass", "class a: pass", "import a", "import x as a", "a += 1"):
        assert read_literals(["a = 1", other]) == {}
    assert read_literals(["a = True", "b = None", "c = b'x'", "d = (1", "e = f = 2", "g.h = 3"]) == {
        "e": "2",
        "f": "2",
    }
    assert list_bound_names(["import a.b, c as d\ne = 1\ndef f(x): g = 2"]) == {"a", "d", "e", "f", "g"}


def test_quotes_and_signs_of_word_processors() -> None:
    """Typographic quotes and signs are replaced if the code is valid Python only without them; texts keep them."""
    assert repair_signs("a = \u201cx\u201d \u2212 1") == 'a = "x" - 1'
    assert repair_signs('a = "\u201cx\u201d"') == 'a = "\u201cx\u201d"'
    assert repair_signs("a = = \u2212 1") == "a = = \u2212 1"
    assert [is_python(text) for text in ("a = 1", "a = ", "a\0")] == [True, False, False]


def test_statements_that_are_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(code_repair, "_LONGEST_STATEMENT", 10)
    assert leave_out_if_huge("a = 12345\n") == "a = 12345\n"
    for statement in ("a = 123456\n", "def a(x): pass"):
        assert leave_out_if_huge(statement).startswith("a = <more than 10 characters")
    assert leave_out_if_huge("(1 + 2 + 3 + 4)") == "(1 + 2 + 3 + 4)"


def test_numbers_of_points() -> None:
    """Points are zero or more, also with a decimal comma."""
    assert [parse_points(text) for text in ("0", " 1,5 ", "2.25")] == [0, 1.5, 2.25]
    for text in ("-1", "inf", "nan", "x", ""):
        with pytest.raises(InputError, match="expected a number, zero or more"):
            parse_points(text)
    assert [escape_formula(cell) for cell in ("=1", "+1", "@a", "\tb", "-1", "a=b", 1)] == [
        "'=1",
        "'+1",
        "'@a",
        "'\tb",
        "-1",
        "a=b",
        1,
    ]
    assert [point_entries._read_cell(cell) for cell in ("'=1", "'a", " b ", None)] == ["=1", "'a", "b", ""]
    longest = point_entries._LONGEST_CELL
    assert point_entries._shorten_answer("x" * longest) == "x" * longest
    assert point_entries._shorten_answer("x" * (longest + 1)) == "x" * longest + " [...]"


def _row(name: str, points: float | None = None, of: int = 3) -> AnswerRow:
    return AnswerRow(name, name.upper(), points, of, "comment")


def _result(student: str, *rows: AnswerRow, assignment: str = "a") -> Result:
    return Result(student, assignment, rows, ())


def test_points_of_answers() -> None:
    """An entry belongs to one answer, and has at most its points; other entries are kept for later."""
    results = [
        _result("ana", _row("q"), _row("r", 1.0)),
        _result("bob", _row("q")),
        _result("ana", _row("q"), assignment="b"),
    ]
    entry = EnteredPoints
    assert list(match_entries([entry("bob", "q", 3.0)], results)) == [("bob", "a", "q")]
    assert list(match_entries([entry("ana", "q", 1.0, assignment="b")], results)) == [("ana", "b", "q")]
    for wrong, message in (
        (entry("bob", "q", 3.1), "expected at most 3"),
        (entry("ana", "q", 1.0), "say which with --assignment"),
        (entry("eve", "q", 1.0), "expected one of ana, bob"),
        (entry("bob", "r", 1.0), "expected one of q"),
        (entry("bob", "q", 1.0, assignment="b"), "expected one of q"),
    ):
        with pytest.raises(InputError, match=message):
            match_entries([wrong], results)
    known, others = split_entries([entry("bob", "q", 2.0), entry("bob", "r", 1.0), entry("eve", "q", 1.0)], results)
    assert (list(known), [one.student for one in others]) == ([("bob", "a", "q")], ["bob", "eve"])
    given = {("ana", "a", "q"): entry("ana", "q", 2.0, "fine"), ("ana", "a", "r"): entry("ana", "r", 3.0)}
    found = add_given_points(results[0], given)
    assert [(row.points, row.comment) for row in found.rows] == [
        *((2.0, "points given by a person: fine"), (3.0, "comment; points given by a person")),
    ]
    assert (found.points, found.of, found.pending) == (5.0, 6, 0)
    assert (results[0].points, results[0].pending) == (1.0, 3)


def test_tables_of_points(tmp_path: Path) -> None:
    """The separator is the more frequent of semicolon and comma; lines without points are skipped."""
    for delimiter in ",;":
        file = tmp_path / "points.csv"
        lines = ["student,question,points", "ana,q,1", "bob,q,", "eve,q, "]
        file.write_text("\n".join(lines).replace(",", delimiter))
        assert [(one.student, one.points) for one in read_given(file)] == [("ana", 1.0)]
    file.write_text("student;question\nana;q\n")
    with pytest.raises(InputError, match="points is missing"):
        read_given(file)
    assert [_list_cells(row) for row in (None, _row("q"), _row("q", 1.5))] == [("", ""), ("", 3), ("1.5", 3)]
    write_points([_result("ana", _row("q", 1.5)), _result("=bob", _row("r"))], file)
    with file.open(encoding="utf-8") as opened:
        heads, first, second = csv.reader(opened)
    assert heads == ["student", "assignment", "q", "q_max", "r", "r_max", "points", "pending", "of", "troubles", "file"]
    assert first == ["ana", "a", "1.5", "3", "", "", "1.5", "0", "3", "", ""]
    assert second == ["'=bob", "a", "", "", "", "3", "0", "3", "3", "", ""]


@pytest.mark.parametrize(
    ("copy_of", "assignment", "trouble", "count"),
    [
        ("ana", "drift", None, 0),
        ("bob", "drift", None, 1),
        (None, "drift", None, 1),
        (None, "drift", "broken", 0),
        ("ana", None, None, 0),
        ("ana", "other", None, 1),
        ("bob", "other", None, 2),
    ],
)
def test_headers_that_disagree(copy_of: str | None, assignment: str | None, trouble: str | None, count: int) -> None:
    submission: Any = SimpleNamespace(copy_of=copy_of, assignment=assignment, trouble=trouble)
    asked: Any = SimpleNamespace(id="drift")
    copy: Any = SimpleNamespace(student="ana")
    assert len(list(_check_header(asked, copy, submission))) == count


def test_answers_as_they_were_handed_in() -> None:
    """The page shows the text, or the results of a function case by case."""
    text: Any = SimpleNamespace(cases=None)
    assert shown_answer.show_submitted(text, GivenAnswer("  1 + 2 ")) == "1 + 2"
    assert len(shown_answer.show_submitted(text, GivenAnswer("x" * 9999))) == 4000
    function: Any = SimpleNamespace(cases=(("1",), ("2", "3")), name="f")
    assert shown_answer.show_submitted(function, GivenAnswer("", ("4", ""))) == "f(1) = 4\nf(2, 3) = None"
    assert shown_answer.show_submitted(function, GivenAnswer("", ("4",))) == "f(1) = 4"
    question: Any = SimpleNamespace(letters=["a", "b"], options=["$1/T$", "It grows."])
    assert [shown_answer._show_choice(question, GivenAnswer(one)) for one in ("(A)", " b ", "it grows")] == [
        "a",
        "b",
        "b",
    ]
    numbers: Any = None
    assert [shown_answer._show_number(numbers, GivenAnswer(one)) for one in ("3", "1/4")] == ["3", "1/4 = 0.25"]
    code: Any = SimpleNamespace(tried=[1, 2], name="f")
    assert "each of 2 cases" in shown_answer._show_code(code, GivenAnswer("", ("1", "2")))
    for outputs in (("1",), ("1", "x")):
        with pytest.raises(shown_answer.Unreadable):
            shown_answer._show_code(code, GivenAnswer("", outputs))


def test_fingerprints_of_files(tmp_path: Path) -> None:
    """Fingerprints cover a file and those next to it; a missing file counts as an empty one."""
    file = tmp_path / "a.py"
    file.write_text("x")
    assert digest(file, "a", "b") == digest(file, "a", "b") != digest(file, "a", "c")
    assert digest(tmp_path / "none.py") != digest(file)
    assert header("drift", "ana") == "# fedtheory assignment: drift (copy of ana)"
