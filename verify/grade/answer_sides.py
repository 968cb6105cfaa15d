"""Split answers with several sides, such as ``eta = A = B``, ``drift <= B`` or ``B for eta <= 1/(4*L)``."""

from __future__ import annotations

import re
from collections.abc import Iterator

from verify.grade.answer_limits import Ambiguous, UnknownSymbol

_RISING = r"<=|⩽|≤|\\leqslant(?![A-Za-z])|\\leq?(?![A-Za-z])|<"
_FALLING = r">=|⩾|≥|\\geqslant(?![A-Za-z])|\\geq?(?![A-Za-z])|>"
_ALIKE = r"===?|:=|=|＝|\\approx(?![A-Za-z])|\\simeq(?![A-Za-z])|≈|≃|≡|\\equiv(?![A-Za-z])|\\coloneqq(?![A-Za-z])"
_STEPS = r"=>|->|→|⇒|⟹|\\(?:Long)?[Rr]ightarrow(?![A-Za-z])|\\implies(?![A-Za-z])|\\to(?![A-Za-z])"
_UNEQUAL = r"!=|≠|\\neq?(?![A-Za-z])"
_ORDER = r"\\lesssim(?![A-Za-z])|≲|∝|\\propto(?![A-Za-z])|\\asymp(?![A-Za-z])|≍"
_SIGN = re.compile(
    rf"(?P<steps>{_STEPS}|{_UNEQUAL})|(?P<order>{_ORDER})|(?P<up>{_RISING})|(?P<down>{_FALLING})|{_ALIKE}"
)
_WORDS = "for|if|when|whenever|where|with|provided|assuming|given|under|since|because|as long as"
_FOR = re.compile(
    rf"\\(?:text|mbox|mathrm|textrm)\s*\{{\s*,?\s*(?:{_WORDS})\b|(?<![\\A-Za-z])(?:{_WORDS})(?![A-Za-z_])"
)
_FOR_IN_BRACKETS = re.compile(rf"[(\[]\s*(?:{_WORDS})\s[^()\[\]]*(?:\([^()]*\)[^()\[\]]*)*[)\]]\s*$")
_INTRODUCTION = re.compile(
    r"(?:(?:(?:the|my)\s+)?(?:final\s+|upper\s+)?(?:answer|bound|result|solution)\s*(?::(?!=)|\s(?:is|equals)\b:?)\s*"
    r"|[a-z1-9]\)\s+)(?=.*[-+*/^\\\d])",
    re.IGNORECASE | re.DOTALL,
)
"""Words before a formula, such as ``Answer:``, ``the bound is`` or ``a)``."""
_COMMA = re.compile(r"[,;](?!\d)|\\q?quad(?![A-Za-z])")
_EQUATION = re.compile(r"(?:\w+\.)?(?:Eq|Le|LessThan)\s*\((.*)\)", re.DOTALL)
_WRAPPINGS = tuple(
    re.compile(pattern, re.DOTALL)
    for pattern in (
        r"```[A-Za-z]*\s*\n(.*?)\s*```",
        r"`+([^`]*)`+",
        r"[bBrRuU]{0,2}(['\"])(?P<inside>(?:(?!\1).)*)\1",
        r"\$+([^$]*)\$+",
        r"\\\((.*)\\\)",
        r"\\\[(.*)\\\]",
        r"\\(?:boxed|ensuremath)\s*\{([^{}]*(?:\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\}[^{}]*)*)\}",
    )
)


def unwrap(text: str) -> str:
    """Remove code fences, quotes, dollar signs and boxes around a text, and words before it.

    Only blanks are stripped: a tab or a form feed may be the rest of a LaTeX command in a Python string.
    """
    before, text = "", text.strip(" ")
    while text != before:
        before = text
        for pattern in _WRAPPINGS:
            if found := pattern.fullmatch(text):
                text = (found.groupdict().get("inside") or found[1]).strip(" ")
        text = text[found.end() :] if (found := _INTRODUCTION.match(text)) else text
    return text


def split_sides(text: str) -> list[str]:
    """Return the sides of an answer, last the one that answers; raises `Ambiguous` if several could answer."""
    text = _remove_condition(_write_equation(text))
    cuts = [sign for sign in _SIGN.finditer(text) if _is_outside(text, sign.start())]
    kinds = {sign.lastgroup for sign in cuts}
    if "order" in kinds:
        raise UnknownSymbol("the sign leaves the constants open: write the formula with them")
    if "steps" in kinds or {"up", "down"} <= kinds:
        raise Ambiguous("expected one statement, got several: write only the formula that answers the question")
    ends = [*(sign.start() for sign in cuts), len(text)]
    begins = [0, *(sign.end() for sign in cuts)]
    sides = [text[begin:end].strip(" ") for begin, end in zip(begins, ends, strict=True)]
    if (not sides[0] and "down" in kinds) or (not sides[-1] and "up" in kinds):
        raise Ambiguous("the sign makes it a lower bound: write only the formula that answers the question")
    sides = [side for side in sides if side.strip("$&\n ")] or [text]
    if any(_FOR.match(side) for side in sides[:-1]):
        raise Ambiguous("a condition stands before the formula: write only the formula that answers the question")
    return sides[::-1] if "down" in kinds else sides


def _remove_condition(text: str) -> str:
    """Return the formula before a condition such as ``for eta <= 1/(4*L)``, or the whole text without one."""
    bracketed = _FOR_IN_BRACKETS.search(text)
    if bracketed and _SIGN.search(bracketed[0]):
        return text[: bracketed.start()].rstrip(" ,;")
    for found in _find_outside(_FOR, text):
        if found.start() and _SIGN.search(text, found.end()):
            return text[: found.start()].rstrip(" ,;")
    for found in _find_outside(_COMMA, text):
        if _SIGN.search(text, found.end()):
            if _SIGN.search(text[: found.start()]):
                raise Ambiguous("expected one statement, got several: write only the formula that answers the question")
            return text[: found.start()]
    return text


def _write_equation(text: str) -> str:
    """Convert SymPy's ``Eq(left, right)`` to ``left = right``."""
    found = _EQUATION.fullmatch(text)
    comma = next(_find_outside(re.compile(","), found[1]), None) if found else None
    return text if not found or comma is None else f"{found[1][: comma.start()]} = {found[1][comma.end() :]}"


def _find_outside(pattern: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    return (found for found in pattern.finditer(text) if _is_outside(text, found.start()))


def _is_outside(text: str, place: int) -> bool:
    """Return whether a position is outside all brackets."""
    before = text[:place]
    return sum(map(before.count, "([{")) <= sum(map(before.count, ")]}"))
