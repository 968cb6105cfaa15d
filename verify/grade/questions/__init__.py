"""Mark answers: each kind of question has a module that registers its marking and its rule."""

from verify.grade.questions import bound, choice, code, expression, manual, number
from verify.grade.questions.mark import GivenAnswer, Mark, describe_rule, mark_answer

__all__ = ["KINDS", "GivenAnswer", "Mark", "describe_rule", "mark_answer"]

KINDS = (bound, choice, code, expression, manual, number)
"""Importing these modules registers the kinds."""
