"""Submissions in the encodings that editors write."""

from __future__ import annotations

from pathlib import Path

import pytest

from verify.grade.submission import read_submission

_TEXT = '# fedtheory assignment: drift-recursion (copy of ana)\nlast = "3/7"\n'


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
@pytest.mark.parametrize("end", ["\n", "\r\n"], ids=["Unix", "Windows"])
def test_a_file_is_read_in_every_encoding(encoding: str, end: str, tmp_path: Path) -> None:
    path = tmp_path / "ana.py"
    path.write_bytes(_TEXT.replace("\n", end).encode(encoding))
    found = read_submission(path, "ana")
    assert (found.assignment, found.copy_of, found.trouble) == ("drift-recursion", "ana", None)
    assert any('last = "3/7"' in unit for unit in found.units)
