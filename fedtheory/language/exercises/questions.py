"""The kinds of questions: the expected answer, its format, and its solution."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Self

from fedtheory.kernel.expressions import Expr
from fedtheory.language.claim import Claim
from fedtheory.language.exercises.copy_symbols import Names, describe_format, rename_for_copy, write_expression
from fedtheory.language.meaning_latex import typeset_meaning
from fedtheory.language.typesetting import latex


@dataclass(frozen=True, kw_only=True)
class Question(ABC):
    """Fields of all questions; `name` is the variable that the student assigns."""

    name: str
    title: str
    text: str
    """The statement, in Markdown with LaTeX."""
    points: int

    @classmethod
    def worth(cls, points: int, name: str, title: str) -> partial[Self]:
        """Return a constructor of questions with these fields.

        Example: ``worth(3, "rate", "The rate")(text=..., solution=...)``.
        """
        return partial(cls, points=points, name=name, title=title)

    @property
    def option_list(self) -> str:
        """Return the text below the statement, in Markdown."""
        return ""

    @property
    def statement(self) -> str:
        """The question as students see it: its text, then its options or conditions."""
        return "\n\n".join(part for part in (self.text, self.option_list) if part)

    @property
    def cases(self) -> tuple[tuple[str, ...], ...] | None:
        """Arguments on which a function is tested; None if the answer is no function."""
        return None

    @property
    @abstractmethod
    def how(self) -> str:
        """Describe the format of the answer."""

    @property
    def start(self) -> str:
        """The cell that the student completes."""
        return f'{self.name} = ""'

    @property
    @abstractmethod
    def solution_cell(self) -> str:
        """Return the cell with the solution."""


@dataclass(frozen=True, kw_only=True)
class BoundQuestion(Question):
    """The answer is an upper bound for the left side of a claim."""

    claim: Claim
    names: Names

    @property
    def option_list(self) -> str:
        """Return the conditions under which the bound has to hold, in the symbols of the copy."""
        symbols = rename_for_copy(self.names)
        conditions = [f"${latex(condition.xreplace(symbols))}$" for condition in self.claim.conditions]
        if not conditions:
            return ""
        return f"The bound has to hold for {' and '.join(conditions)}.{''.join(self._meanings())}"

    def _meanings(self) -> Iterator[str]:
        """Yield the meanings of symbols in conditions that answers do not use."""
        used = set().union(*(condition.free_symbols for condition in self.claim.conditions))
        for symbol in sorted(used - set(self.names.values()), key=str):
            if symbol in self.claim.where:
                yield f" Here ${latex(symbol)}$ is: {typeset_meaning(self.claim.where[symbol].meaning, '$', '$')}."

    @property
    def how(self) -> str:
        return describe_format("bound", self.names)

    @property
    def solution_cell(self) -> str:
        return f'{self.name} = "{write_expression(self.claim.relations[0].right, self.names)}"'


@dataclass(frozen=True, kw_only=True)
class ChoiceQuestion(Question):
    """The answer is the character of one of the options."""

    options: tuple[str, ...]
    solution: str
    """The right option itself."""
    why: str

    @property
    def letters(self) -> str:
        """The characters of the options, in order."""
        return "abcdefgh"[: len(self.options)]

    @property
    def letter(self) -> str:
        """The character of the right option."""
        return self.letters[self.options.index(self.solution)]

    @property
    def option_list(self) -> str:
        """Return the options with their characters."""
        return "\n".join(f"- **{letter})** {option}" for letter, option in zip(self.letters, self.options, strict=True))

    @property
    def how(self) -> str:
        return f'The letter of one option: `{self.name} = "a"`.'

    @property
    def solution_cell(self) -> str:
        return f'{self.name} = "{self.letter}"  # {self.why}'


@dataclass(frozen=True, kw_only=True)
class CodeQuestion(Question):
    """The answer is a function of rationals, tested on cases."""

    arguments: tuple[str, ...]
    tried: tuple[tuple[str, ...], ...]
    expected: tuple[str, ...]
    body: str
    """The body of the solution, indented by four spaces."""

    @property
    def cases(self) -> tuple[tuple[str, ...], ...]:
        return self.tried

    @property
    def how(self) -> str:
        return f"A function `{self._head}` of exact rationals (`fractions.Fraction`), which returns one."

    @property
    def start(self) -> str:
        return f"def {self._head}:\n    ..."

    @property
    def solution_cell(self) -> str:
        return f"def {self._head}:\n{self.body}"

    @property
    def _head(self) -> str:
        return f"{self.name}({', '.join(self.arguments)})"


@dataclass(frozen=True, kw_only=True)
class ExpressionQuestion(Question):
    """The answer is a formula, which must equal the solution for all values of its symbols."""

    solution: Expr
    names: Names

    @property
    def how(self) -> str:
        return describe_format("formula", self.names)

    @property
    def solution_cell(self) -> str:
        return f'{self.name} = "{write_expression(self.solution, self.names)}"'


@dataclass(frozen=True, kw_only=True)
class ManualQuestion(Question):
    """The answer is a text that a person grades, such as a proof."""

    solution: str
    criteria: tuple[str, ...] = ()

    @property
    def how(self) -> str:
        return "A text, in Markdown with LaTeX; it is read by a person."

    @property
    def start(self) -> str:
        return "*Write your answer here.*"

    @property
    def solution_cell(self) -> str:
        return self.solution


@dataclass(frozen=True, kw_only=True)
class NumberQuestion(Question):
    """The answer is a number, exact or up to a relative tolerance."""

    solution: Expr
    tolerance: Fraction = Fraction(0)

    @property
    def how(self) -> str:
        if not self.tolerance:
            return f'An integer or an exact fraction, as a string: `{self.name} = "3/7"`.'
        return (
            f'A number, correct to {float(100 * self.tolerance):g} %: `{self.name} = "0.123"` or `{self.name} = "3/7"`.'
        )

    @property
    def solution_cell(self) -> str:
        return f'{self.name} = "{self.solution}"'
