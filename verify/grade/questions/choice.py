"""Marking a choice: the letter of the right option."""

from __future__ import annotations

from fedtheory.language.exercises import ChoiceQuestion
from verify.grade.guarded import Unreadable
from verify.grade.questions.mark import RIGHT, WRONG, Mark, mark_text


@mark_text.register
def _mark(question: ChoiceQuestion, text: str) -> Mark:
    given, letters = text.strip().strip("()").lower(), list(question.letters)
    if given not in letters:
        raise Unreadable(f"expected one letter of {', '.join(letters)}")
    is_right = given == question.letter
    return Mark(RIGHT, f"correct: {question.why}") if is_right else Mark(WRONG, f"not correct: {question.why}")
