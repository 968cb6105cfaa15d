"""Mark a number: exact, or within the question's tolerance."""

from __future__ import annotations

import sympy as sp

from fedtheory.language.exercises import NumberQuestion
from verify.grade.answer_text import read_answer
from verify.grade.equality import compute_value
from verify.grade.questions.mark import RIGHT, WRONG, Mark, mark_text


@mark_text.register
def _mark(question: NumberQuestion, text: str) -> Mark:
    answer = read_answer(text, {})
    yours, right = compute_value(answer, {}), compute_value(question.solution, {})
    assert right is not None
    allowed = abs(right) * sp.Rational(question.tolerance) + sp.Float(10) ** -30
    if yours is not None and abs(yours - right) <= allowed:
        return Mark(RIGHT, "correct")
    shown = text.strip()[:60]
    if question.tolerance:
        allowance = f"(a relative error of {float(question.tolerance):g} is allowed)"
        return Mark(WRONG, f"your {shown} is not correct {allowance}")
    if yours is not None and abs(yours - right) <= abs(right) * AS_A_FLOAT:
        return Mark(RIGHT, f"correct: {shown} has all digits of a float (an exact integer or fraction is asked for)")
    if yours is not None and abs(yours - right) <= abs(right) * _ROUNDED:
        return Mark(WRONG, f"{shown} is right when rounded; an exact integer or fraction is asked for")
    return Mark(WRONG, f"your {shown} is not correct")


AS_A_FLOAT = sp.Rational(1, 10**14)
"""Relative error of an exact number that Python has computed, such as 1/120 without quotes."""
_ROUNDED = sp.Rational(1, 200)
"""Relative errors of rounding to three digits."""
