"""Converts formulas to Matplotlib's subset of LaTeX, and shortens wide ones for legends."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

_WIDEST = 27.0
"""Largest width of a formula in a legend, in units of its font size."""
_SIZE = 10.0
_DOTS = r"\cdots"
_OPEN = re.compile(r"\\left\(|\\frac\{|\\sqrt\{|(?<=\})\{")
"""Tokens at which parts begin that may be omitted: brackets, fractions and roots."""
_STEP = re.compile(r"\\left\(|\\right\)|\\.|[{}]")


def shorten_for_legend(latex: str) -> str:
    """Return a formula between dollar signs; if it is too wide, contents of brackets are replaced by dots."""
    while not _fits(latex):
        shorter = [latex[:start] + _DOTS + latex[end:] for start, end in _find_parts(latex)]
        if not shorter:
            break
        # Parsing a formula is slow, and the first that fits is the longest.
        longest_first = sorted(shorter, key=len, reverse=True)
        latex = next(filter(_fits, longest_first), min(shorter, key=len))
    return f"${adapt_formula(latex)}$"


def adapt_formula(latex: str) -> str:
    """Return a formula in Matplotlib's notation: braced arguments, relations by their long names, large fractions."""
    braced = re.sub(r"(\\(?:mathcal|mathbb|mathrm|bar|tilde|hat)) (\w)", r"\1{\2}", latex)
    braced = re.sub(r"\\frac(\w|\\[A-Za-z]+)", r"\\frac{\1}", braced)
    braced = re.sub(r"(\\frac\{[^{}]*\})(\w|\\[A-Za-z]+)", r"\1{\2}", braced)
    return re.sub(r"\\([lgn]e)(?![A-Za-z])", r"\\\1q", braced).replace(r"\frac", r"\dfrac")


@cache
def _fits(latex: str) -> bool:
    # Parsing the longest formulas takes a tenth of a second each.
    return estimate_width(latex) <= _WIDEST and measure_width(latex) <= _WIDEST


def measure_width(latex: str) -> float:
    """Return the width of a formula as typeset by Matplotlib, in units of the font size."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    # The formula is requested with the settings of an SVG, so that it is parsed only once.
    font = FontProperties(size=_SIZE, math_fontfamily="cm")
    found: float = text_to_path.get_text_width_height_descent(f"${adapt_formula(latex)}$", font, ismath=True)[0]
    return found / _SIZE


_CHARACTER = re.compile(r"\\[a-zA-Z]+|\\.|.", re.DOTALL)
_NARROW, _SIGN, _LETTER = 0.25, 0.7, 0.35
"""Lower bounds on the widths of characters, in units of the font size: ``i``, ``l``, square brackets; signs; all
others.
"""
_GREEK = {r"\alpha", r"\beta", r"\gamma", r"\delta", r"\zeta", r"\eta", r"\lambda", r"\mu", r"\rho", r"\sigma", r"\tau"}


def estimate_width(latex: str) -> float:
    """Return a lower bound on a formula's width: the wider part of a fraction counts, commands and indices do not."""
    width, at = 0.0, 0
    while at < len(latex):
        token = _read_token(latex, at)
        at += len(token)
        if token in (r"\frac", r"\dfrac"):
            numerator, at = _read_argument(latex, at)
            denominator, at = _read_argument(latex, at)
            width += max(estimate_width(numerator), estimate_width(denominator))
        elif token in "_^":
            _, at = _read_argument(latex, at)
        elif token.isalnum() or token in "()[]+-=":
            width += _NARROW if token in "il[]" else _SIGN if token in "+-=" else _LETTER
        elif token in _GREEK:
            width += _LETTER
    return width


def _read_token(latex: str, at: int) -> str:
    """Return the command or the character that begins at an index."""
    found = _CHARACTER.match(latex, at)
    assert found is not None
    return found[0]


def _read_argument(latex: str, at: int) -> tuple[str, int]:
    """Return the argument of a command, in braces or a single character, and its end."""
    token = _read_token(latex, at)
    start = at + len(token)
    if token == " ":
        return _read_argument(latex, start)
    if token != "{":
        return token, start
    end = _find_closing(latex, start)
    return latex[start:end], end + 1


def _find_parts(latex: str) -> Iterator[tuple[int, int]]:
    """Yield the bounds of each part in brackets, fractions and roots, the end exclusive."""
    for opening in _OPEN.finditer(latex):
        end = _find_closing(latex, opening.end())
        if end - opening.end() > len(_DOTS):
            yield opening.end(), end


def _find_closing(latex: str, start: int) -> int:
    """Return the index at which an open bracket closes."""
    depth = 1
    for token in _STEP.finditer(latex, start):
        depth += (token[0] in ("{", r"\left(")) - (token[0] in ("}", r"\right)"))
        if depth == 0:
            return token.start()
    raise ValueError(f"expected brackets in pairs, got {latex}")
