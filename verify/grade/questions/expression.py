"""Mark a formula: it must equal the solution for all values of its symbols."""

from __future__ import annotations

from collections.abc import Iterator

import sympy as sp

from fedtheory.kernel.expressions import Expr
from fedtheory.language.exercises import ExpressionQuestion
from verify.grade.asked_formula import read_formula
from verify.grade.equality import agree, are_equal, compute_value
from verify.grade.questions.mark import RIGHT, WRONG, Mark, mark_text


@mark_text.register
def _mark(question: ExpressionQuestion, text: str) -> Mark:
    answer = read_formula(question, text)
    if are_equal(answer, question.solution):
        return Mark(RIGHT, "correct: equal to the solution for all values of the symbols")
    if answer.has(*_ROUNDED) and are_equal(answer.replace(_is_rounded, lambda part: part.args[0]), question.solution):
        return Mark(None, "a person reads this answer: it is the solution, rounded to an integer")
    if agree(answer, question.solution):
        return Mark(None, "a person reads this answer: it agrees with the solution wherever both were compared")
    return Mark(WRONG, _describe_difference(question, answer))


_ROUNDED = (sp.floor, sp.ceiling)


def _is_rounded(part: Expr) -> bool:
    return isinstance(part, _ROUNDED)


def _describe_difference(question: ExpressionQuestion, answer: Expr) -> str:
    symbols = sorted(answer.free_symbols | question.solution.free_symbols, key=str)
    symbol = {value: name for name, value in question.names.items()}
    difference = ""
    for point in _list_points(symbols):
        yours, right = compute_value(answer, point), compute_value(question.solution, point)
        if right is not None and (yours is None or abs(yours - right) > abs(right) / 10**12):
            values = ", ".join(f"{symbol.get(s, s)} = {value}" for s, value in point.items())
            shown = "no real number" if yours is None else f"{float(yours):.6g}"
            seen = f"not correct: for {values} your formula gives {shown}, and it should be {float(right):.6g}"
            if right > 0:
                # Where the solution is not positive, a symbol may be outside of its range.
                return seen
            difference = difference or seen
    return difference or "not correct: it differs from the solution for some values of the symbols"


def _list_points(symbols: list[sp.Symbol]) -> Iterator[dict[sp.Symbol, sp.Rational]]:
    """Yield values at which formulas are compared: integers, then fractions for symbols below 1 such as momentum."""
    for base in (2, 3, 5):
        yield {symbol: sp.Integer(base + place) for place, symbol in enumerate(symbols)}
    for base in (2, 3, 5):
        yield {symbol: sp.Rational(1, base + place) for place, symbol in enumerate(symbols)}
