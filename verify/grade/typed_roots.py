"""Read roots of higher order and negative powers, such as ``∛x``, ``⁴√(x/y)``, ``sqrt[4](x)`` and ``x^-(3/4)``."""

from __future__ import annotations

import re
import unicodedata

_ORDERS = {"∛": "3", "∜": "4"}
_RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹"
_HIGHER = re.compile(
    r"(?P<sign>[∛∜])"
    rf"|(?<![\w)\]}}{_RAISED}])(?P<raised>[{_RAISED}]+)√"  # a raised number behind a symbol is its power
    r"|(?<![\\\w])(?:sqrt|root)\s*\[\s*(?P<order>\d+)\s*\](?=\s*\()"
)
_OPERAND = re.compile(r"\s*([^\W\d]\w*|\d+(?:\.\d+)?|\.\d+)")
_NEGATIVE = re.compile(r"(?:\^|\*\*)\s*-\s*(?=\()")


def write_higher_roots(text: str) -> str:
    """Write roots of an order as powers."""
    while (found := _HIGHER.search(text)) is not None:
        operand = _take_operand(text, found.end())
        if operand is None:
            return text
        order = _ORDERS.get(found["sign"]) or found["order"] or unicodedata.normalize("NFKC", found["raised"])
        inside = text[found.end() : operand]
        text = f"{text[: found.start()]}(({inside})^(1/{order})){text[operand:]}"
    return text


def bracket_negative_powers(text: str) -> str:
    """Write the minus sign in front of a bracket that is an exponent inside a bracket."""
    while (found := _NEGATIVE.search(text)) is not None:
        end = _take_operand(text, found.end())
        if end is None:
            return text
        text = f"{text[: found.start()]}^(-{text[found.end() : end]}){text[end:]}"
    return text


def _take_operand(text: str, start: int) -> int | None:
    """Return the end of a bracket, a name or a number at this place; None if there is none."""
    bracket = re.compile(r"\s*\(").match(text, start)
    if bracket is None:
        name = _OPERAND.match(text, start)
        return None if name is None else name.end()
    depth = 0
    for place in range(bracket.end() - 1, len(text)):
        depth += {"(": 1, ")": -1}.get(text[place], 0)
        if depth == 0:
            return place + 1
    return None
