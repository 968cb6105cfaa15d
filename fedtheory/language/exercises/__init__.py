"""Exercises of a paper: assignments, the copies for students, and the kinds of questions.

This package contains data and the texts for students; `verify.grade` grades an answer
according to the kind of its question.
"""

from fedtheory.language.exercises.assignment import CLASS, Assignment, Copy, is_student
from fedtheory.language.exercises.copy_symbols import Names, tex
from fedtheory.language.exercises.draw import Draw
from fedtheory.language.exercises.own import exercise_of, letters_of, same_for_all
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
    "CLASS",
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
    "exercise_of",
    "is_student",
    "letters_of",
    "same_for_all",
    "tex",
]
