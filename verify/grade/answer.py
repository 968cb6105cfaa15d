"""From the text of an answer to an expression: Python's notation or LaTeX, by a whitelist."""

from __future__ import annotations

from collections.abc import Mapping

from fedtheory.kernel.expressions import Expr
from verify.grade.guarded import LONGEST_TEXT, Unreadable
from verify.grade.latex_answer import read_latex
from verify.grade.python_answer import read_python


def read_answer(text: str, names: Mapping[str, Expr]) -> Expr:
    """The expression that an answer writes with the given names; `Unreadable`, with the reason, for anything else.

    A text with a backslash, a dollar or a brace is LaTeX, any other is Python;
    a ``^`` without them is read as LaTeX does.
    """
    if not text.strip():
        raise Unreadable("the answer is empty")
    if len(text) > LONGEST_TEXT:
        raise Unreadable(f"the answer is longer than {LONGEST_TEXT} characters")
    is_latex = any(mark in text for mark in "\\${}^")
    found = (read_latex if is_latex else read_python)(text, names)
    if not found.is_finite and found.is_finite is not None:
        raise Unreadable("the answer is infinite")
    return found
