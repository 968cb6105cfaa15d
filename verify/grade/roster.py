"""The list of a class: a student's id in each line, or a column of a csv file."""

from __future__ import annotations

import csv
from pathlib import Path

from fedtheory.errors import InputError
from fedtheory.language.exercises.assignment import is_student

_COLUMNS = ("student", "student_id", "id", "username", "login", "name")
"""Names of the column with the ids, the first that is there."""


def read_roster(file: Path) -> list[str]:
    """The ids of students in a file; `InputError`, with its line, for what cannot name a copy, and for repetitions."""
    try:
        lines = file.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError("--students", f"cannot read {file} ({error})") from None
    rows = [(number, row) for number, row in enumerate(csv.reader(lines), start=1) if any(map(str.strip, row))]
    if not rows:
        raise InputError("--students", f"expected a student in each line, got an empty file: {file}")
    column, body = _column(rows[0][1], rows)
    names: dict[str, int] = {}
    for number, row in body:
        name = row[column].strip() if column < len(row) else ""
        if not is_student(name):
            raise InputError("--students", f"expected letters, digits, - _ . @ and blanks, got {name!r}").in_file(
                f"{file}, line {number}"
            )
        if name in names:
            raise InputError("--students", f"{name!r} is in line {names[name]} already").in_file(
                f"{file}, line {number}"
            )
        names[name] = number
    return list(names)


def _column(head: list[str], rows: list[tuple[int, list[str]]]) -> tuple[int, list[tuple[int, list[str]]]]:
    """The column with the ids, and the rows below the head, if there is one."""
    heads = [cell.strip().casefold() for cell in head]
    found = next((heads.index(name) for name in _COLUMNS if name in heads), None)
    return (0, rows) if found is None else (found, rows[1:])
