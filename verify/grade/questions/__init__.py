"""Marking of answers, a file for each kind of question, which registers its marking and its rule."""

from verify.grade.questions import bound, choice, code, expression, manual, number
from verify.grade.questions.mark import GivenAnswer, Mark, mark_answer, rule_of

__all__ = ["KINDS", "GivenAnswer", "Mark", "mark_answer", "rule_of"]

KINDS = (bound, choice, code, expression, manual, number)
"""Importing them is what registers the kinds."""
