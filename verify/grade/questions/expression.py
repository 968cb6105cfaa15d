"""A question whose answer is a formula."""

from __future__ import annotations

from dataclasses import dataclass

import sympy as sp

from fedtheory.kernel.expressions import Expr
from verify.grade.answer import read_answer
from verify.grade.questions.letters import Names, how_written, written
from verify.grade.questions.question import RIGHT, WRONG, Mark, Question
from verify.grade.same import are_equal, number_at


@dataclass(frozen=True, kw_only=True)
class ExpressionQuestion(Question):
    """The answer is a formula, right if it is the same number for all values of its letters."""

    solution: Expr
    names: Names

    @property
    def how(self) -> str:
        return how_written("formula", self.names)

    @property
    def solution_cell(self) -> str:
        return f'{self.name} = "{written(self.solution, self.names)}"'

    def _mark(self, text: str) -> Mark:
        answer = read_answer(text, self.names)
        if are_equal(answer, self.solution):
            return Mark(RIGHT, "right: it is the same for all values of the letters")
        return Mark(WRONG, self._difference(answer))

    def _difference(self, answer: Expr) -> str:
        symbols = sorted(answer.free_symbols | self.solution.free_symbols, key=str)
        letter = {value: name for name, value in self.names.items()}
        for base in (2, 3, 5):
            point = {symbol: sp.Integer(base + place) for place, symbol in enumerate(symbols)}
            yours, right = number_at(answer, point), number_at(self.solution, point)
            if right is not None and (yours is None or abs(yours - right) > abs(right) / 10**12):
                values = ", ".join(f"{letter.get(s, s)} = {value}" for s, value in point.items())
                shown = "no real number" if yours is None else f"{float(yours):.6g}"
                return f"not right: for {values} your formula is {shown}, and it should be {float(right):.6g}"
        return "not right: it differs from the solution for some values of the letters"
