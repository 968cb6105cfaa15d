"""`fedtheory course`, from the list of assignments to points."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from verify.grade import confinement, exercise_checks

ASSIGNMENT = "polarization"


def test_the_list(command) -> None:
    """At least ten assignments, each with claims, questions and points; the table names them all."""
    document = command("course", "list", "--json").document
    assert len(document) >= 10
    assert all(d["claims"] and d["questions"] >= 4 and d["points"] >= 10 for d in document)
    assert {
        "id": "fedfix-weights",
        "title": "Derive the weights of FedFix",
        "source": "fraboni2022",
        "level": "advanced",
        "claims": ["fraboni2022:eq-40", "fraboni2022:eq-36"],
        "questions": 6,
        "points": 15,
    } in document
    table = command("course", "list").out
    assert all(d["id"] in table for d in document)
    assert ASSIGNMENT in table


def test_new_writes_for_both_sides(command, tmp_path: Path) -> None:
    """A notebook and a Python file for the student, a notebook with solutions and a rubric for the instructor."""
    new = ("course", "new", ASSIGNMENT, "-o", tmp_path, "--student", "ana", "--json")
    assert len(command(*new).document["files"]) == 2
    assert not (tmp_path / "instructor").exists()
    document = command(*new, "--solutions").document
    names = {Path(file).relative_to(tmp_path).as_posix() for file in document["files"]}
    of_student, of_instructor = f"{ASSIGNMENT}/ana", f"instructor/{ASSIGNMENT}/ana"
    assert names == {
        f"{of_student}/ana.ipynb",
        f"{of_student}/ana.py",
        f"{of_instructor}/{ASSIGNMENT}.ipynb",
        f"{of_instructor}/rubric.md",
    }
    for file in document["files"]:
        if file.endswith(".ipynb"):
            assert json.loads(Path(file).read_text(encoding="utf-8"))["nbformat"] == 4


def test_from_new_to_points(command, tmp_path: Path) -> None:
    """The instructor's file of `new` earns all points when it is handed in, the students' file none."""
    folder = tmp_path / "in"
    folder.mkdir()
    for student in ("ana", "bob"):
        assert (
            command("course", "new", ASSIGNMENT, "-o", tmp_path / "new", "--student", student, "--solutions").code == 0
        )
    written = tmp_path / "new"
    (written / "instructor" / ASSIGNMENT / "ana" / f"{ASSIGNMENT}.ipynb").rename(folder / "ana.ipynb")
    (written / ASSIGNMENT / "bob" / "bob.ipynb").rename(folder / "bob.ipynb")
    document = command("course", "grade", folder, "-o", tmp_path / "out", "--jobs", "1", "--unsafe", "--json").document
    assert [(r["student"], r["points"], r["pending"], r["of"]) for r in document["results"]] == [
        ("ana", 10, 4, 14),
        ("bob", 0, 4, 14),
    ]
    assert Path(document["points"]).is_file()
    entered = command("course", "points", tmp_path / "out", "ana", "proof", "3", "--note", "short", "--json").document
    assert [r["points"] for r in entered["results"]] == [13, 0]
    assert "expected either" in command("course", "points", tmp_path / "out").err
    assert "graded" not in command("course", "points", tmp_path, "ana", "proof", "3").out
    printed = command("course", "grade", folder, "-o", tmp_path / "out", "--jobs", "1", "--unsafe").out
    assert "points.csv" in "".join(printed.split())


def test_the_documented_draw(command, tmp_path: Path) -> None:
    """Different students have different numbers, and the same student always the same."""
    page = (Path(__file__).parents[2] / "docs/how-to/courses.md").read_text(encoding="utf-8")
    block = next(b for b in re.findall(r"```python\n(.*?)```", page, re.DOTALL) if "def draw" in b)
    exercise = tmp_path / "powers.py"
    exercise.write_text(f"import sympy as sp\nfrom fedtheory import exercises as ex\n\n{block}", encoding="utf-8")
    texts = []
    for student in ("ana", "bob", "ana"):
        assert command("course", "new", exercise, "-o", tmp_path, "--student", student).code == 0
        texts.append((tmp_path / "powers" / student / f"{student}.py").read_text(encoding="utf-8").partition("\n")[2])
    assert texts[0] == texts[2] != texts[1]


@pytest.mark.long
def test_an_exercise_of_ones_own(command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The documented exercise is graded like the others; a file without answers is named, and so are left-over
    files.
    """
    # The bound of the exercise is true, so that no search finds a violation.
    monkeypatch.setattr(exercise_checks, "_LOOKS", 50)
    page = (Path(__file__).parents[2] / "docs/how-to/courses.md").read_text(encoding="utf-8")
    exercise = tmp_path / "my_exercise.py"
    exercise.write_text(next(b for b in re.findall(r"```python\n(.*?)```", page, re.DOTALL) if "# my_exercise" in b))
    new = ("course", "new", exercise, "-o", tmp_path / "o", "--student", "Fritz Müller", "--solutions", "--json")
    written = command(*new).document
    assert written["assignment"] == "my-drift"
    handed_in = tmp_path / "o" / "my-drift" / "Fritz Müller"
    assert {path.name for path in handed_in.iterdir()} == {"Fritz Müller.ipynb", "Fritz Müller.py"}
    (handed_in / "Fritz Müller.ipynb").unlink()
    (handed_in / "essay.txt").write_text("")
    solution = tmp_path / "o" / "instructor" / "my-drift" / "Fritz Müller" / "my-drift.ipynb"
    (handed_in / "drift (2).ipynb").write_text(solution.read_text(encoding="utf-8").replace("Fritz Müller", "ana"))
    grade = ("course", "grade", handed_in, "-o", tmp_path / "g", "--jobs", "1", "--unsafe", "--assignment")
    found = command(*grade, exercise, "--json").document
    assert found["left_out"] == ["essay.txt"]
    points = {r["student"]: r["points"] for r in found["results"]}
    assert points["Fritz Müller"] == 0
    assert points["ana"] == next(r["of"] - r["pending"] for r in found["results"])
    (handed_in / "Fritz Müller.py").write_text("x = 1")
    printed = command("course", "grade", handed_in, "-o", tmp_path / "g", "--jobs", "1").out
    assert "not graded: Fritz Müller.py, drift (2).ipynb" in " ".join(printed.split())


def test_without_a_sandbox(command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Without a sandbox, code is executed only with the option; answers left to a person have the reason in the
    table.
    """
    monkeypatch.setattr(confinement, "which", lambda _name: None)
    folder = tmp_path / "in"
    folder.mkdir()
    answers = "last = str(1)\nopen('was-here', 'w')"
    (folder / "ana.py").write_text(f"# fedtheory assignment: drift-recursion (copy of ana)\n{answers}\n")
    monkeypatch.chdir(tmp_path)
    grade = ("course", "grade", folder, "-o", tmp_path / "out", "--jobs", "1", "--json")
    refused, allowed = (command(*grade, *more).document["results"][0] for more in ((), ("--unsafe",)))
    assert "last: the code was not executed, because there is no sandbox" in refused["troubles"][0]
    assert (refused["pending"] > allowed["pending"], allowed["troubles"]) == (True, [])
    assert "bubblewrap" in command("course", "grade", "--help").out


@pytest.mark.parametrize(
    ("roster", "names"),
    [
        ("ana\nFritz Müller\n", ["ana", "Fritz Müller"]),
        ("surname,id,mail\nBerg,s1,a@b.org\n\nTal,s2,c@d.org\n", ["s1", "s2"]),
        ("\ufeffStudent\nana\n", ["ana"]),
    ],
    ids=["lines", "csv", "a head alone"],
)
def test_a_copy_for_each_of_a_list(command, tmp_path: Path, roster: str, names: list[str]) -> None:
    """From lines of ids, or a column of a csv file, each student gets the same copy as alone."""
    file = tmp_path / "roster.csv"
    file.write_text(roster, encoding="utf-8")
    found = command("course", "new", ASSIGNMENT, "--students", file, "-o", tmp_path / "all", "--json").document
    assert found["students"] == names
    assert command("course", "new", ASSIGNMENT, "--student", names[-1], "-o", tmp_path / "one").code == 0
    handout = Path(ASSIGNMENT) / names[-1] / f"{names[-1]}.py"
    assert (tmp_path / "all" / handout).read_text("utf-8") == (tmp_path / "one" / handout).read_text("utf-8")


@pytest.mark.parametrize(
    ("roster", "complaint"),
    [
        ("", "empty file"),
        ("ana\na/b\n", "line 2: --students: expected letters"),
        ("id\nana\nbob\nana\n", "line 4: --students: 'ana' is in line 2 already"),
    ],
)
def test_lists_with_mistakes(command, tmp_path: Path, roster: str, complaint: str) -> None:
    """A mistake in a list gives its line, and nothing is written."""
    file = tmp_path / "roster.csv"
    file.write_text(roster)
    assert complaint in command("course", "new", ASSIGNMENT, "--students", file, "-o", tmp_path / "all").complaint()
    assert not (tmp_path / "all").exists()


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["new", "nothing"], "expected one of"),
        (["new", ASSIGNMENT, "--student", "a/b"], "student"),
        (["grade", "missing"], "expected a folder"),
        (["grade", "missing", "--jobs", "0"], "processes"),
        (["unknown"], "unknown"),
    ],
)
def test_mistakes_are_one_line(
    command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, arguments: list[str], complaint: str
) -> None:
    """Invalid options give exit code 2 and one line."""
    monkeypatch.chdir(tmp_path)
    assert complaint in command("course", *arguments).complaint()


def test_no_folder_to_write_to(command, tmp_path: Path) -> None:
    """An output path that cannot be a folder gives one line."""
    (tmp_path / "file").write_text("")
    assert "--output" in command("course", "new", ASSIGNMENT, "-o", tmp_path / "file").complaint()
