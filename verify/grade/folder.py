"""Grade a folder of submissions in several processes, with one result file each, so that grading can be resumed."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from fedtheory.errors import InputError
from fedtheory.language.exercises import CLASS, is_student
from verify.grade.assignments import assignment_with_id, find_assignment, read_edition
from verify.grade.confinement import Launch, NoSandbox, find_launch
from verify.grade.exercise_checks import require_sound_once
from verify.grade.marking import AnswerRow, Result, decode_result, mark_submission
from verify.grade.result_files import read_entered, write_all
from verify.grade.submission import digest
from verify.grade.submitted_files import SubmittedFile, find_submissions, list_labels
from verify.processes import run_unordered

_EDITION = "11"
"""Version of the grading rules; a new one makes stored results invalid."""
_NO_HEADER = (
    "not graded: the file names no assignment; "
    "expected a line `# fedtheory assignment: ID (copy of STUDENT)`, or a notebook of `fedtheory course new`; "
    "add the line, or use --assignment ID"
)


@dataclass(frozen=True)
class Task:
    """One submission to grade."""

    handed_in: SubmittedFile
    given: str | None
    """Assignment named by the instructor, an id or the file of an exercise; None if the file's header names it."""
    copy: str
    """The student whose copy is graded: the one of the file, or one for the whole class."""
    label: str
    """The name of its result files."""
    results: Path
    launch: Launch | NoSandbox
    """Launcher of its code, or the reason why it is not executed."""


def grade_folder(
    folder: Path,
    output: Path,
    *,
    assignment: str | None = None,
    copy: str | None = None,
    jobs: int = 1,
    unsafe: bool = False,
    on_progress: Callable[[int, int], None] = lambda _done, _all: None,
    on_own: Callable[[], None] = lambda: None,
) -> list[Result]:
    """Grade all ``.py`` and ``.ipynb`` files of a folder; write points, results and feedback into `output`.

    Files in one subfolder per student, as in nbgrader, count as well. `assignment` is an id or the file of a
    user-defined exercise; without it each submission names its own. `copy` is the id of a copy that all students have;
    without it each file names its copy. A submission that cannot be graded is in the results with the reason. A result
    that is stored for the same file is not computed again. Code is executed in a sandbox. If there is none, `unsafe`
    allows execution without it; otherwise answers that are not literals are left to a person. A user-defined exercise
    is checked before its first grading, which `on_own` announces. Raises `InputError` for invalid folders, and for an
    exercise whose solutions or reference bounds are wrong.
    """
    if jobs == 0:
        raise InputError("--jobs", "expected a number of processes, or -1 for all cores, got 0")
    chosen = None if assignment is None else find_assignment(assignment)
    if chosen is not None:
        chosen.copy(copy or CLASS)
    elif copy is not None and not is_student(copy):
        raise InputError("--copy", f"expected the id of a copy, got {copy!r}")
    files = find_submissions(folder, copy or CLASS)
    if chosen is not None and chosen.file is not None:
        require_sound_once(chosen, chosen.copy(copy or CLASS), output, on_own)
    launch = find_launch(unsafe)
    tasks = [
        Task(file, assignment, copy or file.copy, label, output / "results", launch)
        for file, label in zip(files, list_labels(files), strict=True)
    ]
    (output / "results").mkdir(parents=True, exist_ok=True)
    (output / "feedback").mkdir(exist_ok=True)
    given = read_entered(output)
    graded: dict[str, Result] = {}
    for label, result in run_unordered(_grade_with_label, [(task,) for task in tasks], jobs):
        graded[label] = result
        on_progress(len(graded), len(tasks))
    return write_all({task.label: graded[task.label] for task in tasks}, given, output)


def _grade_with_label(task: Task) -> tuple[str, Result]:
    return task.label, grade_task(task)


def grade_task(task: Task) -> Result:
    """Grade one submission, or read its stored result; the result is stored before it is returned."""
    file = task.handed_in
    answers = task.given or file.submission.assignment or ""
    edition = read_edition(task.given) if task.given else ""
    executed = "" if isinstance(task.launch, NoSandbox) else "executed"
    inputs = (file.student, answers, edition, task.copy, *file.troubles, executed, _EDITION)
    fingerprint = digest(file.path, *inputs)
    stored = task.results / f"{task.label}.json"
    known = _read_stored(stored, fingerprint)
    if known is not None:
        return known
    found = _grade(task)
    troubles = (*file.troubles, *found.troubles)
    result = replace(
        found, student=file.student, file=file.file, troubles=troubles, notes=(*file.troubles, *found.notes)
    )
    text = json.dumps({"digest": fingerprint, **result.document()}, indent=2, ensure_ascii=False)
    half_written = stored.with_suffix(".part")
    half_written.write_text(text + "\n", encoding="utf-8")
    half_written.replace(stored)
    return result


def _grade(task: Task) -> Result:
    submission, student = task.handed_in.submission, task.handed_in.student
    if task.given is None and submission.assignment is None:
        return Result(student, "", (), (submission.trouble or _NO_HEADER,))
    try:
        assignment = find_assignment(task.given) if task.given else assignment_with_id(submission.assignment or "")
        copy = assignment.copy(task.copy)
    except InputError as error:
        return Result(student, task.given or submission.assignment or "", (), (f"not graded: {error}",))
    try:
        return mark_submission(assignment, copy, submission, task.launch)
    except Exception as error:
        # An error in one submission must not stop the grading of the others.
        rows = (AnswerRow(q.name, q.title, None, q.points, "a person reads this answer") for q in copy.questions)
        troubles = (f"marking failed: {type(error).__name__}",)
        return Result(student, assignment.id, tuple(rows), troubles, assignment.title)


def _read_stored(path: Path, fingerprint: str) -> Result | None:
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        return decode_result(document) if document["digest"] == fingerprint else None
    except (OSError, ValueError, KeyError, TypeError):
        return None
