"""Questions that a file asks otherwise than its copy: handed out by another version, or another copy."""

from __future__ import annotations

import re

from fedtheory.language.exercises import Question
from verify.grade.questions import Mark
from verify.grade.questions.mark import RIGHT
from verify.grade.submission import Submission

_FORMULA = re.compile(r"\$[^$]+\$|`[^`]+`")
_COMMENT = re.compile(r"^[ \t]*#[ \t]?", re.MULTILINE)
_UNSEEN = re.compile(r"[\s{}]+")


def is_asked_otherwise(question: Question, submission: Submission) -> bool:
    """Whether the file has the question, with other formulas or symbols than the copy has.

    Wording may change between versions; numbers and symbols, which are drawn for each copy, decide what is right.
    """
    handout = _join(_COMMENT.sub("", submission.handout))
    if _join(question.title) not in handout:
        return False
    formulas = [_join(found) for found in _FORMULA.findall(question.text)]
    names = [f"`{name}`" for name in getattr(question, "names", {})]
    return any(part not in handout for part in (*formulas, *names))


def left_to_a_person(found: Mark) -> Mark:
    """The mark of an answer to such a question: only a right one counts, for the other may be right as it was asked."""
    if found.share in (RIGHT, None):
        return found
    reason = "the file asks this question with other symbols or numbers than the copy it is marked as"
    return Mark(None, f"a person reads this answer: {reason}, which another version may have handed out")


def _join(text: str) -> str:
    """A text without blanks and braces, which typeset the same symbols in several ways."""
    return _UNSEEN.sub("", text)
