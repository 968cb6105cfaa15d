"""An assignment: its questions for a given student, chosen at random by the student's id."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

from fedtheory.errors import InputError
from fedtheory.language.exercises.copy_symbols import remove_needless_braces
from fedtheory.language.exercises.draw import Draw
from fedtheory.language.exercises.questions import Question

CLASS = "class"
"""The id of the copy that a whole class shares."""
_LONGEST_ID = 80

Level = Literal["introductory", "intermediate", "advanced"]
"""Introductory: algebra and calculus. Intermediate: a lemma on convex functions. Advanced: a whole theorem or proof."""


def is_student(name: str) -> bool:
    """Return whether a text can name a student, a file and a copy.

    Allowed are characters a to z, digits, - _ . @ and inner blanks.
    """
    fits = all(character.isalnum() or character in "-_.@ " for character in unicodedata.normalize("NFC", name))
    return fits and 0 < len(name) <= _LONGEST_ID and name == name.strip() and any(map(str.isalnum, name))


@dataclass(frozen=True)
class Copy:
    """One student's copy of an assignment."""

    student: str
    introduction: str
    """Task, and the meaning of this copy's symbols; Markdown with LaTeX."""
    worked: str
    """The worked beginning of a solution, in Markdown with LaTeX."""
    questions: tuple[Question, ...]

    @property
    def points(self) -> int:
        """The sum of the points of all questions."""
        return sum(question.points for question in self.questions)


@dataclass(frozen=True)
class Assignment:
    """An assignment; `draw` makes a copy of it."""

    id: str
    title: str
    claims: tuple[str, ...]
    """Ids of the claims that the assignment is about."""
    draw: Callable[[Draw], tuple[str, str, tuple[Question, ...]]]
    """Function from a student's random choices to introduction, worked beginning and questions."""
    file: str | None = None
    """The file of an instructor's exercise; None for those of the papers."""
    level: Level | None = None
    """The level of difficulty; None if it is not stated."""

    @property
    def source(self) -> str:
        """The key of the source of its first claim; empty without a claim."""
        return self.claims[0].partition(":")[0] if self.claims else ""

    @property
    def target(self) -> str:
        """Return the name that resolves to the assignment: its file, or its id."""
        return self.file or self.id

    def copy(self, student: str) -> Copy:
        """Return the copy of a student; raise `InputError` for an id that cannot name a file."""
        if not is_student(student):
            raise InputError("student", f"expected letters, digits, - _ . @ and spaces inside, got {student[:80]!r}")
        composed = unicodedata.normalize("NFC", student)
        introduction, worked, questions = self.draw(Draw(self.id, composed))
        typeset = (replace(question, text=remove_needless_braces(question.text)) for question in questions)
        return Copy(composed, remove_needless_braces(introduction), remove_needless_braces(worked), tuple(typeset))
