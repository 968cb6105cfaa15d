"""The kinds of questions, one file each: what each asks for, how it is answered, and how an answer is marked."""

from verify.grade.questions.bound import BoundQuestion
from verify.grade.questions.choice import ChoiceQuestion
from verify.grade.questions.code import CodeQuestion
from verify.grade.questions.expression import ExpressionQuestion
from verify.grade.questions.letters import Names, tex
from verify.grade.questions.manual import ManualQuestion
from verify.grade.questions.number import NumberQuestion
from verify.grade.questions.question import Given, Mark, Question

__all__ = [
    "BoundQuestion",
    "ChoiceQuestion",
    "CodeQuestion",
    "ExpressionQuestion",
    "Given",
    "ManualQuestion",
    "Mark",
    "Names",
    "NumberQuestion",
    "Question",
    "tex",
]
