"""Read the questions of an exercise from a student's file, if only the instructor has the exercise."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence

import sympy as sp

from fedtheory.errors import InputError
from fedtheory.language.exercises import ExpressionQuestion, Question
from verify.grade.assignments import assignments
from verify.grade.submission import Submission

_COMMENT = re.compile(r"^[ \t]*#[ \t]?", re.MULTILINE)
_FORMULA = re.compile(r"using only the symbols ((?:`\w+`[,\s]*)+)\.\s.*?^(\w+)[ \t]*=", re.MULTILINE | re.DOTALL)
_NUMBER = re.compile(r"(?:as\s+a\s+string|correct\s+to\s+\S+\s+%):\s+`(\w+)\s+=")
_CELL = re.compile(r"\bcheck_answers\(.*?(\{.*\})\)", re.DOTALL)


def read_questions(submission: Submission) -> list[Question]:
    """Return the questions for formulas and numbers in a file; raises `InputError` for a file without questions."""
    by_question = _read_symbols_in_cell(submission.handout) or _read_symbols_in_comments(submission.handout)
    if not by_question:
        raise InputError(
            "assignment",
            f"expected a file with the questions of its handout, or one of {', '.join(assignments())}; "
            f"got {submission.assignment!r}: keep the comments of the handout, or add --assignment my_exercise.py",
        )
    return build_questions(by_question)


def build_questions(by_question: Mapping[str, Sequence[str]]) -> list[Question]:
    """Return questions for formulas or numbers in the given symbols."""
    return [
        ExpressionQuestion(
            name=name,
            title="",
            text="",
            points=0,
            solution=sp.S.Zero,
            names={symbol: sp.Symbol(symbol, positive=True) for symbol in symbols},
        )
        for name, symbols in by_question.items()
    ]


def _read_symbols_in_comments(handout: str) -> dict[str, list[str]]:
    """Return the symbols of each question of a Python file, in the order of the file."""
    text = _COMMENT.sub("", handout)
    found = [(part.start(), part[2], re.findall(r"\w+", part[1])) for part in _FORMULA.finditer(text)]
    found += [(part.start(), part[1], []) for part in _NUMBER.finditer(text)]
    return {name: symbols for _, name, symbols in sorted(found)}


def _read_symbols_in_cell(handout: str) -> dict[str, list[str]]:
    """Return the symbols of each question of a notebook, from the cell that checks answers."""
    cell = _CELL.search(handout)
    try:
        found = json.loads(cell[1]) if cell else {}
    except ValueError:
        return {}
    return {name: symbols for name, symbols in found.items() if isinstance(symbols, list)}
