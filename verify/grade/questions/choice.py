"""Mark a choice: the letter of the correct option."""

from __future__ import annotations

from fedtheory.language.exercises import ChoiceQuestion
from verify.grade.chosen_option import read_choice
from verify.grade.questions.mark import RIGHT, WRONG, Mark, mark_text


@mark_text.register
def _mark(question: ChoiceQuestion, text: str) -> Mark:
    is_right = read_choice(question, text) == question.letter
    return Mark(RIGHT, f"correct: {question.why}") if is_right else Mark(WRONG, f"not correct: {question.why}")
