"""Marking a text: a person reads it."""

from __future__ import annotations

from fedtheory.language.exercises import ManualQuestion
from verify.grade.questions.mark import GivenAnswer, Mark, mark_answer, rule_of


@rule_of.register
def _rule(question: ManualQuestion) -> str:
    return "Read by a person: " + "; ".join(question.criteria) + "."


@mark_answer.register
def _mark(_question: ManualQuestion, _given: GivenAnswer) -> Mark:
    return Mark(None, "read by a person")
