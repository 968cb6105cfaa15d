"""Register the marking of each kind of question."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import singledispatch

from fedtheory.language.exercises import Question
from verify.grade.answer_limits import NoValue, Unreadable


@dataclass(frozen=True)
class GivenAnswer:
    """Answer of a student to one question."""

    text: str = ""
    """The answer as text; empty without an answer."""
    outputs: tuple[str, ...] = ()
    """Results of a function for each case, up to the first failure."""
    trouble: str | None = None
    """Error message of the code."""


@dataclass(frozen=True)
class Mark:
    """The points of one answer, and the feedback to the student."""

    share: Fraction | None
    """Fraction of the points; None if a person has to read the answer."""
    comment: str
    run_file: str | None = None
    """A run that refutes the answer."""
    relation: str | None = None
    """Relation between quantities of the run that the answer implies, for `fedtheory check`."""

    def points_of(self, question: Question) -> float | None:
        """Return the points of the question for this mark, in quarters; None if a person has to read the answer."""
        return None if self.share is None else round(4 * float(self.share * question.points)) / 4


RIGHT, WRONG = Fraction(1), Fraction(0)


@singledispatch
def describe_rule(_question: Question) -> str:
    """Describe the rule for points, for the rubric."""
    return "All points for the right answer, otherwise none."


@singledispatch
def mark_answer(question: Question, given: GivenAnswer) -> Mark:
    """Mark an answer, a text by default.

    A person reads answers that cannot be parsed, because they may be correct in another notation.
    """
    if not given.text.strip(" \t\r\n.?…"):
        return Mark(WRONG, given.trouble or f"{question.name} has no answer")
    try:
        return mark_text(question, given.text)
    except NoValue as reason:
        return Mark(WRONG, f"the answer has no value: {reason}")
    except Unreadable as reason:
        if given.trouble is not None:
            return Mark(WRONG, given.trouble)
        return Mark(None, f"a person reads this answer: {reason}")


@singledispatch
def mark_text(question: Question, _text: str) -> Mark:
    """Mark the text of an answer; raises `Unreadable` for one outside the language of answers."""
    raise TypeError(f"expected a kind of question that is marked here, got {type(question).__name__}")
