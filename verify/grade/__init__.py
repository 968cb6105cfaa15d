"""Grading: assignments whose answers are bounds, and the marks of students' answers.

`grade_bound` compares a bound with a claim; `mark_submission` marks a whole submission; `grade_folder` grades all
submissions of a course. The cells of a notebook call `points`.
"""

from fedtheory.language.exercises import Assignment, Copy
from verify.grade.answer_limits import Unreadable
from verify.grade.answer_text import read_answer
from verify.grade.assignments import assignments, find_assignment
from verify.grade.bound import BoundFinding, grade_bound
from verify.grade.confinement import Launch, Limits, NoSandbox, find_launch
from verify.grade.exercise_checks import require_sound
from verify.grade.folder import grade_folder
from verify.grade.marking import Result, mark_submission
from verify.grade.notebook_answers import points
from verify.grade.read_back import ReadBack, read_back
from verify.grade.sandbox import run_code
from verify.grade.submission import Submission, read_submission
from verify.grade.submitted_files import left_out

__all__ = [
    "Assignment",
    "BoundFinding",
    "Copy",
    "Launch",
    "Limits",
    "NoSandbox",
    "ReadBack",
    "Result",
    "Submission",
    "Unreadable",
    "assignments",
    "find_assignment",
    "find_launch",
    "grade_bound",
    "grade_folder",
    "left_out",
    "mark_submission",
    "points",
    "read_answer",
    "read_back",
    "read_submission",
    "require_sound",
    "run_code",
]
