"""Read the formula that answers a question; norms and differences become the question's symbols for them."""

from __future__ import annotations

import re
from collections.abc import Iterator

import sympy as sp

from fedtheory.kernel.expressions import Expr
from fedtheory.language.exercises import BoundQuestion, ExpressionQuestion
from fedtheory.language.quantities import initial_distance, initial_gap
from verify.grade.answer_text import read_answer
from verify.grade.plain_text import is_latex

_POINT = r"(?:\\bar\s*|\\mathbf\s*)?\{?\s*(?:[A-Za-z]|\\theta|θ|x̄)\s*\}?"
_START = rf"{_POINT}\s*[_^]?\s*\{{?\s*\(?\s*[0⁰₀](?:\s*,\s*0)?\s*\)?\s*\}}?"
_STAR = r"[_^]?\s*\{?\s*(?:\*|\\star|\\ast|∗|⋆|opt)\s*\}?"
_BEST = rf"{_POINT}\s*{_STAR}"
_MINUS = r"\s*[-−–]\s*"
_PAIR = rf"\s*(?:{_START}{_MINUS}{_BEST}|{_BEST}{_MINUS}{_START})\s*"
_SIZE = r"(?:\\(?:left|right|[bB]igg?[lr]?)\s*)?"
_BAR = rf"{_SIZE}(?:\\\||\\[lr]?Vert(?![A-Za-z])|‖|\|\|)"
_DISTANCE = re.compile(rf"{_BAR}{_PAIR}{_BAR}(?:_2(?!\d))?|\\norm\s*\{{{_PAIR}\}}")
_OPEN, _CLOSE = rf"{_SIZE}\(\s*", rf"\s*{_SIZE}\)"
_GAP = re.compile(rf"([Ff])\s*{_OPEN}{_START}{_CLOSE}{_MINUS}\1\s*(?:{_STAR}|{_OPEN}{_BEST}{_CLOSE})")


def read_formula(question: BoundQuestion | ExpressionQuestion, text: str) -> Expr:
    r"""Return an answer as an expression; in a bound, ``\|x^0-x^*\|`` and ``f(x^0)-f^*`` become the claim's symbols."""
    for pattern, name in _list_symbol_texts(question):
        symbol = str(sp.latex(sp.Symbol(name))) if is_latex(text) else name
        text = pattern.sub(lambda _found, symbol=symbol: f" ({symbol}) ", text)  # type: ignore[misc]
    return read_answer(text, question.names)


def _list_symbol_texts(question: BoundQuestion | ExpressionQuestion) -> Iterator[tuple[re.Pattern[str], str]]:
    """List the texts that stand for a symbol of the question, each with its name."""
    if isinstance(question, BoundQuestion):
        names = {symbol: name for name, symbol in question.names.items()}
        for symbol, quantity in question.claim.where.items():
            for pattern, meant in ((_DISTANCE, initial_distance), (_GAP, initial_gap)):
                if quantity == meant and symbol in names:
                    yield pattern, names[symbol]
