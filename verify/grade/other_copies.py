"""Find questions that differ between a file and its copy, because of another version or another copy."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from fedtheory.language.exercises import Assignment, ChoiceQuestion, Copy, Question
from verify.grade.questions import Mark
from verify.grade.questions.mark import RIGHT
from verify.grade.submission import Submission

_FORMULA = re.compile(r"\$[^$]+\$|`[^`]+`")
_COMMENT = re.compile(r"^[ \t]*#[ \t]?", re.MULTILINE)
_UNSEEN = re.compile(r"[\s{}]+")
_MOST_COPIES = 1000
"""Number of copies that are searched for a question: numbers and symbols have a few hundred combinations."""


def match_questions(assignment: Assignment, copy: Copy, submission: Submission) -> tuple[Question, ...]:
    """Return the questions of a copy, each replaced by that of another copy if the file words it so.

    A question remains if no copy has the wording of the file.
    """
    handout = _join(_COMMENT.sub("", submission.handout))
    return tuple(_match_question(assignment, place, question, handout) for place, question in enumerate(copy.questions))


def _match_question(assignment: Assignment, place: int, question: Question, handout: str) -> Question:
    if not _differs(question, handout):
        return question
    others = (_find_other_copy(assignment, number).questions for number in range(_MOST_COPIES))
    same_place = (questions[place] for questions in others if place < len(questions))
    return next((other for other in same_place if not _differs(other, handout)), question)


@lru_cache(maxsize=4 * _MOST_COPIES)
def _find_other_copy(assignment: Assignment, number: int) -> Copy:
    return assignment.copy(f"copy {number}")


def differs_from_copy(question: Question, submission: Submission) -> bool:
    """Return whether the file has the question with other formulas, symbols or options than the copy.

    Wording may change between versions; numbers and symbols, which are drawn for each copy, decide what is right.
    """
    return _differs(question, _join(_COMMENT.sub("", submission.handout)))


def _differs(question: Question, handout: str) -> bool:
    if _join(question.title) not in handout:
        return False
    formulas = [_join(found) for found in _FORMULA.findall(question.text)]
    names = [f"`{name}`" for name in getattr(question, "names", {})]
    options = [_join(question.option_list)] if isinstance(question, ChoiceQuestion) else []
    return any(part not in handout for part in (*formulas, *names, *options))


def note_other_copies(copy: Copy, asked: Sequence[Question]) -> tuple[str, ...]:
    """Return the instructor's note about questions of another copy; empty without such questions."""
    moved = [question.name for own, question in zip(copy.questions, asked, strict=True) if question is not own]
    return (f"worded as in another copy or version, and graded as worded: {', '.join(moved)}",) if moved else ()


def mark_for_person(found: Mark) -> Mark:
    """Mark an answer to a question of another copy: a correct answer counts, and a person reads every other one."""
    if found.share in (RIGHT, None):
        return found
    reason = "the file has this question with other symbols or numbers than the copy as which it is graded"
    return Mark(None, f"a person reads this answer: {reason}, perhaps from another version of the handout")


def _join(text: str) -> str:
    """Return a text without blanks and braces, which do not change the typeset symbols."""
    return _UNSEEN.sub("", text)
