"""A question whose answer is one of several options."""

from __future__ import annotations

from dataclasses import dataclass

from verify.grade.guarded import Unreadable
from verify.grade.questions.question import RIGHT, WRONG, Mark, Question

_LETTERS = "abcdefgh"


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
        return _LETTERS[self.options.index(self.solution)]

    @property
    def listed(self) -> str:
        """The options with their letters, in Markdown."""
        return "\n".join(f"- **{_LETTERS[place]})** {option}" for place, option in enumerate(self.options))

    @property
    def how(self) -> str:
        return f'The letter of one option: `{self.name} = "a"`.'

    @property
    def solution_cell(self) -> str:
        return f'{self.name} = "{self.letter}"  # {self.why}'

    def _mark(self, text: str) -> Mark:
        given = text.strip().strip("()").lower()
        letters = list(_LETTERS[: len(self.options)])
        if given not in letters:
            raise Unreadable(f"expected one letter of {', '.join(letters)}")
        return Mark(RIGHT, f"right: {self.why}") if given == self.letter else Mark(WRONG, f"not right: {self.why}")
