"""Rosters as spreadsheets and course systems export them."""

from __future__ import annotations

from pathlib import Path

import pytest

from fedtheory.errors import InputError
from verify.grade.roster import read_roster

TABLES = {
    "ids": b"ana\n\nbo\n",
    "mark of byte order, semicolons, Windows": b"\xef\xbb\xbfid;name\r\nana;Ana\r\nbo;Bo\r\n",
    "column with a blank": b'Name,Student ID,Mail\r\n"Meier, Ana",ana,x@y.z\r\n"Bo",bo,\r\n',
    "tabs": b"student\tname\nana\tA\nbo\tB\n",
    "Moodle": b'"First name",Surname,"ID number","Email address"\nAna,M,ana,a@b.c\nBo,N,bo,b@b.c\n',
    "Canvas": b'Student,ID,SIS Login ID\n"Meier, Ana",ana,am\n"Noe, Bo",bo,bn\n',
}


@pytest.mark.parametrize("content", TABLES.values(), ids=TABLES.keys())
def test_the_ids_are_found(content: bytes, tmp_path: Path) -> None:
    file = tmp_path / "roster.csv"
    file.write_bytes(content)
    assert read_roster(file) == ["ana", "bo"]


def test_an_old_encoding_is_read(tmp_path: Path) -> None:
    file = tmp_path / "roster.csv"
    file.write_bytes("id\nbjörn\n".encode("cp1252"))
    assert read_roster(file) == ["björn"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "an empty file"),
        (b"student,name\n", "below the column names, got none"),
        (b"ana\nbo\nana\n", "'ana' is in line 1 already"),
        (b"id\n../evil\n", "expected letters, digits"),
    ],
    ids=["empty", "heads alone", "twice", "a path"],
)
def test_a_mistake_is_named(content: bytes, message: str, tmp_path: Path) -> None:
    file = tmp_path / "roster.csv"
    file.write_bytes(content)
    with pytest.raises(InputError, match=message):
        read_roster(file)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"cannot read .*none\.csv \(No such file"):
        read_roster(tmp_path / "none.csv")
