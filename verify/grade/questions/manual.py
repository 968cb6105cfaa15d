"""Mark a text: a person reads it."""

from __future__ import annotations

from fedtheory.language.exercises import ManualQuestion
from verify.grade.questions.mark import GivenAnswer, Mark, describe_rule, mark_answer

READ_BY_A_PERSON = "read by a person"


@describe_rule.register
def _describe_rule(question: ManualQuestion) -> str:
    return "Read by a person: " + "; ".join(question.criteria) + "."


@mark_answer.register
def _mark(_question: ManualQuestion, _given: GivenAnswer) -> Mark:
    return Mark(None, READ_BY_A_PERSON)
