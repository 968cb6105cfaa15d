"""Mark a function: the fraction of the cases on which it is correct."""

from __future__ import annotations

from fractions import Fraction

import sympy as sp

from fedtheory.language.exercises import CodeQuestion
from verify.grade.answer_limits import Unreadable
from verify.grade.answer_text import read_answer
from verify.grade.questions.mark import WRONG, GivenAnswer, Mark, describe_rule, mark_answer


@describe_rule.register
def _describe_rule(question: CodeQuestion) -> str:
    return f"The share of the {len(question.tried)} cases on which the function is right."


@mark_answer.register
def _mark(question: CodeQuestion, given: GivenAnswer) -> Mark:
    if not given.outputs:
        return Mark(WRONG, given.trouble or f"{question.name} is not defined")
    pairs = list(zip(given.outputs, question.expected, strict=False))
    right = [_is_number(text, value) for text, value in pairs]
    share = Fraction(sum(right), len(question.expected))
    if share == 1:
        is_exact = all(_read_value(text) == sp.Rational(value) for text, value in pairs)
        return Mark(share, "correct on all cases" + ("" if is_exact else " up to rounding: keep fractions exact"))
    summary = f"correct on {sum(right)} of {len(question.expected)} cases"
    wrong = next((place for place, is_right in enumerate(right) if not is_right), None)
    if wrong is None:
        return Mark(share, f"{summary}; {given.trouble}")
    call = f"{question.name}({', '.join(question.tried[wrong])})"
    yours = given.outputs[wrong][:40]
    returned = f"yours is {yours}" if yours.strip() else _NOTHING
    if yours.strip() and _read_value(given.outputs[wrong]) is None:
        returned = f"your function returned {yours}, which is no number"
    return Mark(share, f"{summary}; {call} should be {question.expected[wrong]}, {returned}")


_FLOATS = sp.Rational(1, 10**12)
"""Relative error that a function of floats may accumulate."""
_NOTHING = "your function returned nothing (None): is it still empty, or does it print in place of `return`?"


def _is_number(text: str, value: str) -> bool:
    """Return whether a text is the expected number, up to the rounding of floats."""
    found, expected = _read_value(text), sp.Rational(value)
    return found is not None and bool(abs(found - expected) <= abs(expected) * _FLOATS)


def _read_value(text: str) -> sp.Rational | None:
    try:
        found = read_answer(text, {})
    except Unreadable:
        return None
    return found if found.is_Rational else None
