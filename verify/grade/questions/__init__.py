"""Mark answers: each kind of question has a module that registers its marking and its rule."""

from verify.grade.questions import bound, choice, code, expression, manual, number
from verify.grade.questions.mark import GivenAnswer, Mark, mark_answer, rule_of

__all__ = ["KINDS", "GivenAnswer", "Mark", "mark_answer", "rule_of"]

KINDS = (bound, choice, code, expression, manual, number)
"""Importing these modules registers the kinds."""
