"""Split pieces of formulas that are wider than a page: fractions into factors, brackets into terms."""

from __future__ import annotations

import re
from collections.abc import Sequence

from report.formula_pieces import split_terms

_LONG = 200
"""Number of LaTeX characters above which a piece is split."""
_TOKEN = re.compile(r"\\left\W|\\right\W|\\[A-Za-z]+|\\.|.", re.DOTALL)
_OPEN, _CLOSE = r"\left(", r"\right)"
_TALL_OPEN, _TALL_CLOSE = r"\Big(", r"\Big)"


def split_piece(piece: str) -> list[str]:
    """Return the parts of a piece between which a line may end; a short piece is one part.

    A fraction with a long numerator becomes a product of 1/denominator and numerator, and the longest outer brackets
    are split term by term.
    """
    if len(piece) <= _LONG:
        return [piece]
    piece = _write_as_product(piece)
    group = max(_find_groups(piece), key=lambda ends: ends[1] - ends[0], default=None)
    terms = [] if group is None else split_terms(piece[group[0] : group[1]])
    if group is None or len(terms) < 2:
        return [piece]
    before, behind = piece[: group[0] - len(_OPEN)], piece[group[1] + len(_CLOSE) :]
    parts = [*([before] if len(before) > _LONG else []), *terms]
    parts[-len(terms)] = ("" if len(before) > _LONG else before) + _TALL_OPEN + parts[-len(terms)]
    parts[-1] += _TALL_CLOSE + behind
    return [smaller for part in parts for smaller in (split_piece(part) if len(part) < len(piece) else [part])]


def _write_as_product(piece: str) -> str:
    """Return the piece with its first fraction that has a long numerator written as a product."""
    tokens = _count_depths(piece)
    for n, (place, token, depth) in enumerate(tokens):
        if token != r"\frac" or depth or n + 1 == len(tokens) or tokens[n + 1][1] != "{":
            continue
        top = _find_argument(piece, place + len(token))
        bottom = _find_argument(piece, top[1] + 1)
        numerator, denominator = piece[slice(*top)], piece[slice(*bottom)]
        if len(numerator) > _LONG > 2 * len(denominator):
            whole = numerator if len(split_terms(numerator)) < 2 else rf"{_OPEN}{numerator}{_CLOSE}"
            return rf"{piece[:place]}\frac{{1}}{{{denominator}}} {whole}{piece[bottom[1] + 1 :]}"
    return piece


def _find_groups(piece: str) -> Sequence[tuple[int, int]]:
    """Return the bounds of the contents of outermost round brackets that are not in braces."""
    found, start = [], -1
    for place, token, depth in _count_depths(piece):
        if token == _OPEN and depth == 0:
            start = place + len(token)
        elif token == _CLOSE and depth == 1 and start >= 0:
            found.append((start, place))
            start = -1
    return found


def _count_depths(piece: str) -> list[tuple[int, str, int]]:
    """Return each token with its index, and the number of brackets and braces that are open before it."""
    depth, found = 0, []
    for match in _TOKEN.finditer(piece):
        token = match[0]
        found.append((match.start(), token, depth))
        depth += token == "{" or (token.startswith(r"\left") and not token[5:].isalpha())
        depth -= token == "}" or (token.startswith(r"\right") and not token[6:].isalpha())
    return found


def _find_argument(piece: str, start: int) -> tuple[int, int]:
    """Return the bounds of the content of the braces that open at an index."""
    depth = 0
    for match in _TOKEN.finditer(piece, start):
        depth += (match[0] == "{") - (match[0] == "}")
        if depth == 0:
            return start + 1, match.start()
    raise ValueError(f"expected braces in pairs, got {piece}")
