"""Points that a person gives: entered by command or csv, kept by grading again, shown to the student."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from fedtheory.errors import InputError
from verify.grade import Result, assignments, feedback, grade_folder
from verify.grade import notebooks as n
from verify.grade.marking import AnswerRow
from verify.grade.point_entries import EnteredPoints, parse_points, read_given
from verify.grade.result_files import _write_reading_page, give_points

ASSIGNMENT = assignments()["polarization"]
PLACEHOLDER = "# Write your text here, as comments."


def handout(student: str, text: str = PLACEHOLDER) -> str:
    """Return the Python file of a student, with a proof."""
    return n.write_python_template(ASSIGNMENT, ASSIGNMENT.copy(student)).replace(PLACEHOLDER, text)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Write three submissions: a proof in comments, one in a string, and a notebook without one."""
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "ana.py").write_text(handout("ana", "# Expand $\\|a+b\\|^2$\n# and rearrange."))
    (folder / "bob.py").write_text(handout("bob", 'proof = """By the cosine rule."""'))
    (folder / "eve.ipynb").write_text(n.write_notebook(n.build_student_notebook(ASSIGNMENT, ASSIGNMENT.copy("eve"))))
    return folder


def graded(folder: Path) -> Path:
    """Return the folder of grades."""
    grade_folder(folder, folder.parent / "out", unsafe=True)
    return folder.parent / "out"


def table(file: Path) -> list[dict[str, str]]:
    """Read the lines of a csv file."""
    with file.open(newline="", encoding="utf-8") as opened:
        return list(csv.DictReader(opened))


@pytest.mark.parametrize(
    ("read", "typeset"),
    [
        ("D**2/(2*T*eta)", r"\frac{D^{2}}{2 T \eta}"),
        ("gap*zeta_1", r"\mathrm{gap} \zeta_{1}"),
        ("Max(L*eta, abs(tau - 1))", r"\max\left(L \eta, \left|{\tau-1}\right|\right)"),
    ],
)
def test_a_formula_is_typeset_as_it_was_read(read: str, typeset: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A formula is shown typeset next to its text, so that a student sees how it was read."""
    monkeypatch.setattr(feedback, "_convert_formula", lambda formula: f"[{formula}]")
    row = AnswerRow("bound", "The bound", 1.0, 2, "", answer="as typed", read=read)
    assert f"<dt>Read as</dt><dd><p>[{typeset}]</p><code>{read}</code></dd>" in feedback.write_feedback_page(_page(row))


@pytest.mark.parametrize("read", ["a", "1/120 = 0.00833333", "a text of 4 words, for a person to read", "12"])
def test_plain_answers_are_shown_unchanged(read: str) -> None:
    """Options, numbers and words are shown unchanged."""
    row = AnswerRow("bound", "The bound", 1.0, 2, "", answer="as typed", read=read)
    assert f"<dt>Read as</dt><dd><code>{read}</code></dd>" in feedback.write_feedback_page(_page(row))


def test_names_in_questions_are_code() -> None:
    """Backticks and stars of a question are typeset; HTML is shown as text."""
    row = AnswerRow("bound", "The bound", 1.0, 2, "", question="Give `a_k` in **closed** form, with `<b>` and $x$.")
    shown = feedback.write_question(row)
    assert "Give <code>a_k</code> in <b>closed</b> form, with <code>&lt;b&gt;</code> and " in shown
    assert "`" not in shown


def _page(row: AnswerRow) -> Result:
    return Result("ana", "x", (row,), ())


def proofs(results: list[Result]) -> dict[str, float | None]:
    """Return the points of the proof, by student."""
    return {r.student: row.points for r in results for row in r.rows if row.name == "proof"}


def test_texts_are_collected(folder: Path) -> None:
    """Texts are collected from comments, strings and cells, without the words of the handout."""
    output = graded(folder)
    lines = table(output / "to_read.csv")
    assert [(line["student"], line["answer"]) for line in lines] == [
        ("ana", "Expand $\\|a+b\\|^2$\nand rearrange."),
        ("bob", "By the cosine rule."),
        ("eve", ""),
    ]
    assert {(line["question"], line["max"], line["points"]) for line in lines} == {("proof", "4", "")}
    page = (output / "to_read.html").read_text()
    assert "By the cosine rule." in page
    assert "no text was found" in page


def test_points_survive_grading_again(folder: Path) -> None:
    """Points stay whether they are typed, listed, or entered in the table; a missing submission keeps its entry."""
    output = graded(folder)
    give_points(output, [EnteredPoints("ana", "proof", 3.5, "the second form is missing")])
    lines = table(output / "to_read.csv")
    lines[1]["points"] = "2,25"
    with (output / "to_read.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, lines[0], delimiter=";")
        writer.writeheader()
        writer.writerows(lines)
    moved = (folder / "ana.py").rename(folder.parent / "ana.py")
    assert proofs(grade_folder(folder, output, unsafe=True)) == {"bob": 2.25, "eve": None}
    moved.rename(folder / "ana.py")
    assert proofs(grade_folder(folder, output, unsafe=True)) == {"ana": 3.5, "bob": 2.25, "eve": None}
    ana = table(output / "points.csv")[0]
    assert (ana["proof"], ana["proof_max"], ana["points"], ana["pending"], ana["of"]) == ("3.5", "4", "3.5", "0", "14")
    assert "the second form is missing" in (output / "feedback" / "ana.html").read_text()


def test_a_person_can_overrule_the_machine(folder: Path) -> None:
    """The comment shows the computed points and those of the person."""
    output = graded(folder)
    results = give_points(output, [EnteredPoints("ana", "slip", 1, "a slip of the pen")])
    row = next(row for r in results if r.student == "ana" for row in r.rows if row.name == "slip")
    assert row.points == 1
    assert row.comment.endswith("; points given by a person: a slip of the pen")


def test_an_edited_table_of_points_is_kept(folder: Path) -> None:
    """The table is written again, and an edited one is kept next to it."""
    output = graded(folder)
    graded(folder)
    assert not (output / "points-edited.csv").exists()
    with (output / "points.csv").open("a", encoding="utf-8") as file:
        file.write("typed\n")
    graded(folder)
    assert (output / "points-edited.csv").read_text(encoding="utf-8").endswith("typed\n")
    assert "typed" not in (output / "points.csv").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (EnteredPoints("max", "proof", 1), "expected one of ana, bob, eve, got 'max'"),
        (EnteredPoints("ana", "prove", 1), "expected one of proof, by_difference"),
        (EnteredPoints("ana", "proof", 5), "expected at most 4 for proof, got 5"),
    ],
)
def test_points_of_no_answer(folder: Path, given: EnteredPoints, message: str) -> None:
    """Points of an unknown answer are refused, with what was expected, and nothing is written."""
    output = graded(folder)
    before = (output / "to_read.csv").read_bytes()
    with pytest.raises(InputError, match=message):
        give_points(output, [given])
    assert (output / "to_read.csv").read_bytes() == before


def test_a_broken_table(tmp_path: Path) -> None:
    """The message on a broken table names the line."""
    file = tmp_path / "given.csv"
    file.write_text("student,question,points\nana,proof,many\n")
    with pytest.raises(InputError, match=r"given\.csv, line 2"):
        read_given(file)
    file.write_text("student,points\nana,3\n")
    with pytest.raises(InputError, match="question is missing"):
        read_given(file)
    for text in ("-1", "nan", "inf", ""):
        with pytest.raises(InputError, match="expected a number, zero or more"):
            parse_points(text)


def test_the_reason_stands_beside_the_answer(tmp_path: Path) -> None:
    """A reason is given if an answer is left to a person, but not for a proof, which a person reads anyway."""
    odd = AnswerRow("bound", "Bound", None, 6, "a person reads this answer: var is not a symbol of it", answer="var")
    proof = AnswerRow("proof", "Proof", None, 4, "read by a person", answer="Expand.")
    page = _write_reading_page([Result("ana", "x", (odd, proof), ())], tmp_path)
    assert page.count("a person reads this answer: var is not a symbol of it") == 1
    assert "<p>read by a person" not in page
    assert "Expand." in page


def test_each_answer_stands_below_its_own_question(tmp_path: Path) -> None:
    """Copies use different symbols: an answer is parsed with the symbols of its own copy."""
    asked = {"ana": "Use `H`.", "bob": "Use `E`.", "eve": "Use `H`."}
    rows = {
        name: AnswerRow("a", "A", None, 4, "read by a person", question=text, answer=name)
        for name, text in asked.items()
    }
    page = _write_reading_page([Result(name, "x", (row,), ()) for name, row in rows.items()], tmp_path)
    parts = ["Use <code>H</code>.", "<h3>ana", "<h3>eve", "Use <code>E</code>.", "<h3>bob"]
    assert [page.count(part) for part in parts] == [1] * len(parts)
    assert sorted(parts, key=page.index) == parts
