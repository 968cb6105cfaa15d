"""A question whose answer is a function, tried on cases."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import sympy as sp

from verify.grade.answer import read_answer
from verify.grade.guarded import Unreadable
from verify.grade.questions.question import WRONG, Given, Mark, Question


@dataclass(frozen=True, kw_only=True)
class CodeQuestion(Question):
    """The answer is a function of rationals, tried on cases."""

    arguments: tuple[str, ...]
    tried: tuple[tuple[str, ...], ...]
    expected: tuple[str, ...]
    body: str
    """The solution's body, indented by four spaces."""

    @property
    def cases(self) -> tuple[tuple[str, ...], ...]:
        return self.tried

    @property
    def how(self) -> str:
        return f"A function `{self._head}` of exact rationals (`fractions.Fraction`), which returns one."

    @property
    def rule(self) -> str:
        return f"The share of the {len(self.tried)} cases on which the function is right."

    @property
    def _head(self) -> str:
        return f"{self.name}({', '.join(self.arguments)})"

    @property
    def start(self) -> str:
        return f"def {self._head}:\n    ..."

    @property
    def solution_cell(self) -> str:
        return f"def {self._head}:\n{self.body}"

    def mark(self, given: Given) -> Mark:
        """The share of the cases that are right."""
        if not given.outputs:
            return Mark(WRONG, given.trouble or f"{self.name} is not defined")
        right = [_is_number(text, value) for text, value in zip(given.outputs, self.expected, strict=False)]
        share = Fraction(sum(right), len(self.expected))
        if share == 1:
            return Mark(share, "right on all cases")
        told = f"right on {sum(right)} of {len(self.expected)} cases"
        wrong = next((place for place, is_right in enumerate(right) if not is_right), None)
        if wrong is None:
            return Mark(share, f"{told}; {given.trouble}")
        call = f"{self.name}({', '.join(self.tried[wrong])})"
        return Mark(share, f"{told}; {call} is {self.expected[wrong]}, not {given.outputs[wrong][:40]}")


def _is_number(text: str, value: str) -> bool:
    try:
        return bool(read_answer(text, {}) == sp.Rational(value))
    except Unreadable:
        return False
