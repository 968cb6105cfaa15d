"""An instructor's own exercise is marked before it is given out: its solutions have to earn all their points."""

from __future__ import annotations

from fedtheory.errors import InputError
from fedtheory.language.exercises import Assignment, BoundQuestion, Copy, ManualQuestion
from verify.falsify.regimes import search_regimes
from verify.grade.battery import battery
from verify.grade.confinement import find_launch
from verify.grade.counterexample import describe
from verify.grade.marking import mark_submission
from verify.grade.submission import Submission

_LOOKS = 1_000
"""Runs that the search for a violation of the reference looks at."""


def require_sound(assignment: Assignment, copy: Copy) -> None:
    """Raise `InputError`, naming the question, where a solution earns less than all points, or its bound is false.

    The solutions take the way of a submission.  Where there is no sandbox they are executed without
    one, as the file of the exercise is.
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
            _require_standing(assignment, question)


def _require_standing(assignment: Assignment, question: BoundQuestion) -> None:
    if not len(battery(question.claim)):
        reason = "none of the small runs on which answers are tried satisfies the claim's assumptions and conditions"
        raise InputError(question.name, reason, assignment.file)
    violation = battery(question.claim).try_claim(question.claim).violation
    if violation is None:
        counterexample = search_regimes(question.claim, _LOOKS).counterexample
        violation = None if counterexample is None else counterexample[0]
    if violation is not None:
        found = describe(question.claim, violation)
        sides = f"in exact arithmetic the left side is {found.lhs}, the right side {found.rhs}"
        raise InputError(question.name, f"the claim is false: {sides}, on {found.size}", assignment.file)
