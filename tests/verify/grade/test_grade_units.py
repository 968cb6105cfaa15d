"""The code of a Python file in units: statements, and around an error the statement in which it stands."""

from __future__ import annotations

from pathlib import Path

import pytest

from verify.grade import read_submission
from verify.grade.units import split_code


@pytest.mark.parametrize(
    ("text", "units"),
    [
        ("", ()),
        ("# only a comment\n", ()),
        ("a = 1; a += 1\nb = 2", ("a = 1; a += 1", "b = 2")),
        ("a = [1,\n2]; b = 3\nc = 4", ("a = [1,\n2]; b = 3", "c = 4")),
        ("@d\n@e\ndef f():\n  return 1\nx=1", ("@d\n@e\ndef f():\n  return 1", "x=1")),
        ("a = 'x\x0cy\u2028'\r\n\x0c\rb = 1", ("a = 'x\x0cy\u2028'", "b = 1")),
        ("a = 1\nb = (\nc = 3\n", ("a = 1", "b = (\n", "c = 3")),
        ("def f(x):\n# c\nsolved = 'x'\n", ("def f(x):\n# c\n", "solved = 'x'")),
        ("a = '''\nx\ny = 2\n", ("a = '''\n", "x", "y = 2")),
        ("try:\n  x = 1\ny = 2", ("try:\n  x = 1\n", "y = 2")),
        ("a = 1\nif a:\n  b = 2\nelse:\n  b = = 3\nc = 4", ("a = 1", "if a:\n  b = 2\nelse:\n  b = = 3\n", "c = 4")),
        ("f(1, 2\nx = 3\ny=4", ("f(1, 2\n", "x = 3", "y=4")),
        ("@d\ndef f(x) return x\n@e\ndef g():\n  pass", ("@d\ndef f(x) return x\n", "@e\ndef g():\n  pass")),
        ("a = 1 +\nb = 'x' 3\nc = [1,\nd = 4\ne = 5", ("a = 1 +\n", "b = 'x' 3\n", "c = [1,\n", "d = 4", "e = 5")),
    ],
)
def test_units(text: str, units: tuple[str, ...]) -> None:
    """Each line is in one unit, and valid Python is in units without errors."""
    assert split_code(text) == units


@pytest.mark.parametrize(
    "text", ["a;" * 50_000, "(\n" * 2_000, "x = 1 1\n" * 2_000, "-" * 100_000 + "1", "a" + ".b" * 60_000]
)
def test_units_are_no_longer_than_the_file(text: str) -> None:
    """Statements that share a line, or many errors, do not multiply the length of the units."""
    assert sum(map(len, split_code(text))) <= len(text) + 20


@pytest.mark.parametrize("name", ["a.py", "a.ipynb"])
def test_more_code_than_anyone_writes(tmp_path: Path, name: str) -> None:
    """Too much code is refused before it is parsed."""
    code = "a;" * 150_000
    cell = f'{{"cells": [{{"cell_type": "code", "source": "{code}"}}]}}'
    (tmp_path / name).write_text(cell if name.endswith("ipynb") else code)
    assert "more than 200,000 characters of code" in str(read_submission(tmp_path / name, "ana").trouble)
