"""A question whose answer is a number."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import sympy as sp

from fedtheory.kernel.expressions import Expr
from verify.grade.answer import read_answer
from verify.grade.questions.question import RIGHT, WRONG, Mark, Question
from verify.grade.same import number_at


@dataclass(frozen=True, kw_only=True)
class NumberQuestion(Question):
    """The answer is a number, exact or to a relative tolerance."""

    solution: Expr
    tolerance: Fraction = Fraction(0)

    @property
    def how(self) -> str:
        exact = "exactly, as a fraction" if not self.tolerance else f"to a relative error of {float(self.tolerance):g}"
        return f'A number {exact}: `{self.name} = "3/7"`.'

    @property
    def solution_cell(self) -> str:
        return f'{self.name} = "{self.solution}"'

    def _mark(self, text: str) -> Mark:
        answer = read_answer(text, {})
        yours, right = number_at(answer, {}), number_at(self.solution, {})
        assert right is not None
        allowed = abs(right) * sp.Rational(self.tolerance) + sp.Float(10) ** -30
        if yours is not None and abs(yours - right) <= allowed:
            return Mark(RIGHT, "right")
        return Mark(WRONG, f"not right: the answer is {text.strip()[:60]}")
