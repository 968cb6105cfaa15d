"""Submissions that editors, platforms and accidents have damaged: each fault costs its own question only."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from verify.grade import assignments
from verify.grade import notebooks as n
from verify.grade.code_repair import leave_out_if_huge, repair_signs
from verify.grade.literals import read_literals
from verify.grade.notebook_cells import read_cells
from verify.grade.submission import header, read_submission
from verify.grade.units import split_code

DRIFT = assignments()["drift-recursion"]
FILE = f'{header(DRIFT.id, "ana")}\nsolved = "c"\nlast = "3/7"\ndrift = "4*eta"\n'
LITERALS = {"solved": "c", "last": "3/7", "drift": "4*eta"}
Cells = list[dict[str, Any]]


def notebook() -> dict[str, Any]:
    """Return the notebook with all solutions."""
    return n.build_instructor_notebook(DRIFT, DRIFT.copy("ana"))


SOLUTIONS = read_literals(read_cells(n.write_notebook(notebook())).units)


@pytest.mark.parametrize(
    "content",
    [
        FILE.encode("utf-16-le"),
        FILE.encode("utf-16-be"),
        FILE.replace("drift", "\0drift").encode(),
        ("   " + FILE.replace("\n", "\n   ")).encode(),
        FILE.replace("\n", "\r").encode(),
        FILE.replace('"', "“").encode(),
        FILE.replace("last =", "last\u00a0=").encode(),
        (FILE + "\n".join(f"x_{number} = ”1”" for number in range(12))).encode(),
        (FILE + "def iterate(steps, c, k):\n    return " + "-" * 5_000 + "1\n").encode(),
        (FILE + f'iterate = "{"1+" * 150_000}"\n').encode(),
        (FILE + "x = (\n" * 12).encode(),
    ],
    ids=["le", "be", "zeros", "indented", "cr", "quotes", "blanks", "many-quotes", "deep", "huge", "brackets"],
)
def test_a_damaged_file_has_its_other_answers(content: bytes, tmp_path: Path) -> None:
    """Encodings, quotes, and code that cannot be parsed damage only the statement that contains them."""
    path = tmp_path / "ana.py"
    path.write_bytes(content)
    found = read_submission(path, "ana")
    assert (found.trouble, found.assignment, found.copy_of) == (None, DRIFT.id, "ana")
    assert {name: text for name, text in read_literals(found.units).items() if name in LITERALS} == LITERALS


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("ana.py", b"", "it is empty"),
        ("ana.py", b"\xef\xbb\xbf \r\n", "it is empty"),
        ("ana.ipynb", b"", "it is empty"),
        ("ana.py", bytes(range(256)) * 9, "it is not a text file"),
        ("ana.IPYNB", b"<html>", "it is not a notebook"),
        ("ana.ipynb", b"[1]", "it is not a notebook"),
    ],
)
def test_a_file_without_answers_says_what_it_is(name: str, content: bytes, reason: str, tmp_path: Path) -> None:
    """A file without answers is described as such, and no missing line is reported."""
    (tmp_path / name).write_bytes(content)
    assert f"the file cannot be read: {reason}" in str(read_submission(tmp_path / name, "ana").trouble)


def _drop_metadata(of: dict[str, Any]) -> None:
    del of["metadata"]
    for cell in of["cells"]:
        del cell["metadata"]


def _rename(of: dict[str, Any]) -> None:
    for number, cell in enumerate(of["cells"]):
        cell["id"] = f"cell-{number}"
        cell["metadata"]["nbgrader"]["grade_id"] = f"cell-{number}"


def _repeat(of: dict[str, Any]) -> None:
    of["cells"] += json.loads(json.dumps(of["cells"]))


def _add_odd_cells(of: dict[str, Any]) -> None:
    of["cells"][2:2] = [
        7,
        {"cell_type": "code", "source": None},
        {"cell_type": "code", "source": [3], "metadata": None},
    ]


def _add_huge_cell(of: dict[str, Any]) -> None:
    of["cells"].insert(2, {"cell_type": "code", "metadata": {}, "source": f'x = "{"y" * 300_000}"'})


def _add_large_output(of: dict[str, Any]) -> None:
    of["cells"][3]["outputs"] = [{"output_type": "stream", "name": "stdout", "text": "z" * 6_000_000}]


def _change_cell_types(of: dict[str, Any]) -> None:
    for cell in of["cells"]:
        if cell["metadata"]["nbgrader"]["solution"]:
            cell["cell_type"] = "markdown" if "last" in str(cell["source"]) else "raw"


def _ask_for_help(of: dict[str, Any]) -> None:
    for cell in of["cells"]:
        if cell["metadata"]["nbgrader"]["solution"]:
            cell["source"] += "\nlast?\n??print\n%time"


def _use_curly_quotes(of: dict[str, Any]) -> None:
    for cell in of["cells"]:
        if cell["metadata"]["nbgrader"]["solution"]:
            cell["source"] = cell["source"].replace('"', "”")


@pytest.mark.parametrize(
    "damage",
    [
        _drop_metadata,
        _rename,
        _repeat,
        _add_odd_cells,
        _add_huge_cell,
        _add_large_output,
        _change_cell_types,
        _ask_for_help,
        _use_curly_quotes,
    ],
)
def test_a_damaged_notebook_has_its_answers(damage: Callable[[dict[str, Any]], None], tmp_path: Path) -> None:
    """Platforms drop metadata, people rename, repeat and retype cells: the code counts."""
    damaged = notebook()
    damage(damaged)
    path = tmp_path / "ana.ipynb"
    path.write_text(n.write_notebook(damaged))
    found = read_submission(path, "ana")
    assert (found.trouble, found.assignment, found.copy_of) == (None, DRIFT.id, "ana")
    assert {"STUDENT": "ana", **read_literals(found.units)} == {"STUDENT": "ana", **SOLUTIONS}
    assert not [unit for unit in found.units if "verify" in unit or "check_answers" in unit]


def test_signs_are_repaired_only_where_it_helps() -> None:
    """Signs in a text that has quotes of its own are not repaired."""
    assert repair_signs("x = “1”") == 'x = "1"'
    assert repair_signs("x = −3") == "x = -3"
    for code in ("x = 'a “word”'", "x = “1", "x = 1"):
        assert repair_signs(code) == code


def test_a_huge_statement_is_named_by_its_answer() -> None:
    """A huge statement is named by its answer, so that the feedback says why its question has no points."""
    assert leave_out_if_huge("x = 1\n") == "x = 1\n"
    assert leave_out_if_huge(f"last = '{'1' * 50_000}'") == "last = <more than 50,000 characters of code>\n"
    assert leave_out_if_huge(f"# mine\ndef f(x):\n{'    1' * 20_000}") == "f = <more than 50,000 characters of code>\n"
    assert leave_out_if_huge("[1]" * 20_000) == "[1]" * 20_000


def test_the_tenth_error_does_not_end_the_file() -> None:
    """After ten errors the rest of a file is cut at the lines that may begin a statement."""
    units = split_code("x = (\n" * 15 + "last = 1\n")
    assert read_literals(units) == {"last": "1"}
