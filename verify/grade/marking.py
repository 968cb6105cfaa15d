"""Mark a submission: points and comments for each answer."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from types import FrameType
from typing import Any

from fedtheory.language.exercises import Assignment, Copy, ManualQuestion, Question
from verify.grade.confinement import Launch, NoSandbox
from verify.grade.other_copies import differs_from_copy, mark_for_person, match_questions, note_other_copies
from verify.grade.questions import GivenAnswer, Mark, mark_answer
from verify.grade.sandbox import Answers, run_code
from verify.grade.shown_answer import show_read, show_submitted
from verify.grade.submission import Submission
from verify.grade.text_answers import read_texts

_LONGEST_MARKING = 600.0
"""Processor seconds for one answer, after which it is left to a person.

This protects against answers that never end; marking takes a few seconds. The load of the machine does not matter.
"""


@dataclass(frozen=True)
class AnswerRow:
    """One answer in the result of a submission."""

    name: str
    title: str
    points: float | None
    """The points; None if a person has to read the answer."""
    of: int
    comment: str
    run_file: str | None = None
    relation: str | None = None
    """The answer as a relation on that run, for `fedtheory check`."""
    question: str = ""
    """The question, in Markdown with LaTeX."""
    answer: str = ""
    """The answer as submitted."""
    read: str = ""
    """The answer as parsed; empty where it could not be."""


@dataclass(frozen=True)
class Result:
    """The grade of one submission."""

    student: str
    assignment: str
    rows: tuple[AnswerRow, ...]
    troubles: tuple[str, ...]
    """Problems while the submission was read and run."""
    title: str = ""
    """The title of the assignment; empty where there is none."""
    file: str = ""
    """The name of the submitted file, as displayed."""
    notes: tuple[str, ...] = ()
    """Troubles for the instructor only, because they may name other students."""

    @property
    def points(self) -> float:
        """Return the points that are certain so far."""
        return sum(row.points or 0 for row in self.rows)

    @property
    def of(self) -> int:
        """Return the largest possible points."""
        return sum(row.of for row in self.rows)

    @property
    def pending(self) -> int:
        """Return the points that a person still has to give."""
        return sum(row.of for row in self.rows if row.points is None)

    def document(self) -> dict[str, Any]:
        """Return the result as JSON."""
        return {**asdict(self), "points": self.points, "of": self.of, "pending": self.pending}


def decode_result(document: Mapping[str, Any]) -> Result:
    """Decode a result from JSON."""
    rows = tuple(AnswerRow(**row) for row in document["rows"])
    title, file = (str(document[name]) for name in ("title", "file"))
    troubles, notes = (tuple(document[name]) for name in ("troubles", "notes"))
    return Result(document["student"], document["assignment"], rows, troubles, title, file, notes)


def mark_submission(assignment: Assignment, copy: Copy, submission: Submission, launch: Launch | NoSandbox) -> Result:
    """Run the code of a submission with a launcher of `find_launch`, and mark its answers one by one.

    An error in one answer does not affect the points of others. Without a sandbox, an answer that needs an execution is
    left to a person.
    """
    questions = match_questions(assignment, copy, submission)
    if submission.trouble is not None:
        found = Answers({}, {}, (submission.trouble,))
    else:
        found = _run(questions, submission, launch)
    manual = [question.name for question in questions if isinstance(question, ManualQuestion)]
    submission = replace(submission, texts=read_texts(assignment, copy, submission, manual))
    notes = note_other_copies(copy, questions)
    troubles = (*notes, *_check_header(assignment, copy, submission), *found.troubles)
    rows = tuple(_mark_question(question, submission, found) for question in questions)
    return Result(submission.student, assignment.id, rows, troubles, assignment.title, notes=notes)


def _check_header(assignment: Assignment, copy: Copy, submission: Submission) -> Iterator[str]:
    """Yield messages where the header of a file disagrees with the copy or the assignment."""
    if submission.copy_of not in (None, copy.student):
        yield f"the file is the copy of {submission.copy_of}, but it is graded as that of {copy.student}"
    if submission.copy_of is None and submission.trouble is None:
        yield f"the file does not name its copy; it is graded as that of {copy.student}"
    if submission.assignment not in (None, assignment.id):
        yield f"the file names the assignment {submission.assignment}, but it is graded as {assignment.id}"


def _run(questions: Sequence[Question], submission: Submission, launch: Launch | NoSandbox) -> Answers:
    calls = {q.name: [list(case) for case in q.cases] for q in questions if q.cases is not None}
    wanted = [q.name for q in questions if q.cases is None and not isinstance(q, ManualQuestion)]
    return run_code(submission.units, wanted, calls, launch)


def read_answers(
    questions: Sequence[Question], submission: Submission, launch: Launch | NoSandbox
) -> dict[str, GivenAnswer]:
    """Return the answers of a submission by the names of the questions."""
    found = _run(questions, submission, launch)
    return {question.name: _find_answer(question, submission, found) for question in questions}


def _find_answer(question: Question, submission: Submission, found: Answers) -> GivenAnswer:
    if isinstance(question, ManualQuestion):
        return GivenAnswer(submission.texts.get(question.name, ""))
    trouble = found.troubles_of.get(question.name)
    return GivenAnswer(found.values.get(question.name, ""), found.calls.get(question.name, ()), trouble)


def _mark_question(question: Question, submission: Submission, answers: Answers) -> AnswerRow:
    given = _find_answer(question, submission, answers)
    found = _UNKNOWN if question.name in answers.unknown else _mark(question, given)
    if given.text and differs_from_copy(question, submission):
        found = mark_for_person(found)
    return AnswerRow(
        question.name,
        question.title,
        found.points_of(question),
        question.points,
        found.comment,
        found.run_file,
        found.relation,
        question.statement,
        show_submitted(question, given),
        show_read(question, given),
    )


_UNKNOWN = Mark(None, "the code was not executed, because there is no sandbox; a person reads this answer")


def _mark(question: Question, given: GivenAnswer) -> Mark:
    try:
        with _limit_processor_time(_LONGEST_MARKING):
            return mark_answer(question, given)
    except _TooLong:
        return Mark(None, "marking took too long; a person reads this answer")
    except Exception as error:
        return Mark(None, f"marking failed; a person reads this answer ({type(error).__name__})")


class _TooLong(Exception):
    """Raised when an answer takes too long to mark."""


@contextmanager
def _limit_processor_time(seconds: float) -> Iterator[None]:
    """Bound the processor time of a block, if this thread receives signals."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(_number: int, _frame: FrameType | None) -> None:
        raise _TooLong

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
