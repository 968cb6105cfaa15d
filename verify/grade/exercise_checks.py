"""Check a user-defined exercise before it is used: its solutions must earn all points."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from fedtheory.errors import InputError
from fedtheory.language.exercises import Assignment, BoundQuestion, Copy, ManualQuestion
from verify.exclusions import explain_no_instance
from verify.falsify.regimes import search_regimes
from verify.grade.battery import build_battery
from verify.grade.confinement import find_launch
from verify.grade.counterexample import Counterexample, shrink_counterexample
from verify.grade.marking import mark_submission
from verify.grade.submission import Submission, digest

_LOOKS = 1_000
"""Number of runs in the search for a violation of the reference."""
COUNTEREXAMPLE = "counterexample.toml"
"""The file of a run that violates a reference bound."""
_RECORD = "exercise_checked.txt"
"""The file that records the edition of an exercise whose solutions were checked."""


def require_sound_once(
    assignment: Assignment, copy: Copy, folder: Path, on_start: Callable[[], None] = lambda: None
) -> None:
    """Call `require_sound` before the first grading of an edition; a record in the folder avoids repetitions.

    `on_start` is called before the solutions are graded, which can take half a minute.
    """
    record, edition = folder / _RECORD, digest(Path(assignment.file or ""), copy.student)
    if record.is_file() and record.read_text(encoding="utf-8", errors="replace").strip() == edition:
        return
    on_start()
    require_sound(assignment, copy, folder)
    folder.mkdir(parents=True, exist_ok=True)
    record.write_text(edition + "\n", encoding="utf-8")


def require_sound(assignment: Assignment, copy: Copy, folder: Path | None = None) -> None:
    """Raise `InputError` with the question if a solution does not earn all points, or its bound is false.

    The solutions are graded like a submission. Without a sandbox they are executed directly, like the file of the
    exercise. The run that violates a false bound is written into `folder`.
    """
    asked = [question for question in copy.questions if not isinstance(question, ManualQuestion)]
    cells = tuple(question.solution_cell for question in asked)
    submission = Submission(copy.student, assignment.id, cells, copy_of=copy.student)
    result = mark_submission(assignment, copy, submission, find_launch(unsafe=True))
    for row in result.rows:
        if row.points is not None and row.points < row.of:
            reason = f"the solution earns {row.points:g} of {row.of} points: {row.comment}"
            raise InputError(row.name, reason, assignment.file)
    for question in asked:
        if isinstance(question, BoundQuestion):
            _require_unrefuted(assignment, question, folder)


def _require_unrefuted(assignment: Assignment, question: BoundQuestion, folder: Path | None) -> None:
    if not len(build_battery(question.claim)):
        reason = "none of the small runs on which answers are tried satisfies the claim's assumptions and conditions"
        excluded = explain_no_instance(question.claim)
        raise InputError(question.name, reason + (f": {excluded}" if excluded else ""), assignment.file)
    violation = build_battery(question.claim).try_claim(question.claim).violation
    if violation is None:
        counterexample = search_regimes(question.claim, _LOOKS).counterexample
        violation = None if counterexample is None else counterexample.table
    if violation is not None:
        found = shrink_counterexample(question.claim, violation)
        sides = f"in exact arithmetic the left side is {found.lhs}, the right side {found.rhs}"
        shown = "" if folder is None else _write_counterexample(found, folder)
        raise InputError(question.name, f"the claim is false: {sides}, on {found.size}{shown}", assignment.file)


def _write_counterexample(found: Counterexample, folder: Path) -> str:
    """Write the run file; return the part of a sentence that names it, with the command that shows both sides."""
    path = folder / COUNTEREXAMPLE
    typed = f'fedtheory check "{found.relation}" {path}' if found.relation else ""
    folder.mkdir(parents=True, exist_ok=True)
    path.write_text(f"# {typed}\n{found.run_file}" if typed else found.run_file, encoding="utf-8")
    return f"; the run is in {path}" + (f", and `{typed}` shows both sides" if typed else "")
