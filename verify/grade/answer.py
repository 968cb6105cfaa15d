"""From the text of an answer to an expression: Python's notation or LaTeX, by a whitelist."""

from __future__ import annotations

import re
from collections.abc import Mapping

from fedtheory.kernel.expressions import Expr
from verify.grade.guarded import FUNCTIONS, LONGEST_TEXT, Ambiguous, Guarded, NoExpression, UnknownSymbol, Unreadable
from verify.grade.latex_answer import read_latex
from verify.grade.plain_text import TIGHT, as_latex, is_latex, write_in_ascii
from verify.grade.products import separate_symbols
from verify.grade.python_answer import read_python

_NORM = re.compile(r"\\\||\\[lr]?Vert(?![A-Za-z])|\\norm(?![A-Za-z])|‖|\|\|")
_WORD = re.compile(r"[A-Za-z]+(?:_\w+)?")
_ORDER = re.compile(
    r"(?<![A-Za-z])(?:\\(?:mathcal|tilde|mathrm)\s*\{?\s*|\\)*(O|o|Theta|Omega|Θ|Ω|𝒪)\s*\}*\s*(?:\\left\s*)?[(\[]"
)
"""The order of a formula, without its constants."""
_RIGHT_SIDE = re.compile(r"<=|>=|=|≤|\\leq?(?![A-Za-z])")


def read_answer(text: str, names: Mapping[str, Expr]) -> Expr:
    """The expression that an answer writes with the given names; `Unreadable`, with the reason, for anything else.

    A text with a backslash, a dollar or a brace is LaTeX, any other is Python, in
    which ``^`` is a power and the sign of a product may be left out.
    """
    if not text.strip():
        raise Unreadable("the answer is empty")
    if len(text) > LONGEST_TEXT:
        raise Unreadable(f"the answer is longer than {LONGEST_TEXT} characters")
    order = _ORDER.search(text)
    if order and order[1] not in names:
        raise UnknownSymbol(f"an order such as {order[1]}(...) leaves the constants open: write the formula with them")
    plain = write_in_ascii(text, names)
    try:
        found = _read_notation(plain, names)
    except Ambiguous:
        raise
    except Unreadable:
        if _NORM.search(_RIGHT_SIDE.split(text)[-1]):
            known = ", ".join(sorted(names)) or "none"
            reason = f"a norm is not read: write the symbol that the question has for it, of {known}"
            raise UnknownSymbol(reason) from None
        raise
    if not found.is_finite and found.is_finite is not None:
        raise Unreadable("the answer is infinite")
    return found


def _read_notation(text: str, names: Mapping[str, Expr]) -> Expr:
    if is_latex(text):
        return read_latex(as_latex(text), names)
    text = separate_symbols(text, names)
    try:
        return read_python(text.replace("^", "**").replace(TIGHT, " "), names)
    except NoExpression as reason:
        try:
            return read_latex(as_latex(text), names)
        except Ambiguous:
            raise
        except UnknownSymbol:
            _require_known_word(text, names)
            raise reason from None
        except Unreadable:
            raise reason from None


def _require_known_word(text: str, names: Mapping[str, Expr]) -> None:
    """Raise `UnknownSymbol` where one word of a formula, or some letters, are no symbols; more words are a sentence."""
    words = {word for word in _WORD.findall(text) if word not in names and word not in FUNCTIONS}
    unknown = sorted(word for word in words if not all(part in names for part in word))
    if len(unknown) == 1 or (unknown and all(len(word) == 1 for word in unknown)):
        Guarded(names).name(unknown[0])
