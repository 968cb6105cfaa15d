"""Marking a function: the share of the cases on which it is right."""

from __future__ import annotations

from fractions import Fraction

import sympy as sp

from fedtheory.language.exercises import CodeQuestion
from verify.grade.answer import read_answer
from verify.grade.guarded import Unreadable
from verify.grade.questions.mark import WRONG, GivenAnswer, Mark, mark_answer, rule_of


@rule_of.register
def _rule(question: CodeQuestion) -> str:
    return f"The share of the {len(question.tried)} cases on which the function is right."


@mark_answer.register
def _mark(question: CodeQuestion, given: GivenAnswer) -> Mark:
    if not given.outputs:
        return Mark(WRONG, given.trouble or f"{question.name} is not defined")
    right = [_is_number(text, value) for text, value in zip(given.outputs, question.expected, strict=False)]
    share = Fraction(sum(right), len(question.expected))
    if share == 1:
        return Mark(share, "correct on all cases")
    summary = f"correct on {sum(right)} of {len(question.expected)} cases"
    wrong = next((place for place, is_right in enumerate(right) if not is_right), None)
    if wrong is None:
        return Mark(share, f"{summary}; {given.trouble}")
    call = f"{question.name}({', '.join(question.tried[wrong])})"
    yours = given.outputs[wrong][:40]
    returned = f"yours is {yours}" if yours.strip() else _NOTHING
    return Mark(share, f"{summary}; {call} should be {question.expected[wrong]}, {returned}")


_NOTHING = "your function returned nothing (None): does it print instead of `return`?"


def _is_number(text: str, value: str) -> bool:
    try:
        return bool(read_answer(text, {}) == sp.Rational(value))
    except Unreadable:
        return False
