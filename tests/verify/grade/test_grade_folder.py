"""A folder of submissions: points, feedback, and no computation twice."""

from __future__ import annotations

import csv
import json
import os
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from fedtheory.arithmetic import RATIONAL
from fedtheory.errors import InputError
from fedtheory.language.registry import find
from fedtheory.runfile import read_run
from verify.check import check
from verify.grade import Result, assignments, confinement, left_out
from verify.grade import grade_folder as grade
from verify.grade import notebooks as n
from verify.grade.submission import header
from verify.grade.submitted_files import find_submissions

grade_folder = partial(grade, unsafe=True)
"""These submissions are the project's own: where there is no sandbox, they need none."""
DRIFT = assignments()["drift-recursion"]


def solution(student: str, **other: str) -> str:
    """Return a Python file with the solutions of a student's copy, some of them replaced."""
    cells = {q.name: q.solution_cell for q in DRIFT.copy(student).questions} | other
    return "\n".join([header(DRIFT.id, student), *cells.values()]) + "\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Write submissions of every kind."""
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "ana.py").write_text(solution("ana"))
    (folder / "bob.py").write_text(solution("bob", drift='drift = "0"', last='last = "=1+1"'))
    (folder / "eve.py").write_text(solution("eve", solved="import no_such_module\nopen('missing')"))
    (folder / "max.ipynb").write_text(n.write_notebook(n.build_instructor_notebook(DRIFT, DRIFT.copy("max"))))
    (folder / "kim" / DRIFT.id).mkdir(parents=True)
    (folder / "kim" / DRIFT.id / "answers.py").write_text(solution("kim"))
    (folder / "notes.txt").write_text("not a submission")
    return folder


def table(output: Path) -> dict[str, dict[str, str]]:
    """Read the points by student."""
    with (output / "points.csv").open(newline="", encoding="utf-8") as file:
        return {row["student"]: row for row in csv.DictReader(file)}


@pytest.mark.long
def test_points_and_feedback(folder: Path, tmp_path: Path) -> None:
    """Right answers get their points next to hostile and wrong ones, and every student gets a page."""
    output = tmp_path / "out"
    seen: list[tuple[int, int]] = []
    grade_folder(folder, output, on_progress=lambda done, whole: seen.append((done, whole)))
    rows = table(output)
    assert seen == [(done, 5) for done in range(1, 6)]
    assert {student: row["points"] for student, row in rows.items()} == {
        "ana": "15",
        "bob": "7",
        "eve": "11",
        "kim": "15",
        "max": "15",
    }
    assert "No module named 'no_such_module" in rows["eve"]["troubles"]
    assert {path.name for path in (output / "feedback").iterdir()} == {
        *(f"{student}.html" for student in rows),
        "bob-drift.toml",
    }
    page = (output / "feedback" / "bob.html").read_text()
    assert "violated on the run below" in page
    assert "fedtheory check &quot;max_drift &lt;= 0&quot; run.toml" in page
    assert "Your answer" in page
    assert "&#x27;" not in (output / "feedback" / "ana.html").read_text()


@pytest.mark.long
def test_the_counterexample_is_a_run_file(folder: Path, tmp_path: Path) -> None:
    """The run that refutes an answer can be read and executed."""
    output = tmp_path / "out"
    grade_folder(folder, output)
    run = read_run(str(output / "feedback" / "bob-drift.toml"), RATIONAL)
    bound = replace(find("renard2022:lemma-2.3"), id="answer", rhs=0)
    assert check(bound, run).holds is False
    command = (output / "feedback" / "bob-drift.toml").read_text().partition("\n")[0]
    assert command == '# fedtheory check "max_drift <= 0" bob-drift.toml'
    (folder / "bob.py").write_text(solution("bob"))
    grade_folder(folder, output)
    assert not (output / "feedback" / "bob-drift.toml").exists()


def test_feedback_names_no_other_student(folder: Path, tmp_path: Path) -> None:
    """Only the instructor learns that two files claim one copy, also if results are stored."""
    (folder / "zoe.py").write_text(solution("bob"))
    for _ in range(2):
        grade_folder(folder, tmp_path / "out")
        rows = table(tmp_path / "out")
        assert "zoe.py" in rows["bob"]["troubles"]
        assert "bob.py" in rows["zoe"]["troubles"]
        assert "zoe" not in (tmp_path / "out" / "feedback" / "bob.html").read_text()
        assert "bob.py" not in (tmp_path / "out" / "feedback" / "zoe.html").read_text()


def test_resuming_reads_what_is_stored(folder: Path, tmp_path: Path) -> None:
    """A stored result is used while the file is the same, and is computed again when the file changes."""
    output = tmp_path / "out"
    grade_folder(folder, output)
    stored = output / "results" / "ana.json"
    document = json.loads(stored.read_text())
    document["rows"][0]["points"] = 1.5
    stored.write_text(json.dumps(document))
    assert {r.student: r.points for r in grade_folder(folder, output)}["ana"] == 12.5
    (folder / "ana.py").write_text(solution("ana") + "\n# late\n")
    assert {r.student: r.points for r in grade_folder(folder, output)}["ana"] == 15


@pytest.mark.parametrize("text", ["", "{]", "[]", '{"digest": 1}'])
def test_a_broken_result_is_computed_again(folder: Path, tmp_path: Path, text: str) -> None:
    """A truncated result file is computed again."""
    output = tmp_path / "out"
    (output / "results").mkdir(parents=True)
    (output / "results" / "ana.json").write_text(text)
    assert {r.student: r.points for r in grade_folder(folder, output)}["ana"] == 15


@pytest.mark.long
def test_processes_agree(folder: Path, tmp_path: Path) -> None:
    """Two processes give the same table as one."""
    grade_folder(folder, tmp_path / "one", jobs=1)
    grade_folder(folder, tmp_path / "two", jobs=2)
    assert table(tmp_path / "one") == table(tmp_path / "two")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("zoe.ipynb", b"this is no notebook"),
        ("zoe.ipynb", b'{"cells": 3}'),
        ("zoe.ipynb", b'{"cells": [{"cell_type": "code"}]}'),
        ("zoe.ipynb", b"[" * 100_000),
        ("zoe.py", b"\xff\xfe\x00"),
        ("zoe.py", b"def broken(:\n"),
        ("zoe.py", b"drift = '\\ud800'\nraise ValueError('\\ud800')"),
        ("zoe.ipynb", b'{"cells": [{"cell_type": "code", "source": "\\ud800"}]}'),
        ("zoe.py", b""),
    ],
)
def test_a_broken_file_is_reported(folder: Path, tmp_path: Path, name: str, content: bytes) -> None:
    """A file that is not a submission gets no points, and does not affect the others."""
    (folder / name).write_bytes(content)
    points = {r.student: r.points for r in grade_folder(folder, tmp_path / "out", assignment=DRIFT.id)}
    assert (points["zoe"], points["ana"]) == (0, 15)


def test_a_shared_copy(folder: Path, tmp_path: Path) -> None:
    """With one copy for the class, its solution is right for all students; another copy's is marked as such."""
    (folder / "ana.py").write_text(solution("class"))
    found = {r.student: r for r in grade_folder(folder, tmp_path / "out", copy="class")}
    assert (found["ana"].points, found["ana"].troubles) == (15, ())
    assert "copy of kim" in found["kim"].troubles[0]


def test_a_copy_of_one_student_that_all_have(folder: Path, tmp_path: Path) -> None:
    """If all students have the copy that `--copy` names, file names identify them, and none is a duplicate."""
    for path in [*folder.glob("*.py"), *folder.glob("*.ipynb"), folder / "kim" / DRIFT.id / "answers.py"]:
        path.unlink()
    for name in ("ana", "zoe", "kim"):
        (folder / f"{name}.py").write_text(solution("ana", drift='drift = ""', iterate="", solved="", last=""))
    found = {r.student: r for r in grade_folder(folder, tmp_path / "out", copy="ana")}
    assert {name: result.troubles for name, result in found.items()} == {"ana": (), "zoe": (), "kim": ()}


def test_many_files_of_one_copy_are_counted(folder: Path) -> None:
    """The message lists three of many files of one copy, and counts the others."""
    for number in range(9):
        (folder / f"zoe{number}.py").write_text(solution("ana"))
    troubles = next(file.troubles for file in find_submissions(folder) if file.file == "ana.py")
    assert troubles == ("also handed in as the copy of ana: zoe0.py, zoe1.py, zoe2.py and 6 more files",)


def test_mistakes_of_the_instructor(folder: Path, tmp_path: Path) -> None:
    """Messages name folders and files that are wrong."""
    output = tmp_path / "out"
    with pytest.raises(InputError, match="expected a folder"):
        grade_folder(folder / "missing", output)
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="found none"):
        grade_folder(tmp_path / "empty", output)
    with pytest.raises(InputError, match="number of processes"):
        grade_folder(folder, output, jobs=0)
    with pytest.raises(InputError, match="expected one of"):
        grade_folder(folder, output, assignment="nothing")
    with pytest.raises(InputError, match="copy"):
        grade_folder(folder, output, copy="../x")


def graded(folder: Path, output: Path, **how: str) -> dict[str, Result]:
    """Return the results by student."""
    return {result.student: result for result in grade_folder(folder, output, **how)}


def test_names_of_every_kind(tmp_path: Path) -> None:
    """Files are graded with blanks, umlauts, invalid bytes and additions of platforms in their names."""
    folder = tmp_path / "in"
    folder.mkdir()
    decomposed = "Fritz Mu\u0308ller"
    (folder / f"{decomposed}.py").write_text(solution("Fritz M\u00fcller"))
    (folder / "drift-recursion_hugo_12345.py").write_text(solution("hugo"))
    (folder / "kim (1).PY").write_text(solution("kim").replace("\n", "\r\n"), encoding="utf-8-sig")
    (folder / os.fsdecode(b"J\xf6rg.py")).write_bytes(solution("joerg").encode() + b"# Gr\xfc\xdfe\n")
    found = graded(folder, tmp_path / "out")
    assert {student: result.points for student, result in found.items()} == dict.fromkeys(
        ("Fritz M\u00fcller", "hugo", "kim", "joerg"), 15
    )
    assert all(result.troubles == () for result in found.values())
    assert found["hugo"].file == "drift-recursion_hugo_12345.py"
    assert (tmp_path / "out" / "feedback" / "hugo.html").is_file()
    assert {row["student"] for row in table(tmp_path / "out").values()} == set(found)


@pytest.mark.parametrize(
    "text",
    [
        "x = 1\n",
        "# fedtheory assignment: nothing (copy of zoe)\n",
        "# fedtheory assignment: ../../x (copy of ../../x)\n",
        "# fedtheory assignment: my_exercise.py (copy of zoe)\n",
    ],
)
def test_a_file_that_does_not_say_what_it_answers(folder: Path, tmp_path: Path, text: str) -> None:
    """A file without an assignment is named with the reason, and the others are graded."""
    (folder / "zoe.py").write_text(text)
    before = set(tmp_path.iterdir())
    found = graded(folder, tmp_path / "out")
    assert set(tmp_path.iterdir()) - before == {tmp_path / "out"}
    assert (found["zoe"].points, found["zoe"].of, found["ana"].points) == (0, 0, 15)
    assert "not graded" in found["zoe"].troubles[0]
    assert "not graded" in (tmp_path / "out" / "feedback" / "zoe.html").read_text()


def test_a_header_cannot_name_a_file_to_execute(folder: Path, tmp_path: Path) -> None:
    """A student's header names an assignment by its id only: a file would run with the grader's permissions."""
    (tmp_path / "evil.py").write_text(f"open({str(tmp_path / 'was-here')!r}, 'w')")
    (folder / "zoe.py").write_text(f"# fedtheory assignment: {tmp_path / 'evil.py'} (copy of zoe)\n")
    notebook = n.build_student_notebook(DRIFT, DRIFT.copy("ida"))
    notebook["metadata"]["fedtheory"]["assignment"] = str(tmp_path / "evil.py")
    (folder / "ida.ipynb").write_text(n.write_notebook(notebook))
    found = graded(folder, tmp_path / "out")
    assert not (tmp_path / "was-here").exists()
    assert "not graded" in found["zoe"].troubles[0]
    assert "not graded" in found["ida"].troubles[0]


def test_a_file_without_whose_copy_it_is(folder: Path, tmp_path: Path) -> None:
    """A file without a header is graded as the copy with its name, if the assignment is given; a remark says so."""
    (folder / "zoe.py").write_text(solution("zoe").partition("\n")[2])
    found = graded(folder, tmp_path / "out", assignment=DRIFT.id)
    assert found["zoe"].points == 15
    assert "does not name its copy" in found["zoe"].troubles[0]


def test_two_files_of_one_copy(folder: Path, tmp_path: Path) -> None:
    """Two files of one copy are both graded; the one with the student's name keeps it, and both have a note."""
    (folder / "zoe.py").write_text(solution("ana"))
    (folder / "bob.ipynb").write_text(n.write_notebook(n.build_instructor_notebook(DRIFT, DRIFT.copy("bob"))))
    found = graded(folder, tmp_path / "out")
    assert {"ana", "zoe", "bob", "bob.py"} <= found.keys()
    assert "also handed in as the copy of ana: zoe.py" in found["ana"].troubles
    assert "also handed in as the copy of ana: ana.py" in found["zoe"].troubles
    assert (found["bob"].points, found["bob.py"].points) == (15, 7)
    pages = {path.stem: path.read_text() for path in (tmp_path / "out" / "feedback").glob("*.html")}
    assert not [name for name, page in pages.items() if "zoe.py" in page and name != "zoe"]
    assert "ana.py" not in pages["zoe"]


def test_links_are_not_followed(folder: Path, tmp_path: Path) -> None:
    """A link to another submission or to the solutions is skipped and named."""
    (tmp_path / "solutions").mkdir()
    (tmp_path / "solutions" / "x.py").write_text(solution("eva"))
    (folder / "eva.py").symlink_to(tmp_path / "solutions" / "x.py")
    (folder / "ida").symlink_to(tmp_path / "solutions")
    (folder / "kim" / "more.py").symlink_to(tmp_path / "solutions" / "x.py")
    (folder / "zoe.py").hardlink_to(folder / "ana.py")
    found = graded(folder, tmp_path / "out")
    assert found.keys() == {"ana", "bob", "eve", "kim", "max", "zoe"}
    assert found["ana"].points == 15
    assert "also handed in as the copy of ana: ana.py" in found["zoe"].troubles
    assert left_out(folder) == ["eva.py (a link)", "ida (a link)", "notes.txt"]


def test_a_syntax_error_costs_its_own_question(folder: Path, tmp_path: Path) -> None:
    """In a Python file and in a notebook, the feedback names a syntax error, and only its question loses points."""
    (folder / "zoe.py").write_text(solution("zoe", solved="solved = (1 +"))
    notebook = n.build_instructor_notebook(DRIFT, DRIFT.copy("ida"))
    next(c for c in notebook["cells"] if c["metadata"]["nbgrader"]["grade_id"] == "solved")["source"] = "solved = (1 +"
    (folder / "ida.ipynb").write_text(n.write_notebook(notebook))
    found = graded(folder, tmp_path / "out")
    assert (found["zoe"].points, found["ida"].points) == (11, 11)
    for student in ("zoe", "ida"):
        comment = next(row.comment for row in found[student].rows if row.name == "solved")
        assert comment.startswith("at `solved = (1 +`: SyntaxError: '(' was never closed")


def test_one_student_with_two_assignments(folder: Path, tmp_path: Path) -> None:
    """A folder may contain several assignments, each with its own result and page."""
    other = assignments()["polarization"]
    (folder / "ana-2.ipynb").write_text(n.write_notebook(n.build_instructor_notebook(other, other.copy("ana"))))
    grade_folder(folder, tmp_path / "out")
    rows = list(csv.DictReader((tmp_path / "out" / "points.csv").read_text(encoding="utf-8").splitlines()))
    assert sorted(row["assignment"] for row in rows if row["student"] == "ana") == [DRIFT.id, other.id]
    assert len(list((tmp_path / "out" / "feedback").glob("ana*.html"))) == 2


def test_files_of_tools_are_no_submissions(folder: Path, tmp_path: Path) -> None:
    """Checkpoints of notebooks and folders of archives are skipped; other files of people are named."""
    for place in (".ipynb_checkpoints", "__MACOSX", "kim/.ipynb_checkpoints"):
        (folder / place).mkdir(parents=True)
        (folder / place / "ana.ipynb").write_text("{}")
    assert len(grade_folder(folder, tmp_path / "out")) == 5
    assert left_out(folder) == ["notes.txt"]


def test_the_folders_of_nbgrader(tmp_path: Path) -> None:
    """Folders `submitted/STUDENT/ASSIGNMENT`, collected by nbgrader, are graded in the same sandbox."""
    copy = DRIFT.copy("class")
    for student, last in (("ana", None), ("bob", "open('missing')")):
        place = tmp_path / "submitted" / student / DRIFT.id
        place.mkdir(parents=True)
        (place / "timestamp.txt").write_text("2026-01-01 00:00:00 UTC")
        notebook = n.build_instructor_notebook(DRIFT, copy)
        for cell in notebook["cells"]:
            if last is not None and cell["metadata"]["nbgrader"]["grade_id"] == "last":
                cell["source"] = last
        (place / f"{DRIFT.id}.ipynb").write_text(n.write_notebook(notebook))
    found = graded(tmp_path / "submitted", tmp_path / "out", copy="class")
    assert {student: result.points for student, result in found.items()} == {"ana": 15, "bob": 13}
    assert found["ana"].troubles == ()
    assert "uses files" in found["bob"].troubles[0]


def test_a_folder_without_a_sandbox(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a sandbox, functions are left to a person; with one they are graded again."""
    monkeypatch.setattr(confinement, "which", lambda _name: None)
    (folder / "zoe.py").write_text(solution("zoe", last=f"open({str(tmp_path / 'x')!r}, 'w')\nlast = str(1)"))
    grade(folder, tmp_path / "out")
    rows = table(tmp_path / "out")
    assert (rows["ana"]["points"], rows["ana"]["pending"]) == ("12", "3")
    assert (rows["zoe"]["points"], rows["zoe"]["pending"]) == ("10", "5")
    assert "iterate, last: the code was not executed, because there is no sandbox (bwrap" in rows["zoe"]["troubles"]
    page = (tmp_path / "out" / "feedback" / "zoe.html").read_text()
    assert page.count("a person reads this answer") == 2
    assert not (tmp_path / "x").exists()
    monkeypatch.undo()
    grade_folder(folder, tmp_path / "out")
    assert table(tmp_path / "out")["ana"]["points"] == "15"
