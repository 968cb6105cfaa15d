"""Limits of the grader: the longest text, file and number that is read, and the first that is not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import sympy as sp

from fedtheory.errors import InputError
from verify.grade.answer_limits import Guarded, Unreadable
from verify.grade.literals import list_bound_names, read_literals
from verify.grade.marking import AnswerRow, Result, decode_result
from verify.grade.point_entries import (
    EnteredPoints,
    add_given_points,
    escape_formula,
    match_entries,
    parse_points,
    read_given,
    split_entries,
    write_manual_table,
)
from verify.grade.roster import read_roster
from verify.grade.submission import Submission, read_submission
from verify.grade.submitted_files import SubmittedFile, _distinguish_students, list_labels

x, y = sp.symbols("x y", positive=True)


def _power(base: Any, exponent: Any) -> Any:
    return Guarded({"x": x, "y": y}).power(sp.sympify(base), sp.sympify(exponent))


@pytest.mark.parametrize(
    ("base", "inside", "outside"),
    [
        (x, 16, 17),
        (x, -16, -17),
        (x, sp.Rational(1, 16), sp.Rational(1, 17)),
        (x**16, 4, 5),
        (sp.Integer(2**255), 15, 16),
        (y, x - 16, x - 17),
        (y, x, x * y),
        (y, 2 * x + y, x**2),
        (y + 1, x, sp.sqrt(x)),
    ],
    ids=str,
)
def test_powers_of_answers(base: Any, inside: Any, outside: Any) -> None:
    """Exponents go up to 16, powers of powers up to 64, numbers up to 4096 bits; a symbolic exponent stands alone."""
    assert _power(base, inside) == base**inside
    with pytest.raises(Unreadable):
        _power(base, outside)


def test_powers_of_zero_and_of_powers_with_symbols() -> None:
    assert _power(0, 2) == 0
    for exponent in (0, -1):
        with pytest.raises(Unreadable, match="divides by zero"):
            _power(0, exponent)
    with pytest.raises(Unreadable, match="inside another one"):
        _power(y**x + 1, x)


def test_depth_and_length_of_answers() -> None:
    deep, long = Guarded({}), Guarded({})
    for _ in range(40):
        deep.enter()
    with pytest.raises(Unreadable, match="more than 40 nested"):
        deep.enter()
    for _ in range(400):
        long.enter()
        long.leave()
    with pytest.raises(Unreadable, match="more than 400 numbers"):
        long.enter()


def test_numbers_and_functions_of_answers() -> None:
    guarded = Guarded({"e": x})
    assert guarded.number("1.25e-2") == sp.Rational(1, 80)
    assert guarded.number("1" * 15) == 111_111_111_111_111
    for text in ("1" * 16, "1e100", "0x10", ""):
        with pytest.raises(Unreadable, match="at most 15 digits"):
            guarded.number(text)
    assert (guarded.name("e"), guarded.name("pi")) == (x, sp.pi)
    assert guarded.apply("Max", [x, y, x + y]) == sp.Max(x, y, x + y)
    for arguments in ([x], [x] * 7):
        with pytest.raises(Unreadable, match="takes 2 arguments"):
            guarded.apply("Max", arguments)
    with pytest.raises(Unreadable, match="takes 1 argument, got 2"):
        guarded.apply("sqrt", [x, y])
    with pytest.raises(Unreadable, match="logarithm of zero"):
        guarded.apply("log", [sp.S.Zero])
    with pytest.raises(Unreadable, match="inside an exponential"):
        guarded.apply("exp", [sp.exp(x)])


@pytest.mark.parametrize(("text", "points"), [("0", 0.0), (" 2,5 ", 2.5), ("1e1", 10.0)])
def test_points_that_a_person_enters(text: str, points: float) -> None:
    assert parse_points(text) == points


@pytest.mark.parametrize("text", ["-1", "-0.5", "inf", "nan", "two", ""])
def test_invalid_points_are_refused(text: str) -> None:
    with pytest.raises(InputError, match="expected a number, zero or more"):
        parse_points(text)


def _row(name: str, points: float | None, of: int = 4) -> AnswerRow:
    return AnswerRow(name, name.title(), points, of, "read")


ROWS = (_row("first", 3.0), _row("second", None), _row("third", None, 5))
RESULTS = [
    Result("ann", "a1", ROWS, ()),
    Result("ann", "a2", (_row("first", None),), ()),
    Result("bob", "a1", ROWS, ()),
]


def test_points_that_are_certain_and_those_to_come() -> None:
    assert (RESULTS[0].points, RESULTS[0].of, RESULTS[0].pending) == (3.0, 13, 9)
    assert decode_result(RESULTS[0].document()) == RESULTS[0]


def test_entered_points_find_their_answer() -> None:
    """Points up to the maximum are entered and more are refused; a name in two assignments needs the assignment."""
    most = EnteredPoints("bob", "second", 4.0)
    assert match_entries([most], RESULTS) == {("bob", "a1", "second"): most}
    in_second = EnteredPoints("ann", "first", 1.0, assignment="a2")
    assert list(match_entries([in_second], RESULTS)) == [("ann", "a2", "first")]
    for entry, message in (
        (EnteredPoints("bob", "second", 4.5), "expected at most 4"),
        (EnteredPoints("ann", "first", 1.0), "a1, a2: say which"),
        (EnteredPoints("eve", "first", 1.0), "expected one of ann, bob"),
        (EnteredPoints("bob", "fourth", 1.0), "expected one of first, second, third"),
    ):
        with pytest.raises(InputError, match=message):
            match_entries([entry], RESULTS)
    known, others = split_entries([most, EnteredPoints("eve", "first", 1.0)], RESULTS)
    assert (list(known), [entry.student for entry in others]) == ([("bob", "a1", "second")], ["eve"])
    changed = add_given_points(RESULTS[2], {("bob", "a1", "second"): most})
    assert [row.points for row in changed.rows] == [3.0, 4.0, None]


def test_a_table_of_points_with_semicolons(tmp_path: Path) -> None:
    """Lines without points are skipped, and a formula in plain text is read back."""
    file = tmp_path / "points.csv"
    file.write_text("student;question;points;note\nann;first;2,5;'=well, done\nbob;first; ;\n")
    (entry,) = read_given(file)
    assert (entry.student, entry.points, entry.note) == ("ann", 2.5, "=well, done")
    assert escape_formula("=1+1") == "'=1+1"
    assert escape_formula("1+1") == "1+1"
    assert escape_formula(3) == 3


def test_answers_of_any_length_can_be_read_again(tmp_path: Path) -> None:
    """Long answers are cut: the csv module reads at most 131,072 characters of a cell, and a spreadsheet 32,767."""
    row = replace(_row("second", None), answer="n" * 200_000)
    result, file = Result("ann", "a1", (row,), ()), tmp_path / "to_read.csv"
    entry = EnteredPoints("ann", "second", 2.0)
    write_manual_table([result], {("ann", "a1", "second"): entry}, [], file)
    (found,) = read_given(file)
    assert (found.student, found.question, found.points) == ("ann", "second", 2.0)
    assert len(file.read_text()) < 32_767


@pytest.mark.parametrize("head", ["", "student,question,points\n"], ids=["head", "row"])
def test_a_cell_that_is_too_long_is_one_line_of_trouble(head: str, tmp_path: Path) -> None:
    file = tmp_path / "points.csv"
    file.write_text(f"{head}ann,second,2,{'n' * 200_000}\n")
    for read, key in ((read_given, "--from"), (read_roster, "--students")):
        with pytest.raises(InputError, match=f"{key}: cannot read"):
            read(file)


def _handed_in(student: str, file: str, called: str, assignment: str | None = "a1") -> SubmittedFile:
    return SubmittedFile(Path(file), student, file, called, Submission(called, assignment, ()))


def test_a_copy_of_several_files_stays_with_its_name() -> None:
    """The file with the name of the copy keeps it; others get their own names, or their file names."""
    files = [_handed_in("ann", "x/one.py", "x"), _handed_in("ann", "ann.py", "ann"), _handed_in("ann", "x/two.py", "x")]
    assert [file.student for file in _distinguish_students(files)] == ["x/one.py", "ann", "x/two.py"]
    two = [_handed_in("ann", "one.py", "one"), _handed_in("ann", "ann.py", "ann")]
    assert [file.student for file in _distinguish_students(two)] == ["one", "ann"]
    without = [_handed_in("ann", "one.py", "one"), _handed_in("ann", "two.py", "two")]
    assert [file.student for file in _distinguish_students(without)] == ["ann", "two"]
    apart = [_handed_in("ann", "one.py", "one"), _handed_in("ann", "two.py", "two", "a2")]
    assert [file.student for file in _distinguish_students(apart)] == ["ann", "ann"]


def test_labels_of_results() -> None:
    """A label is the student, or the path for an ambiguous name; a repeated label gets a number."""
    files = [_handed_in("ann", "x/one.py", "x"), _handed_in("ann", "x-one.py", "x"), _handed_in("b:c", "c.py", "c")]
    assert list_labels(files) == ["x-one.py", "x-one.py-1", "b_c"]
    assert list_labels([_handed_in("a" * 101, "a.py", "a")]) == ["a" * 100]


def test_the_longest_code_that_is_read(tmp_path: Path) -> None:
    """Code of 200,000 characters is read; longer code, or a file of more than five megabytes, is refused."""
    file = tmp_path / "ann.py"
    for count, is_read in ((200_000, True), (200_001, False)):
        file.write_text("#" * count)
        assert (read_submission(file, "ann").trouble is None) is is_read
    file.write_bytes(b"\n" * 5_000_001)
    assert "larger than 5 MB" in str(read_submission(file, "ann").trouble)


def test_headers_of_submissions(tmp_path: Path) -> None:
    file = tmp_path / "ann.py"
    for text, expected in (
        ("# fedtheory assignment: a1 (copy of bob)\nx = 1\n", ("a1", "bob")),
        ("x = 1\n# fedtheory assignment: a1\n", ("a1", None)),
        ("# fedtheory assignment: a1 (copy of b/b)\n", ("a1", None)),
        ("x = 1\n", (None, None)),
    ):
        file.write_text(text)
        found = read_submission(file, "ann")
        assert (found.assignment, found.copy_of) == expected


def test_literals_of_code() -> None:
    """The last literal value of a name is its answer, unless other code may assign the name."""
    assert read_literals(["a = 1", "a = 2", "b = '3'"]) == {"a": "2", "b": "3"}
    assert read_literals(["a = 1", "a = f()"]) == {}
    assert read_literals(["a = b = 1.5", "c = True", "def d(): pass", "e = None"]) == {"a": "1.5", "b": "1.5"}
    assert read_literals(["a = 1", "from x import a"]) == {}
    assert list_bound_names(["import a.b as c, d.e", "for f in g: h = 1", "no code ("]) == {"c", "d", "f", "h"}


def test_a_roster_with_and_without_a_head(tmp_path: Path) -> None:
    file = tmp_path / "students.csv"
    for text in ("ann\nbob\n", "Name,Student\nA,ann\n\nB,bob\n", "login\nann\nbob\n"):
        file.write_text(text)
        assert read_roster(file) == ["ann", "bob"]
    file.write_text("student\nann\nbob\nann\n")
    with pytest.raises(InputError, match="line 4: --students: 'ann' is in line 2 already"):
        read_roster(file)
