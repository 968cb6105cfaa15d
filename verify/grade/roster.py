"""Read the list of a class: one id per line, or a column of a table exported by a course system."""

from __future__ import annotations

import csv
import re
from pathlib import Path

from fedtheory.errors import InputError
from fedtheory.language.exercises.assignment import is_student
from verify.grade.submission import decode_text

_COLUMNS = (
    "student",
    "student_id",
    "id",
    "id_number",
    "sis_login_id",
    "username",
    "login",
    "matriculation_number",
    "email",
    "email_address",
    "name",
)
"""Names of the column with the ids, in order of preference."""
_SEPARATORS = (",", ";", "\t")

Rows = list[tuple[int, list[str]]]
"""Lines with their numbers."""


def read_roster(file: Path) -> list[str]:
    """Return the ids of students in a file; raises `InputError` with the line for invalid ids and repetitions."""
    lines = _read_text(file).splitlines()
    first = next((line for line in lines if line.strip()), "")
    separator = max(_SEPARATORS, key=first.count)
    table = csv.reader(lines, delimiter=separator)
    try:
        rows = [(number, row) for number, row in enumerate(table, start=1) if any(map(str.strip, row))]
    except csv.Error as error:
        raise InputError("--students", f"cannot read {file} ({error})") from None
    if not rows:
        raise InputError("--students", f"expected a student in each line, got an empty file: {file}")
    column, body = _find_column(rows)
    if not body:
        raise InputError("--students", f"expected a student in each line below the column names, got none: {file}")
    names: dict[str, int] = {}
    for number, row in body:
        name = _get_cell(row, column)
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


def _read_text(file: Path) -> str:
    try:
        return decode_text(file.read_bytes())
    except OSError as error:
        raise InputError("--students", f"cannot read {file} ({error.strerror})") from None


def _find_column(rows: Rows) -> tuple[int, Rows]:
    """Return the column with the ids, and the rows below the header, if there is one.

    If several columns qualify, the first one with valid ids in all cells is used, because some course systems have a
    column "student" with full names.
    """
    heads = [re.sub(r"[\s-]+", "_", cell.strip().casefold()) for cell in rows[0][1]]
    named = [heads.index(name) for name in _COLUMNS if name in heads]
    if not named:
        return 0, rows
    body = rows[1:]
    return next((place for place in named if all(is_student(_get_cell(row, place)) for _, row in body)), named[0]), body


def _get_cell(row: list[str], column: int) -> str:
    return row[column].strip() if column < len(row) else ""
