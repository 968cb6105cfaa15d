"""Write the results of grading: points, pages for students, and answers for a person to read."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from html import escape
from pathlib import Path
from shlex import quote

from fedtheory.errors import InputError
from verify.grade.feedback import STYLE, annotate_run, write_feedback_page, write_question
from verify.grade.marking import AnswerRow, Result, decode_result
from verify.grade.notebooks import format_points
from verify.grade.point_entries import (
    FILE,
    EnteredPoints,
    add_given_points,
    escape_formula,
    match_entries,
    read_given,
    split_entries,
    write_manual_table,
)
from verify.grade.questions.manual import READ_BY_A_PERSON
from verify.grade.submission import digest

_GRADED = "graded.json"
"""File with the names of the result files of the last grading, in the order of its submissions."""
_READING = "to_read.html"
POINTS, EDITED = "points.csv", "points-edited.csv"
"""The table of points, and the name under which a version with manual edits is kept."""


def read_graded(folder: Path) -> dict[str, Result]:
    """Return the results of a folder of grades by file name; raises `InputError` for a folder without results."""
    try:
        labels = json.loads((folder / _GRADED).read_text(encoding="utf-8"))["labels"]
        documents = {label: (folder / "results" / f"{label}.json").read_text(encoding="utf-8") for label in labels}
        return {label: decode_result(json.loads(text)) for label, text in documents.items()}
    except (OSError, ValueError, KeyError, TypeError):
        raise InputError("DIR", f"expected a folder that `fedtheory course grade` has written, got {folder}") from None


def read_entered(folder: Path) -> list[EnteredPoints]:
    """Read the points that a person has entered in a folder of grades."""
    return read_given(folder / FILE) if (folder / FILE).exists() else []


def give_points(folder: Path, given: Iterable[EnteredPoints]) -> list[Result]:
    """Enter points into a folder of grades, and update all dependent files; later entries take precedence."""
    graded = read_graded(folder)
    results = list(graded.values())
    new = [replace(entry, assignment=key[1]) for key, entry in match_entries(given, results).items()]
    return write_all(graded, [*read_entered(folder), *new], folder)


def write_all(graded: dict[str, Result], given: Sequence[EnteredPoints], folder: Path) -> list[Result]:
    """Write points, pages and answers to read; return the results with entered points."""
    known, others = split_entries(given, list(graded.values()))
    write_manual_table(list(graded.values()), known, others, folder / FILE)
    (folder / _READING).write_text(_write_reading_page(list(graded.values()), folder), encoding="utf-8")
    results = {label: add_given_points(result, known) for label, result in graded.items()}
    for label, result in results.items():
        write_feedback(label, result, folder / "feedback")
    _keep_edited(folder)
    write_points(list(results.values()), folder / POINTS)
    document = {"labels": list(graded), "points": digest(folder / POINTS)}
    (folder / _GRADED).write_text(json.dumps(document), encoding="utf-8")
    return list(results.values())


def _keep_edited(folder: Path) -> None:
    """Keep a manually edited table of points under another name before it is overwritten."""
    try:
        known = json.loads((folder / _GRADED).read_text(encoding="utf-8"))["points"]
    except (OSError, ValueError, KeyError, TypeError):
        return
    if (folder / POINTS).exists() and digest(folder / POINTS) != known:
        (folder / POINTS).replace(folder / EDITED)


def write_feedback(label: str, result: Result, folder: Path) -> None:
    """Write the page of a student, and the run files that refute answers."""
    (folder / f"{label}.html").write_text(write_feedback_page(result), encoding="utf-8")
    for row in result.rows:
        run_file = folder / f"{label}-{row.name}.toml"
        run_file.unlink(missing_ok=True)
        if row.run_file is not None:
            run_file.write_text(annotate_run(row, run_file.name), encoding="utf-8")


def write_points(results: Sequence[Result], path: Path) -> None:
    """Write one line per student: points and maximum of each question, their sums, and the answers left to a person."""
    names = list(dict.fromkeys(row.name for result in results for row in result.rows))
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        heads = [head for name in names for head in (name, f"{name}_max")]
        table.writerow(["student", "assignment", *heads, "points", "pending", "of", "troubles", "file"])
        for result in results:
            rows = {row.name: row for row in result.rows}
            cells = [cell for name in names for cell in _list_cells(rows.get(name))]
            sums = [f"{result.points:g}", result.pending, result.of, " | ".join(result.troubles), result.file]
            table.writerow([escape_formula(cell) for cell in (result.student, result.assignment, *cells, *sums)])


def _list_cells(row: AnswerRow | None) -> tuple[object, object]:
    if row is None:
        return "", ""
    return "" if row.points is None else f"{row.points:g}", row.of


def _write_reading_page(results: Sequence[Result], folder: Path) -> str:
    """Return the page of answers for a person to read, by question, each with the command that enters its points."""
    asked: dict[tuple[str, str], list[tuple[Result, AnswerRow]]] = {}
    for result in results:
        for row in result.rows:
            if row.points is None:
                asked.setdefault((result.assignment, row.name), []).append((result, row))
    sections = "".join(_write_reading_section(of, folder) for of in asked.values())
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head><meta charset="utf-8"><title>Answers to read</title>\n'
        f"<style>{STYLE}</style></head>\n<body>\n<h1>Answers to read</h1>\n"
        f"{sections or '<p>None.</p>'}</body>\n</html>\n"
    )


def _write_reading_section(answers: Sequence[tuple[Result, AnswerRow]], folder: Path) -> str:
    """Return the section of one question; if copies differ, each answer stands below its own version."""
    first, row = answers[0]
    head = f"<h2>{escape(first.title or first.assignment)}: {escape(row.title)} ({format_points(row.of)})</h2>\n"
    forms: dict[str, list[str]] = {}
    for result, row in answers:
        forms.setdefault(write_question(row), []).append(_write_answer_to_read(result, row, folder))
    return head + "".join(f"{question}{''.join(texts)}" for question, texts in forms.items())


def _write_answer_to_read(result: Result, row: AnswerRow, folder: Path) -> str:
    """Return one answer, the reason why a person reads it, and the command that enters its points."""
    reason = "" if row.comment == READ_BY_A_PERSON else f"<p>{escape(row.comment)}</p>\n"
    return (
        f"<h3>{escape(result.student)}</h3>\n<pre>{escape(row.answer or 'no text was found')}</pre>\n{reason}"
        f"<p><code>{escape(_write_command(result, row, folder))}</code></p>\n"
    )


def _write_command(result: Result, row: AnswerRow, folder: Path) -> str:
    return f'fedtheory course points {quote(str(folder))} {quote(result.student)} {row.name} POINTS --note "..."'
