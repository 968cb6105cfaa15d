"""The kinds of questions: what each asks for, how it is answered, and how an answer is marked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache

import sympy as sp

from fedtheory.claim import Claim
from fedtheory.expressions import Expr, latex
from verify.grade.answer import read_answer
from verify.grade.bound import BoundFinding, grade_bound
from verify.grade.guarded import Unreadable
from verify.grade.rule import BOUND_RULE
from verify.grade.same import are_equal, number_at

Names = Mapping[str, Expr]
"""The letters of a copy, and what each stands for."""


@dataclass(frozen=True)
class Given:
    """What a student gives for one question."""

    text: str = ""
    """The answer as text; empty where there is none."""
    outputs: tuple[str, ...] = ()
    """What a function returned for each case, as far as it got."""
    trouble: str | None = None
    """What went wrong when the code was run."""


@dataclass(frozen=True)
class Mark:
    """The points of one answer, and what the student is told."""

    share: Fraction | None
    """None where a person has to read the answer."""
    comment: str
    run_file: str | None = None
    """A run that refutes the answer."""


RIGHT, WRONG = Fraction(1), Fraction(0)


@dataclass(frozen=True, kw_only=True)
class Question:
    """What all questions have; `name` is the variable that the student assigns."""

    name: str
    title: str
    text: str
    """The statement, in Markdown with LaTeX."""
    points: int

    @property
    def cases(self) -> tuple[tuple[str, ...], ...] | None:
        """The arguments that a function is tried on; None where the answer is no function."""
        return None

    @property
    def how(self) -> str:
        """How the answer is written."""
        raise NotImplementedError

    @property
    def rule(self) -> str:
        """How points are given, for the rubric."""
        return "All points for the right answer, otherwise none."

    @property
    def start(self) -> str:
        """The cell that the student completes."""
        return f'{self.name} = ""'

    @property
    def solution_cell(self) -> str:
        """The same cell with the solution."""
        raise NotImplementedError

    def mark(self, given: Given) -> Mark:
        """Mark an answer."""
        if not given.text.strip():
            return Mark(WRONG, given.trouble or f"{self.name} has no answer")
        try:
            return self._mark(given.text)
        except Unreadable as reason:
            return Mark(WRONG, f"the answer cannot be read: {reason}")

    def _mark(self, text: str) -> Mark:
        raise NotImplementedError


def tex(letter: str) -> str:
    """A letter of a copy in LaTeX."""
    return str(sp.latex(sp.Symbol(letter)))


def written(expression: Expr, names: Names) -> str:
    """An expression in Python's notation, with the letters of a copy."""
    return str(_lettered(expression, names))


def typeset(expression: Expr, names: Names) -> str:
    """An expression in LaTeX, with the letters of a copy."""
    return latex(_lettered(expression, names))


def _lettered(expression: Expr, names: Names) -> Expr:
    letters = {value: sp.Symbol(name, positive=True) for name, value in names.items()}
    return sp.sympify(expression).xreplace(letters)


@dataclass(frozen=True, kw_only=True)
class ExpressionQuestion(Question):
    """The answer is a formula, right if it is the same number for all values of its letters."""

    solution: Expr
    names: Names

    @property
    def how(self) -> str:
        letters = ", ".join(f"`{name}`" for name in sorted(self.names))
        return f"A formula as a string, in Python's notation or in LaTeX, with the letters {letters}."

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


@dataclass(frozen=True, kw_only=True)
class ChoiceQuestion(Question):
    """The answer is the letter of one of the options."""

    options: tuple[str, ...]
    solution: str
    """The right option itself."""
    why: str

    @property
    def letter(self) -> str:
        """The letter of the right option."""
        return "abcdefgh"[self.options.index(self.solution)]

    @property
    def listed(self) -> str:
        """The options with their letters, in Markdown."""
        return "\n".join(f"- **{'abcdefgh'[place]})** {option}" for place, option in enumerate(self.options))

    @property
    def how(self) -> str:
        return f'The letter of one option: `{self.name} = "a"`.'

    @property
    def solution_cell(self) -> str:
        return f'{self.name} = "{self.letter}"  # {self.why}'

    def _mark(self, text: str) -> Mark:
        given = text.strip().strip("()").lower()
        if given not in list("abcdefgh"[: len(self.options)]):
            raise Unreadable(f"expected one letter of {', '.join('abcdefgh'[: len(self.options)])}")
        return Mark(RIGHT, f"right: {self.why}") if given == self.letter else Mark(WRONG, f"not right: {self.why}")


@dataclass(frozen=True, kw_only=True)
class BoundQuestion(Question):
    """The answer is an upper bound for the left side of a claim."""

    claim: Claim
    names: Names

    @property
    def how(self) -> str:
        letters = ", ".join(f"`{name}`" for name in sorted(self.names))
        return f"A bound as a string, in Python's notation or in LaTeX, with the letters {letters}."

    @property
    def rule(self) -> str:
        return BOUND_RULE

    @property
    def solution_cell(self) -> str:
        return f'{self.name} = "{written(self.claim.relations[0].right, self.names)}"'

    def _mark(self, text: str) -> Mark:
        found = _finding(self.claim, read_answer(text, self.names))
        return Mark(found.share, _in_words(found), found.run_file)


_SEARCHING = 1.5
"""Seconds of search for one bound: a hundred different ones on two cores take little more than a minute."""


@lru_cache(maxsize=1024)
def _finding(claim: Claim, answer: Expr) -> BoundFinding:
    """Kept, because many students give the same answer."""
    return grade_bound(claim, answer, _SEARCHING)


def _in_words(found: BoundFinding) -> str:
    if found.standing == "equal":
        return f"right: {found.reason}"
    if found.standing == "refuted":
        units = "" if found.right_units else "; besides, its terms do not all have the units of the left side"
        sides = f"there the left side is {found.lhs}, your bound {found.rhs}"
        again = "save the run below as run.toml and try `fedtheory simulate run.toml`"
        return f"not a bound: {found.reason}; {sides}{units}; {again}"
    if found.standing == "not applicable":
        return f"the bound cannot be evaluated: {found.reason}"
    size = "" if found.excess is None else f"; it is up to {found.excess:.3g} times the reference"
    attained = "" if found.tightness is None else f"; the left side reaches {100 * found.tightness:.3g} % of it"
    return f"valid: {found.reason}{size}{attained}"


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


@dataclass(frozen=True, kw_only=True)
class ManualQuestion(Question):
    """The answer is a text that a person reads, such as a proof."""

    solution: str
    criteria: tuple[str, ...] = field(default=())

    @property
    def how(self) -> str:
        return "A text, in Markdown with LaTeX; it is read by a person."

    @property
    def rule(self) -> str:
        return "Read by a person: " + "; ".join(self.criteria) + "."

    @property
    def start(self) -> str:
        return "*Write your answer here.*"

    @property
    def solution_cell(self) -> str:
        return self.solution

    def mark(self, given: Given) -> Mark:  # noqa: ARG002
        """Nothing without a person."""
        return Mark(None, "read by a person")
