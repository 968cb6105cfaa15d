"""Format answers as text: as submitted, and as the grader parses them."""

from __future__ import annotations

from functools import singledispatch

from fedtheory.language.exercises import (
    BoundQuestion,
    ChoiceQuestion,
    CodeQuestion,
    ExpressionQuestion,
    ManualQuestion,
    NumberQuestion,
    Question,
)
from fedtheory.language.exercises.copy_symbols import write_expression
from verify.grade.answer_limits import Unreadable
from verify.grade.answer_text import read_answer
from verify.grade.asked_formula import read_formula
from verify.grade.chosen_option import read_choice
from verify.grade.equality import compute_value
from verify.grade.plain_text import remove_controls
from verify.grade.questions import GivenAnswer

_LONGEST = 4_000


def show_submitted(question: Question, given: GivenAnswer) -> str:
    """Return the text of an answer; for a function its value for each case up to the first failure."""
    if question.cases is None:
        symbols = getattr(question, "names", {})
        return remove_controls(given.text, symbols).strip()[:_LONGEST]
    calls = zip(question.cases, given.outputs, strict=False)
    lines = (f"{question.name}({', '.join(case)}) = {output or 'None'}" for case, output in calls)
    return "\n".join(lines)[:_LONGEST]


def show_read(question: Question, given: GivenAnswer) -> str:
    """Return the answer as parsed; empty if it cannot be parsed."""
    try:
        return show_answer(question, given)
    except Unreadable:
        return ""


@singledispatch
def show_answer(question: Question, _given: GivenAnswer) -> str:
    """Return an answer as parsed; raises `Unreadable` if it cannot be parsed."""
    raise NotImplementedError(type(question).__name__)


@show_answer.register
def _show_formula(question: BoundQuestion | ExpressionQuestion, given: GivenAnswer) -> str:
    return write_expression(read_formula(question, given.text), question.names)


@show_answer.register
def _show_number(_question: NumberQuestion, given: GivenAnswer) -> str:
    answer = read_answer(given.text, {})
    value = compute_value(answer, {})
    if value is None:
        raise Unreadable(f"{given.text.strip()[:40]} is no real number")
    return f"{answer}" if answer.is_Integer else f"{answer} = {float(value):.6g}"


@show_answer.register
def _show_choice(question: ChoiceQuestion, given: GivenAnswer) -> str:
    return read_choice(question, given.text)


@show_answer.register
def _show_code(question: CodeQuestion, given: GivenAnswer) -> str:
    if len(given.outputs) < len(question.tried):
        raise Unreadable(given.trouble or f"{question.name} does not return a number on each case")
    for output in given.outputs:
        read_answer(output, {})
    return f"a function that returns a number on each of {len(question.tried)} cases"


@show_answer.register
def _show_manual(_question: ManualQuestion, given: GivenAnswer) -> str:
    return f"a text of {len(given.text.split())} words, for a person to read"
