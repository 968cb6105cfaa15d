r"""Typesets the formulas in the text of a quantity, such as the one after "of" in ``mean over t of E|x^t - x*|^2``.

A formula is a sequence of names, numbers and signs, as long as possible.  Names are single characters, Greek ones by
name, both possibly with ``bar``; words such as ``sum`` and ``grad`` belong to a formula if an index or an operand
follows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

_GREEK = {
    "alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "kappa", "lambda", "mu", "nu", "xi", "pi",
    "rho", "sigma", "tau", "phi", "chi", "psi", "omega", "Gamma", "Delta", "Theta", "Lambda", "Xi", "Sigma", "Phi",
    "Psi", "Omega",
}  # fmt: skip
_OPERATORS = {
    "sum": r"\sum", "max": r"\max", "min": r"\min", "sup": r"\sup", "inf": r"\inf", "lim": r"\lim", "exp": r"\exp",
    "log": r"\log", "tr": r"\operatorname{tr}", "grad": r"\nabla",
}  # fmt: skip
"""Words that belong to a formula if an index, a bracket or an operand follows."""
_WITH_OPERAND = {"sum", "lim", "grad"}
"""Words that a blank may separate from their operand."""
_AROUND = {"ceil": (r"\lceil ", r"\rceil "), "floor": (r"\lfloor ", r"\rfloor "), "sqrt": (r"\sqrt{", "}")}
"""Functions that are written as brackets around their argument."""
_SIGNS = {
    "<=": r"\le ", ">=": r"\ge ", "!=": r"\ne ", "..": r",\dots,", "=": "=", "+": "+", "-": "-", "*": r"\cdot ",
    "/": "/", "<": "<", ">": ">",
}  # fmt: skip
_BRACKETS = {"(": ")", "[": "]", "|": "|", "<": ">"}
_SIGN = re.compile(r"\s*(<=|>=|!=|\.\.|[=+\-*/<>])\s*")
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_WORD = re.compile(r"[A-Za-z]+")
_SYMBOL = re.compile(r"[A-Za-z=+/]")
"""A part of a formula that is more than a number, possibly in brackets."""
_INDEX = re.compile(r"\{([^{}]*)\}|(\[\w+\]|\([^()]*\)|\*|-?[A-Za-z0-9]+)")
_RANGE = re.compile(r"(\w+)=(.*)\.\.(.*)")
_ARTICLES = {"a", "A", "I"}
_VECTORS = re.compile(r"\\nabla|(?<![A-Za-z\\])[egvwxy](?![A-Za-z])|\\theta")
"""Names of vectors: bars around an expression with one of them denote norms."""

_Read = tuple[str, int] | None
"""The LaTeX of a part of the text and the position after it; None if no such part begins."""


def typeset_meaning(text: str, left: str = r"\(", right: str = r"\)") -> str:
    """Return the text with its formulas in LaTeX, each between `left` and `right`; words are unchanged."""
    return "".join(f"{left}{part}{right}" if is_formula else part for is_formula, part in _split_parts(text))


@lru_cache(maxsize=1024)
def _split_parts(text: str) -> tuple[tuple[bool, str], ...]:
    """Return the words and the formulas of a text, each formula in LaTeX."""
    try:
        return tuple(_split(text))
    except RecursionError:
        # A formula with hundreds of nested brackets is unreadable.
        return ((False, text),)


def _split(text: str) -> Iterator[tuple[bool, str]]:
    """Split a text into formulas and words: yield each part, after whether it is a formula."""
    place = words = 0
    while place < len(text):
        found = _read_formula(text, place) if _is_start_of_word(text, place) else None
        if found is None or not _SYMBOL.search(found[0]):
            place += 1 if found is None else max(found[1] - place, 1)
            continue
        if words < place:
            yield False, text[words:place]
        yield True, found[0].strip()
        place = words = found[1]
    if words < len(text):
        yield False, text[words:]


def _is_start_of_word(text: str, place: int) -> bool:
    before = text[place - 1] if place else " "
    return not text[place].isspace() and not (before.isalnum() or before in "-_^~'.")


def _read_formula(text: str, place: int, closing: str = "") -> _Read:
    """Read operands with signs between them, or side by side; `closing` ends a bracket and is no sign inside."""
    negative = "-" if closing and text.startswith("-", place) else ""
    first = _read_operand(text, place + len(negative))
    if first is None:
        return None
    latex, place = negative + first[0], first[1]
    while not (closing and text.startswith(closing, place)):
        # An angle right after a name may open an inner product.
        opened = _read_bracket(text, place) if text.startswith("<", place) else None
        sign = None if opened else _SIGN.match(text, place)
        blank = len(text[place : place + 1]) - len(text[place : place + 1].lstrip())
        following = opened or _read_operand(text, sign.end() if sign else place + blank)
        if following is None:
            break
        latex += (_SIGNS[sign[1]] if sign else " ") + following[0]
        place = following[1]
    return latex, place


def _read_operand(text: str, place: int) -> _Read:
    """Read a number, a bracket or a name, with its attachments."""
    number = _NUMBER.match(text, place)
    if number is not None:
        return _attach(text, number.end(), number[0])
    if text[place : place + 1] in _BRACKETS and not text[place + 1 : place + 2].isspace():
        bracket = _read_bracket(text, place)
        return None if bracket is None else _attach(text, bracket[1], bracket[0])
    word = _WORD.match(text, place)
    return None if word is None else _name(text, word)


def _name(text: str, word: re.Match[str]) -> _Read:
    """Return a symbol or an operator; None for words of the language."""
    name, end = word[0], word.end()
    behind = text[end : end + 1]
    if name in _AROUND and behind == "(":
        found = _read_list(text, end + 1, ")")
        return None if found is None else _attach(text, found[1], found[0].join(_AROUND[name]))
    if name in _OPERATORS:
        return _read_operator(text, name, end)
    if name == "hat" and behind == " ":
        below = _WORD.match(text, end + 1)
        symbol = None if below is None else _find_symbol(below[0])
        return None if below is None or symbol is None else _attach(text, below.end(), rf"\hat{{{symbol}}}")
    symbol = _find_symbol(name)
    if symbol is None or (name in _ARTICLES and behind not in ("_", "^", "(")):
        return None
    if behind == "~":
        symbol, end = rf"\tilde{{{symbol}}}", end + 1
    elif name == "E" and behind not in ("_", "^"):
        symbol = r"\mathbb{E}"
    return _attach(text, end, symbol)


def _find_symbol(name: str) -> str | None:
    """Return the LaTeX of a character or a Greek name, possibly with a bar; None for a word."""
    if len(name) == 1:
        return name
    if name in _GREEK:
        return r"\varepsilon" if name == "epsilon" else f"\\{name}"
    below = _find_symbol(name.removesuffix("bar")) if name.endswith("bar") and name != "bar" else None
    return None if below is None else rf"\bar{{{below}}}"


def _read_operator(text: str, name: str, end: int) -> _Read:
    """Return an operator with its index, if an operand follows; `_attach` reads a range below a sum."""
    behind = text[end : end + 1]
    if behind in ("_", "(", "|"):
        return _attach(text, end, _OPERATORS[name])
    if behind == " " and name in _WITH_OPERAND and _read_operand(text, end + 1) is not None:
        return _OPERATORS[name], end
    return None


@lru_cache(maxsize=4096)
def _read_bracket(text: str, place: int) -> _Read:
    """Return a list of formulas in brackets, between bars or between angles."""
    opening = text[place]
    found = _read_list(text, place + 1, _BRACKETS[opening])
    if found is None:
        return None
    inside, end = found
    left, right = opening, _BRACKETS[opening]
    if opening == "<":
        left, right = r"\langle ", r"\rangle "
    elif opening == "|" and (text.startswith("^", end) or _VECTORS.search(inside)):
        left = right = r"\|"
    return f"{left}{inside}{right}", end


def _read_list(text: str, place: int, closing: str) -> _Read:
    """Read formulas with commas between them, up to the closing bracket."""
    parts: list[str] = []
    while True:
        found = _read_formula(text, place, closing)
        if found is None:
            return None
        parts.append(found[0])
        place = found[1]
        if text.startswith(closing, place):
            return ", ".join(parts), place + len(closing)
        if not text.startswith(",", place):
            return None
        place += 2 if text.startswith(", ", place) else 1


def _attach(text: str, place: int, base: str) -> _Read:
    """Return a base with indices, powers, primes, stars and arguments that follow without a blank."""
    below = above = ""
    while (found := _read_mark(text, place)) is not None:
        sign, latex, place = found
        if latex == r"\mathrm{bar}":
            base = rf"\bar{{{base}}}"
            continue
        if above or (below and sign == "_"):
            base, below, above = f"{{{base}{below}{above}}}", "", ""
        if " ^ " in latex:
            below, above = (f"{sign}{{{part}}}" for sign, part in zip("_^", latex.split(" ^ "), strict=True))
        elif sign == "_":
            below = f"_{{{latex}}}"
        else:
            above = f"^{{{latex}}}"
    arguments = _read_bracket(text, place) if text[place : place + 1] in ("(", "[") else None
    latex = f"{base}{below}{above}"
    return (latex, place) if arguments is None else _attach(text, arguments[1], latex + arguments[0])


def _read_mark(text: str, place: int) -> tuple[str, str, int] | None:
    """Return an index or a power at this position: its sign, its LaTeX and the position after it.

    Returns None if there is none.
    """
    sign, behind = text[place : place + 1], text[place + 1 : place + 2]
    index = _INDEX.match(text, place + 1) if sign in ("_", "^") else None
    if index is not None:
        return sign, _index(index), index.end()
    if sign == "'" and not behind.isalpha():
        return "^", r"\prime", place + 1
    if sign == "*" and re.match(r"[\w(]", behind) is None:
        return "^", "*", place + 1
    return None


def _index(index: re.Match[str]) -> str:
    """Return an index or a power; the two ends of a range are separated by a power sign between blanks."""
    content = index[1] if index[1] is not None else index[2]
    if content.startswith("("):
        return f"({_typeset_index(content[1:-1])})"
    span = _RANGE.fullmatch(content)
    if span is not None:
        return f"{_typeset_index(span[1])}={_typeset_index(span[2])} ^ {_typeset_index(span[3])}"
    return _typeset_index(content)


def _typeset_index(content: str) -> str:
    """Return the content of an index; words are set upright."""
    parts = [part.strip() for part in content.split(",")]
    found = [_read_formula(part, 0, "\n") for part in parts]
    if all(read is not None and read[1] == len(part) for read, part in zip(found, parts, strict=True)):
        return ",".join(read[0] for read in found if read is not None)
    return content if re.fullmatch(r"[\w*-]|\[\w+\]", content) else rf"\mathrm{{{content}}}"
