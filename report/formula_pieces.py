"""Break long formulas into lines, and let brackets grow with their content."""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

_TOKEN = re.compile(r"\\left\W|\\right\W|\\[A-Za-z]+|\\.|.", re.DOTALL)
_RELATIONS = {
    r"\le",
    r"\leq",
    r"\ge",
    r"\geq",
    "=",
    "<",
    ">",
    r"\approx",
    r"\Rightarrow",
    r"\Leftrightarrow",
    r"\implies",
    r"\iff",
}
_SPACES = {r"\quad", r"\qquad"}
_SIGNS = {"+", "-"}
_OPENING, _CLOSING = {"{", "(", "[", r"\{"}, {"}", ")", "]", r"\}"}
_NORM = r"\|"
_AFTER_A_TERM = re.compile(r"(?:[\w})\]!|']|\\[A-Za-z]+|\\[|}])\s*$")
"""Commands before a sign that is between terms."""
_NO_TERM = re.compile(
    r"\\(?:le|leq|ge|geq|to|in|cdot|times|quad|qquad|forall|Rightarrow|Leftrightarrow|pm|sum|min|max)\s*$"
)
"""Endings that look like a term, but are not."""
_SHORT = 60
"""Number of LaTeX characters in a statement up to which it is not broken."""
_LONG_FACTORS = 40
"""Number of LaTeX characters in factors above which a further factor may start a new line."""
_MATHML = "http://www.w3.org/1998/Math/MathML"

Lines = list[list[list[str]]]
"""Lines, each a list of sides, each a list of terms."""


def break_into_lines(latex: str) -> Lines:
    """Return the lines of a statement, which end at wide spaces; each line has sides, and each side has terms."""
    if len(latex) <= _SHORT:
        return [[[latex]]]
    lines: Lines = [[[""]]]
    for token, is_outside in _list_with_depth(latex):
        last = lines[-1][-1]
        if is_outside and token in _SPACES:
            last[-1] += token
            lines.append([[""]])
            continue
        if is_outside and token in _RELATIONS and lines[-1] != [[""]]:
            lines[-1].append([""])
        elif _is_start_of_piece(token, last[-1], is_outside):
            last.append("")
        lines[-1][-1][-1] += token
        if is_outside and token == "\\ " and last[-1].rstrip("\\ ").endswith((",", ";")):
            lines[-1].append([""])
    return [line for line in lines if any(piece.strip() for side in line for piece in side)]


def split_terms(latex: str) -> list[str]:
    """Return the terms of a sum, each with the sign before it."""
    terms = [""]
    for token, is_outside in _list_with_depth(latex):
        if token in _SIGNS and is_outside and _is_end_of_term(terms[-1]):
            terms.append("")
        terms[-1] += token
    return terms


def _is_start_of_piece(token: str, before: str, is_outside: bool) -> bool:
    """Return whether a token starts a piece: a sign between terms, or in a long term a factor in brackets after a
    space.
    """
    if token in _SIGNS:
        return is_outside and _is_end_of_term(before)
    return is_outside and token == r"\left(" and len(before) > _LONG_FACTORS and before.endswith(" ")


def _is_end_of_term(text: str) -> bool:
    return bool(_AFTER_A_TERM.search(text)) and not _NO_TERM.search(text)


def _list_with_depth(latex: str) -> Iterator[tuple[str, bool]]:
    """Yield tokens, and whether they are outside all brackets and norms."""
    depth, in_norm = 0, False
    for token in _TOKEN.findall(latex):
        is_outside = depth == 0 and not in_norm
        yield token, is_outside
        depth += token in _OPENING or (token.startswith(r"\left") and not token[5:].isalpha())
        depth -= token in _CLOSING or (token.startswith(r"\right") and not token[6:].isalpha())
        depth = max(depth, 0)
        in_norm ^= token == _NORM and depth == 0


def group_brackets(mathml: str) -> str:
    """Group pairs of plain brackets, so that each pair grows with its content."""
    ElementTree.register_namespace("", _MATHML)
    root = ElementTree.fromstring(mathml)
    _group(root)
    return ElementTree.tostring(root, encoding="unicode")


def _group(parent: Element) -> None:
    for child in parent:
        _group(child)
    if _name(parent) not in ("math", "mrow"):
        return
    open_groups: list[list[Element]] = [[]]
    for child in list(parent):
        kind = _classify_bracket(child, open_groups)
        if kind == "opens":
            open_groups.append([child])
        elif kind == "closes":
            open_groups[-2:] = [[*open_groups[-2], _attach_bracket(open_groups[-1], child)]]
        else:
            open_groups[-1].append(child)
    # An unmatched bracket is not grouped.
    parent[:] = [child for group in open_groups for child in group]


def _classify_bracket(element: Element, open_groups: list[list[Element]]) -> str:
    """Return whether a plain bracket opens or closes here; half-open intervals mix the kinds."""
    text = _find_bracket(element)
    is_open = len(open_groups) > 1
    if text == "‖":
        return "closes" if is_open and _find_bracket(open_groups[-1][0]) == "‖" else "opens"
    if text in ("(", "[", "{", "⟨"):
        return "opens"
    return "closes" if text in (")", "]", "}", "⟩") and is_open else ""


def _find_bracket(element: Element) -> str:
    """Return the bracket of an element, which may have indices; empty if it is no bracket."""
    base = element[0] if _name(element) in ("msup", "msub", "msubsup") and len(element) else element
    return (base.text or "") if _name(base) == "mo" and base.get("stretchy") == "false" else ""


def _attach_bracket(group: list[Element], last: Element) -> Element:
    """Return the group with its closing bracket; indices of that bracket move to the group."""
    row = Element(f"{{{_MATHML}}}mrow")
    fence = last if _name(last) == "mo" else last[0]
    row.extend([*group, fence])
    for end, form in ((group[0], "prefix"), (fence, "postfix")):
        end.attrib = {"fence": "true", "form": form, "stretchy": "true"}
    if fence is last:
        return row
    last[0] = row
    return last


def _name(element: Element) -> str:
    return element.tag.rpartition("}")[2]
