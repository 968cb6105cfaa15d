"""Exercises of a paper: assignments, the copies for students, and the kinds of questions.

This package contains data and the texts for students; `verify.grade` grades an answer
according to the kind of its question.
"""

from fedtheory.language.exercises.assignment import CLASS as CLASS
from fedtheory.language.exercises.assignment import Assignment as Assignment
from fedtheory.language.exercises.assignment import Copy as Copy
from fedtheory.language.exercises.assignment import is_student as is_student
from fedtheory.language.exercises.copy_symbols import Names as Names
from fedtheory.language.exercises.copy_symbols import tex as tex
from fedtheory.language.exercises.draw import Draw as Draw
from fedtheory.language.exercises.instructors import exercise_of as exercise_of
from fedtheory.language.exercises.instructors import letters_of as letters_of
from fedtheory.language.exercises.instructors import same_for_all as same_for_all
from fedtheory.language.exercises.questions import BoundQuestion as BoundQuestion
from fedtheory.language.exercises.questions import ChoiceQuestion as ChoiceQuestion
from fedtheory.language.exercises.questions import CodeQuestion as CodeQuestion
from fedtheory.language.exercises.questions import ExpressionQuestion as ExpressionQuestion
from fedtheory.language.exercises.questions import ManualQuestion as ManualQuestion
from fedtheory.language.exercises.questions import NumberQuestion as NumberQuestion
from fedtheory.language.exercises.questions import Question as Question
