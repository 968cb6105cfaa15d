"""An assignment: its questions for a given student, drawn from the student's id."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from fedtheory.errors import InputError
from fedtheory.language.exercises.draw import Draw
from fedtheory.language.exercises.questions import Question


@dataclass(frozen=True)
class Copy:
    """One student's copy."""

    student: str
    introduction: str
    """What is to be done, and what the letters of this copy mean; Markdown with LaTeX."""
    worked: str
    """A worked start, in Markdown with LaTeX."""
    questions: tuple[Question, ...]

    @property
    def points(self) -> int:
        """The points of all questions."""
        return sum(question.points for question in self.questions)


@dataclass(frozen=True)
class Assignment:
    """One assignment; `draw` makes a copy of it."""

    id: str
    title: str
    claims: tuple[str, ...]
    """Ids of the claims that it is about."""
    draw: Callable[[Draw], tuple[str, str, tuple[Question, ...]]]
    """From a student's draws to introduction, worked start and questions."""

    def copy(self, student: str) -> Copy:
        """The copy of a student; `InputError` for an id that cannot name a file."""
        if not student or not all(letter.isalnum() or letter in "-_.@" for letter in student):
            raise InputError("student", f"expected letters, digits, - _ . and @, got {student!r}")
        return Copy(student, *self.draw(Draw(self.id, student)))
