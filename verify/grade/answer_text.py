"""Parse the text of an answer to an expression: Python's notation or LaTeX, by a whitelist."""

from __future__ import annotations

import re
from collections.abc import Mapping

import sympy as sp

from fedtheory.kernel.expressions import Expr
from verify.grade.answer_limits import (
    FUNCTIONS,
    LONGEST_TEXT,
    Ambiguous,
    Guarded,
    NoExpression,
    NoValue,
    UnknownSymbol,
    Unreadable,
)
from verify.grade.answer_sides import split_sides, unwrap
from verify.grade.equality import agree, compute_value
from verify.grade.latex_answer import read_latex
from verify.grade.plain_text import TIGHT, convert_powers, is_latex, write_in_ascii
from verify.grade.products import separate_symbols
from verify.grade.python_answer import read_python

_NORM = re.compile(r"\\\||\\[lr]?Vert(?![A-Za-z])|\\norm(?![A-Za-z])|‖|\|\|")
_WORD = re.compile(r"[A-Za-z]+(?:_\w+)?")
_ORDER = re.compile(
    r"(?<![A-Za-z])(?:\\(?:mathcal|tilde|mathrm)\s*\{?\s*|\\)*(O|o|Theta|Omega|Θ|Ω|𝒪)\s*\}*\s*(?:\\left\s*)?[(\[]"
)
"""An order such as O(...), which leaves the constants open."""
_LABEL = re.compile(r"\\?[A-Za-z]\w*(?:\s*\([A-Za-z\s,\\]*\))?")
_DECIMAL = re.compile(r"\d[.,٫]\d|(?<![\w)])[.,]\d|\d[eE][+-]?\d")
_FIRST_POWER = re.compile(r"(?:\^|\*\*)\s*1\s*/\s*\d")
"""An exponent 1 before a fraction bar, which may be half of a fraction without its bracket."""
_BOTH_SIGNS = re.compile(r"[\w)\]}]\s*\+-")
"""A plus and a minus sign after a number, a symbol or a bracket, which often mean both signs."""
_ROUNDING = sp.Rational(1, 200)
"""Relative error of a number that is rounded to three digits."""


def read_answer(text: str, names: Mapping[str, Expr]) -> Expr:
    """Return the expression of an answer in the given names; raises `Unreadable` with the reason for anything else.

    A text with a backslash, a dollar or a brace is LaTeX, any other is Python, in which ``^`` is a power and
    multiplication signs may be omitted.
    """
    if not text.strip():
        raise Unreadable("expected a formula, got an empty answer")
    if len(text) > LONGEST_TEXT:
        raise Unreadable(f"the answer is longer than {LONGEST_TEXT} characters")
    order = _ORDER.search(text)
    if order and order[1] not in names:
        raise UnknownSymbol(f"an order such as {order[1]}(...) leaves the constants open: write the formula with them")
    _require_one_reading(text)
    *others, side = split_sides(unwrap(text))
    found = _read_side(side, names)
    if others and _is_label(side, names):
        raise Ambiguous(f"{side} stands where the answer is expected: write only the formula that answers the question")
    for other in others:
        found = _require_agreement(other, side, found, names)
    if not found.is_finite and found.is_finite is not None:
        raise NoValue("the answer is infinite")
    return found


def _require_one_reading(text: str) -> None:
    """Raise `Ambiguous` for an exponent without its bracket, and for both signs."""
    if _FIRST_POWER.search(text):
        raise Ambiguous("is 1/2 the exponent in x^1/2? write a bracket, as in x^(1/2)")
    if _BOTH_SIGNS.search(text):
        raise Ambiguous("does +- mean both signs? write one of them, or a bracket, as in 2+(-1)")


def _require_agreement(other: str, side: str, found: Expr, names: Mapping[str, Expr]) -> Expr:
    """Return the answer if another side agrees with it: names are ignored, formulas must be equal."""
    if _is_label(other, names):
        return found
    try:
        value = _read_side(other, names)
    except Unreadable:
        return found
    if value.is_Symbol or value.is_zero or agree(value, found):
        return found
    if not names and _are_close(value, found) and (_is_rounded(other) or _is_rounded(side)):
        return max((value, other), (found, side), key=lambda pair: (not _is_rounded(pair[1]), len(pair[1])))[0]
    raise Ambiguous(f"{other[:40]} and {side[:40]} differ: write only the formula that answers the question")


def _is_label(text: str, names: Mapping[str, Expr]) -> bool:
    """Return whether a side only names the value of the other one, such as ``eta`` or ``T(E)``."""
    return _LABEL.fullmatch(write_in_ascii(text, names).replace(TIGHT, "").strip("$& ")) is not None


def _is_rounded(text: str) -> bool:
    return _DECIMAL.search(text) is not None


def _are_close(left: Expr, right: Expr) -> bool:
    """Return whether two numbers are equal up to rounding."""
    one, other = compute_value(left, {}), compute_value(right, {})
    return one is not None and other is not None and bool(abs(one - other) <= abs(other) * _ROUNDING)


def _read_side(text: str, names: Mapping[str, Expr]) -> Expr:
    try:
        return _read_notation(write_in_ascii(text, names), names)
    except Ambiguous:
        raise
    except Unreadable:
        if _NORM.search(text):
            known = ", ".join(sorted(names)) or "none"
            reason = f"a norm is not read: write the question's symbol for it, one of {known}"
            raise UnknownSymbol(reason) from None
        raise


def _read_notation(text: str, names: Mapping[str, Expr]) -> Expr:
    if is_latex(text):
        return read_latex(convert_powers(text), names)
    text = separate_symbols(text, names)
    try:
        return read_python(text.replace("^", "**").replace(TIGHT, " "), names)
    except NoExpression as reason:
        try:
            return read_latex(convert_powers(text), names)
        except Ambiguous:
            raise
        except UnknownSymbol:
            _require_known_word(text, names)
            raise reason from None
        except Unreadable:
            raise reason from None


def _require_known_word(text: str, names: Mapping[str, Expr]) -> None:
    """Raise `UnknownSymbol` for a formula with an unknown word or letters; several unknown words are a sentence."""
    words = {word for word in _WORD.findall(text) if word not in names and word not in FUNCTIONS}
    unknown = sorted(word for word in words if not all(part in names for part in word))
    if len(unknown) == 1 or (unknown and all(len(word) == 1 for word in unknown)):
        Guarded(names).name(unknown[0])
