"""What all kinds of questions have: how an answer is given, and how it is marked."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from verify.grade.guarded import Unreadable


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
