"""Points entered by a person: kept in a csv file next to the grades, which later gradings read and extend."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from fedtheory.errors import InputError
from verify.grade.marking import AnswerRow, Result
from verify.grade.submission import decode_text

FILE = "to_read.csv"
"""File with one line for each answer that a person reads; points can be entered there."""
_COLUMNS = ("student", "assignment", "question", "max", "points", "note", "answer")
_NEEDED = ("student", "question", "points")
_LONGEST_CELL = 32_000
_FORMULA = ("=", "+", "@", "\t")

Key = tuple[str, str, str]
"""Student, assignment and question."""


@dataclass(frozen=True)
class EnteredPoints:
    """The points of one answer, as entered by a person."""

    student: str
    question: str
    points: float
    note: str = ""
    assignment: str = ""
    """The assignment; empty if the student has only one answer to a question of that name."""
    place: str = ""
    """Position of the entry, for error messages."""


def read_given(file: Path) -> list[EnteredPoints]:
    """Read the entered points of a csv file; raises `InputError` with the line for anything but numbers."""
    try:
        lines = decode_text(file.read_bytes()).splitlines(keepends=True)
    except OSError as error:
        raise InputError("--from", f"cannot read {file} ({error.strerror})") from None
    delimiter = ";" if lines and lines[0].count(";") > lines[0].count(",") else ","
    table = csv.DictReader(lines, delimiter=delimiter)
    try:
        missing = [name for name in _NEEDED if name not in (table.fieldnames or ())]
        rows = [] if missing else [(row, table.line_num) for row in table]
    except csv.Error as error:
        reason = f"cannot read line {table.line_num + 1} ({error})"
        raise InputError("--from", reason).in_file(str(file)) from None
    if missing:
        raise InputError(
            "--from", f"expected the columns {', '.join(_NEEDED)}; {', '.join(missing)} is missing"
        ).in_file(str(file))
    return [_read_entry(row, f"{file}, line {number}") for row, number in rows if (row["points"] or "").strip()]


def match_entries(given: Iterable[EnteredPoints], results: Sequence[Result]) -> dict[Key, EnteredPoints]:
    """Match each entry with its answer; raises `InputError` if there is none, several, or too many points."""
    rows = {(r.student, r.assignment, row.name): row for r in results for row in r.rows}
    return {_match_entry(entry, rows): entry for entry in given}


def split_entries(
    given: Iterable[EnteredPoints], results: Sequence[Result]
) -> tuple[dict[Key, EnteredPoints], list[EnteredPoints]]:
    """Split entries into those for existing answers, by key, and those for missing answers."""
    there = {(r.student, row.name) for r in results for row in r.rows}
    entries = list(given)
    known = match_entries((entry for entry in entries if (entry.student, entry.question) in there), results)
    return known, [entry for entry in entries if (entry.student, entry.question) not in there]


def add_given_points(result: Result, given: Mapping[Key, EnteredPoints]) -> Result:
    """Return a result with the entered points."""
    rows = [_set_points(row, given.get((result.student, result.assignment, row.name))) for row in result.rows]
    return replace(result, rows=tuple(rows))


def write_manual_table(
    results: Sequence[Result], given: Mapping[Key, EnteredPoints], others: Iterable[EnteredPoints], path: Path
) -> None:
    """Write all answers that are left to a person or have entered points, with these points.

    `others` are entries for answers that are missing at present; they are kept, so that no entered points are lost.
    """
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(_COLUMNS)
        for result in results:
            for row in result.rows:
                entry = given.get((result.student, result.assignment, row.name))
                if row.points is None or entry is not None:
                    points, note = ("", "") if entry is None else (f"{entry.points:g}", entry.note)
                    cells = (
                        result.student,
                        result.assignment,
                        row.name,
                        row.of,
                        points,
                        note,
                        _shorten_answer(row.answer),
                    )
                    table.writerow([escape_formula(cell) for cell in cells])
        for entry in others:
            kept = (entry.student, entry.assignment, entry.question, "", f"{entry.points:g}", entry.note, "")
            table.writerow([escape_formula(cell) for cell in kept])


def _shorten_answer(answer: str) -> str:
    """Shorten an answer to the size of a spreadsheet cell; the complete answer is in the result files."""
    return answer if len(answer) <= _LONGEST_CELL else f"{answer[:_LONGEST_CELL]} [...]"


def escape_formula(cell: object) -> object:
    """Return a text that a spreadsheet does not interpret as a formula."""
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(_FORMULA) else cell


def parse_points(text: str, place: str = "") -> float:
    """Parse a number of points; raises `InputError` for anything else."""
    try:
        points = float(text.strip().replace(",", "."))
    except ValueError:
        points = -1
    if not 0 <= points < float("inf"):
        raise InputError("points", f"expected a number, zero or more, got {text.strip()[:40]!r}").in_file(place)
    return points


def _read_entry(row: Mapping[str, str | None], place: str) -> EnteredPoints:
    texts = {name: _read_cell(row.get(name)) for name in ("student", "question", "note", "assignment")}
    return EnteredPoints(points=parse_points(row["points"] or "", place), place=place, **texts)


def _read_cell(cell: str | None) -> str:
    text = (cell or "").strip()
    return text[1:] if text.startswith("'") and text[1:].startswith(_FORMULA) else text


def _match_entry(entry: EnteredPoints, rows: Mapping[Key, AnswerRow]) -> Key:
    fitting = [
        key for key in rows if (key[0], key[2]) == (entry.student, entry.question) and entry.assignment in ("", key[1])
    ]
    if not fitting:
        raise InputError(*_describe_unknown(entry, rows)).in_file(entry.place)
    if len(fitting) > 1:
        names = ", ".join(assignment for _, assignment, _ in fitting)
        reason = f"{entry.student} has an answer {entry.question!r} in {names}: say which with --assignment"
        raise InputError("question", reason).in_file(entry.place)
    row = rows[fitting[0]]
    if entry.points > row.of:
        reason = f"expected at most {row.of} for {entry.question}, got {entry.points:g}"
        raise InputError("points", reason).in_file(entry.place)
    return fitting[0]


def _describe_unknown(entry: EnteredPoints, rows: Mapping[Key, AnswerRow]) -> tuple[str, str]:
    students = dict.fromkeys(student for student, _, _ in rows)
    if entry.student not in students:
        return "student", f"expected one of {', '.join(students) or 'no student'}, got {entry.student!r}"
    questions = dict.fromkeys(question for student, _, question in rows if student == entry.student)
    return "question", f"expected one of {', '.join(questions)}, got {entry.question!r}"


def _set_points(row: AnswerRow, entry: EnteredPoints | None) -> AnswerRow:
    if entry is None:
        return row
    by = f"points given by a person{f': {entry.note}' if entry.note else ''}"
    return replace(row, points=entry.points, comment=by if row.points is None else f"{row.comment}; {by}")
