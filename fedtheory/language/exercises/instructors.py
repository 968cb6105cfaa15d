"""Instructors' exercises: a Python file with an `Assignment`, executed and checked before students get it.

The instructor's file is executed with all rights; submissions of students are not.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import sympy as sp

from fedtheory.errors import InputError
from fedtheory.kernel.expressions import Expr
from fedtheory.language.claim import Claim
from fedtheory.language.exercises.assignment import Assignment
from fedtheory.language.exercises.copy_symbols import Names
from fedtheory.language.exercises.draw import Draw
from fedtheory.language.exercises.questions import (
    BoundQuestion,
    ChoiceQuestion,
    CodeQuestion,
    ExpressionQuestion,
    NumberQuestion,
    Question,
)
from fedtheory.language.targets import resolve
from fedtheory.language.wellformed import require_wellformed
from fedtheory.runfile.loading import join_lines, load_file

_ID = re.compile(r"[A-Za-z0-9_-]{1,60}")
Drawn = tuple[str, str, tuple[Question, ...]]
"""Introduction, worked beginning and questions of a copy."""


def same_for_all(introduction: str, questions: Sequence[Question], worked: str = "") -> Callable[[Draw], Drawn]:
    """Return the `draw` function of an assignment whose copies are all equal."""
    return lambda _draw: (introduction, worked, tuple(questions))


def letters_of(*symbols: sp.Symbol) -> Names:
    """Return the symbols of a question whose copies use the claim's own names."""
    return {str(symbol): symbol for symbol in symbols}


def exercise_of(path: Path) -> Assignment:
    """Return the assignment that a file defines; an `InputError` names the file, the question and what was expected."""
    found = [value for value in vars(load_file(path)).values() if isinstance(value, Assignment)]
    if len(found) != 1:
        expected = "expected one Assignment, of fedtheory.exercises"
        raise InputError("", f"{expected}; the file defines {len(found) or 'none'}", str(path))
    (assignment,) = found
    try:
        name, title, draw = assignment.id, assignment.title, assignment.draw
        _expect("id", name, isinstance(name, str) and bool(_ID.fullmatch(name)), "letters, - and _")
        _expect("title", title, isinstance(title, str), "a text")
        _expect("draw", draw, callable(draw), "a function, such as same_for_all(...)")
    except InputError as error:
        raise error.in_file(str(path)) from None
    return replace(assignment, draw=_check_draws(draw, path), file=str(path.resolve()))


def _check_draws(draw: Callable[[Draw], Any], path: Path) -> Callable[[Draw], Drawn]:
    def checked(of: Draw) -> Drawn:
        with join_lines(path):
            drawn = draw(of)
            _check_copy(drawn)
            introduction, worked, questions = drawn
            # The claim of a question about a bound gets the default setting that it assumes.
            complete = [replace(q, claim=resolve(q.claim)) if isinstance(q, BoundQuestion) else q for q in questions]
            return introduction, worked, tuple(complete)

    return checked


def _check_copy(drawn: Any) -> None:
    """Raise `InputError` unless `draw` returns an introduction, a worked beginning and questions."""
    expected = "an introduction, a worked start and questions"
    _expect("draw", drawn, isinstance(drawn, tuple) and len(drawn) == 3, expected)
    introduction, worked, questions = drawn
    _expect("introduction", introduction, isinstance(introduction, str), "a text")
    _expect("worked", worked, isinstance(worked, str), "a text")
    _expect("questions", questions, isinstance(questions, Sequence) and len(questions) > 0, "a list of questions")
    for question in questions:
        _expect("questions", question, isinstance(question, Question), "questions of fedtheory.exercises")
        for name, value, holds, wanted in chain(_list_common_checks(question), _check_question(question)):
            _expect(f"{question.name}.{name}", value, holds, wanted)
    names = [question.name for question in questions]
    _expect("questions", names, len(set(names)) == len(names), "different names")


_Checks = Iterator[tuple[str, object, bool, str]]


def _list_common_checks(question: Question) -> _Checks:
    """Yield the checks of the fields that all kinds of questions have."""
    name, points = question.name, question.points
    yield "name", name, isinstance(name, str) and name.isidentifier(), "the name of a Python variable"
    yield "title", question.title, isinstance(question.title, str), "a text"
    yield "text", question.text, isinstance(question.text, str), "a text"
    yield "points", points, isinstance(points, int) and points >= 0, "a whole number from zero on"


def _check_question(question: Question) -> _Checks:
    """Yield the checks of a question's fields: name, value, validity, and the expected value."""
    if isinstance(question, BoundQuestion):
        yield from _check_bound(question)
    if isinstance(question, ExpressionQuestion):
        yield "solution", question.solution, _is_number(question.solution), "a SymPy expression"
        yield "names", question.names, _are_symbols(question.names, question.solution), _SYMBOLS
    if isinstance(question, NumberQuestion):
        solution = question.solution
        is_value = _is_number(solution) and bool(sp.sympify(solution).is_number)
        yield "solution", solution, is_value, "an exact number, such as sympy.Rational(1, 2)"
    if isinstance(question, ChoiceQuestion):
        yield "options", question.options, 2 <= len(question.options) <= 8, "two to eight options"
        yield "solution", question.solution, question.solution in question.options, "the text of one of the options"
    if isinstance(question, CodeQuestion):
        fits = len(question.tried) == len(question.expected) > 0
        yield "expected", question.expected, fits, "one value for each case that is tried"


_SYMBOLS = "a dictionary from the names in the solution to their symbols, such as letters_of(eta, tau)"


def _check_bound(question: BoundQuestion) -> _Checks:
    claim = question.claim
    yield "claim", claim, isinstance(claim, Claim), "a Claim"
    require_wellformed(claim)
    is_bound = len(claim.relations) == 1 and claim.relation == "<=" and claim.lhs is not None
    yield "claim", claim.id, is_bound, "a Claim of the form lhs <= rhs"
    yield "names", question.names, _are_symbols(question.names, claim.relations[0].right), _SYMBOLS


def _is_number(value: object) -> bool:
    return isinstance(value, int | sp.Expr) and not isinstance(value, bool)


def _are_symbols(names: object, solution: Expr) -> bool:
    if not isinstance(names, Mapping):
        return False
    are_symbols = all(isinstance(n, str) and isinstance(s, sp.Symbol) for n, s in names.items())
    return are_symbols and sp.sympify(solution).free_symbols <= set(names.values())


def _expect(field: str, given: object, holds: bool, expected: str) -> None:
    if not holds:
        raise InputError(field, f"expected {expected}, got {str(given)[:60]!r}")
