"""A question whose answer is a text that a person reads."""

from __future__ import annotations

from dataclasses import dataclass, field

from verify.grade.questions.question import Given, Mark, Question


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
