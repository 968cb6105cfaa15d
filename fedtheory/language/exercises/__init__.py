"""What a paper can set as an exercise: assignments, the copies that students get, and the kinds of questions.

Everything here is data, and what a student is shown of it; who marks an answer
decides by the kind of its question.
"""

from fedtheory.language.exercises.assignment import Assignment, Copy
from fedtheory.language.exercises.draw import Draw
from fedtheory.language.exercises.letters import Names, tex
from fedtheory.language.exercises.questions import (
    BoundQuestion,
    ChoiceQuestion,
    CodeQuestion,
    ExpressionQuestion,
    ManualQuestion,
    NumberQuestion,
    Question,
)

__all__ = [
    "Assignment",
    "BoundQuestion",
    "ChoiceQuestion",
    "CodeQuestion",
    "Copy",
    "Draw",
    "ExpressionQuestion",
    "ManualQuestion",
    "Names",
    "NumberQuestion",
    "Question",
    "tex",
]
