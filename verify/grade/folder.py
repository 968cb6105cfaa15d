"""A folder of submissions: graded over local processes, one result file each, so that it can be resumed."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from fedtheory.errors import InputError
from verify.grade.assignments import find_assignment
from verify.grade.feedback import feedback_page
from verify.grade.marking import Result, Row, mark_submission, result_of
from verify.grade.submission import KINDS, Submission, digest, read_submission

_EDITION = "1"
"""Raised when grades change for the same files, so that stored results count no more."""


@dataclass(frozen=True)
class Task:
    """One submission to grade."""

    student: str
    path: Path
    assignment: str
    copy: str
    """The student whose copy counts: the one of the file, or one for the whole class."""
    results: Path


def grade_folder(
    folder: Path,
    output: Path,
    *,
    assignment: str | None = None,
    copy: str | None = None,
    jobs: int = 1,
    on_progress: Callable[[int, int], None] = lambda _done, _all: None,
) -> list[Result]:
    """Grade all ``ID.py`` and ``ID.ipynb`` of a folder; write points, results and feedback into `output`.

    A folder ``ID`` with one such file inside counts as well, as nbgrader has it.
    A submission names its assignment, unless `assignment` does; `copy` is the id whose
    copy all students have, else each has their own.  A result that is stored for the
    same file is not computed again.  `InputError` for folders that make no sense.
    """
    from joblib import Parallel, delayed

    if jobs == 0:
        raise InputError("--jobs", "expected a number of processes, or -1 for all cores, got 0")
    tasks = [_task(student, path, output, assignment, copy) for student, path in _files(folder).items()]
    (output / "results").mkdir(parents=True, exist_ok=True)
    (output / "feedback").mkdir(exist_ok=True)
    results: list[Result] = []
    for result in Parallel(n_jobs=jobs, return_as="generator")(delayed(grade_task)(task) for task in tasks):
        results.append(result)
        _write_feedback(result, output / "feedback")
        on_progress(len(results), len(tasks))
    write_points(results, output / "points.csv")
    return results


def _write_feedback(result: Result, folder: Path) -> None:
    """The page, and the run files that refute answers beside it."""
    page = feedback_page(result, find_assignment(result.assignment).title)
    (folder / f"{result.student}.html").write_text(page, encoding="utf-8")
    for row in result.rows:
        run_file = folder / f"{result.student}-{row.name}.toml"
        run_file.unlink(missing_ok=True)
        if row.run_file is not None:
            run_file.write_text(row.run_file, encoding="utf-8")


def grade_task(task: Task) -> Result:
    """Grade one submission, or read its stored result; the result is stored before it is returned."""
    print_ = digest(task.path, task.assignment, task.copy, _EDITION)
    stored = task.results / f"{task.student}.json"
    known = _stored(stored, print_)
    if known is not None:
        return known
    submission = read_submission(task.path, task.student)
    result = _graded(task, submission)
    text = json.dumps({"digest": print_, **result.document()}, indent=2, ensure_ascii=False)
    half_written = stored.with_suffix(".part")
    half_written.write_text(text + "\n", encoding="utf-8")
    half_written.replace(stored)
    return result


def _graded(task: Task, submission: Submission) -> Result:
    copy = find_assignment(task.assignment).copy(task.copy)
    try:
        return mark_submission(task.assignment, copy, submission)
    except Exception as error:
        # Whatever it is, it must not cost the others their grades.
        rows = (Row(q.name, q.title, None, q.points, "a person has to look at this answer") for q in copy.questions)
        return Result(task.student, task.assignment, tuple(rows), (f"marking failed: {type(error).__name__}",))


def _stored(path: Path, print_: str) -> Result | None:
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        return result_of(document) if document["digest"] == print_ else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _files(folder: Path) -> dict[str, Path]:
    """The submissions of a folder by the student's id."""
    if not folder.is_dir():
        raise InputError("DIR", f"expected a folder with submissions, got {folder}")
    found: dict[str, Path] = {}
    for entry in sorted(folder.iterdir()):
        inside = sorted(entry.rglob("*")) if entry.is_dir() else [entry]
        for path in (path for path in inside if path.suffix in KINDS and path.is_file()):
            student = entry.name if entry.is_dir() else entry.stem
            other = found.setdefault(student, path)
            if other != path:
                raise InputError(str(folder), f"expected one file for {student}, got {other.name} and {path.name}")
    if not found:
        raise InputError("DIR", f"expected submissions ID.py or ID.ipynb in {folder}, found none")
    return found


def _task(student: str, path: Path, output: Path, assignment: str | None, copy: str | None) -> Task:
    named = assignment or read_submission(path, student).assignment
    if named is None:
        expected = "expected a line `# fedtheory assignment: ID`, or a notebook of `fedtheory course new`"
        raise InputError("", f"{expected}; or say --assignment ID", str(path))
    try:
        of = copy or student
        find_assignment(named).copy(of)
    except InputError as error:
        raise error.in_file(str(path)) from None
    return Task(student, path, named, of, output / "results")


def write_points(results: Sequence[Result], path: Path) -> None:
    """One line for each student: the points of each question, their sum, and what a person has still to read."""
    names = list(dict.fromkeys(row.name for result in results for row in result.rows))
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(["student", "assignment", *names, "points", "pending", "of", "troubles"])
        for result in results:
            points = {row.name: row.points for row in result.rows}
            cells = ["" if points.get(name) is None else f"{points[name]:g}" for name in names]
            sums = [f"{result.points:g}", result.pending, result.of, " | ".join(result.troubles)]
            table.writerow([_plain(cell) for cell in (result.student, result.assignment, *cells, *sums)])


def _plain(cell: object) -> object:
    """A text that a spreadsheet does not take for a formula."""
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(("=", "+", "@", "\t")) else cell
