"""Formulas for browsers: LaTeX to MathML, with no script and no font to load."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from markupsafe import Markup, escape

from report.formula_pieces import broken, with_growing_brackets
from report.opened_pieces import split_piece

_FORMULA = re.compile(r"\$([^$]+)\$")
_STYLED_LETTER = re.compile(r'<mi mathvariant="(double-struck|script)">([A-Za-z])</mi>')
_FIRST_LETTER = {"double-struck": 0x1D538, "script": 0x1D49C}
_ELSEWHERE = {
    "double-struck": dict(zip("CHNPQRZ", "ℂℍℕℙℚℝℤ", strict=True)),
    "script": dict(zip("BEFHILMR", "ℬℰℱℋℐℒℳℛ", strict=True)),
}
"""Letters that Unicode has outside the block of their style."""
_WORDS = re.compile(r"\\text\{([^{}]*)\}")
_NARROW = 60
"""Characters of LaTeX that fit on a phone."""
_SENTENCE = 60
"""Characters of words from which on a statement is set as a sentence with formulas in it."""


@cache
def formula(latex: str, display: str = "inline") -> Markup:
    """A formula as MathML; `display` is "inline" or "block"."""
    from latex2mathml.converter import convert

    mathml = _STYLED_LETTER.sub(_replace_style, convert(latex, display=display))
    if display == "block":
        # The converter sets limits above and below a sum at the top level only.
        mathml = re.sub(r"<msubsup>(<mo>&#x02211;</mo>.*?)</msubsup>", _with_limits, mathml)
    return Markup(with_growing_brackets(mathml))


def _replace_style(match: re.Match[str]) -> str:
    """Browsers know double-struck and script letters as characters, not as a style."""
    style, letter = match.groups()
    offset = ord(letter) - ord("A")
    return f"<mi>{_ELSEWHERE[style].get(letter) or chr(_FIRST_LETTER[style] + offset)}</mi>"


def _with_limits(match: re.Match[str]) -> str:
    return f"<munderover>{match.group(1)}</munderover>"


def displayed(latex: str) -> Markup:
    """A statement in pieces that a browser breaks into lines: at wide spaces, before relations, and before terms.

    One that is mostly words is a sentence, which breaks by itself.
    """
    if sum(map(len, _WORDS.findall(latex))) > max(_SENTENCE, len(latex) / 2):
        return Markup("<p>{}</p>").format(_sentence(latex))
    lines = (Markup('<div class="line">{}</div>').format(_line(sides)) for sides in broken(latex))
    return Markup('<div class="lines">{}</div>').format(Markup("").join(lines))


def _line(sides: Sequence[Sequence[str]]) -> Markup:
    """Sides that stay together where there is room, and terms that do not have to."""
    set_sides = (Markup('<span class="side">{}</span>').format(_wrapping(side)) for side in sides)
    return Markup("<wbr/>").join(set_sides)


def _parts(pieces: Sequence[str]) -> list[str]:
    """Formulas between which a line may end; an operator that begins one has something before it, for its spaces."""
    parts = [part for piece in pieces for part in split_piece(piece)]
    return [part if n == 0 else "{}" + part for n, part in enumerate(parts)]


def _wrapping(pieces: Sequence[str]) -> Markup:
    """Formulas between which a line may end; displayed ones, but for standing alone."""
    shown = (formula(part, "block") for part in _parts(pieces))
    return Markup("<wbr/>").join(Markup(str(one).replace('display="block"', 'displaystyle="true"', 1)) for one in shown)


def _sentence(latex: str) -> Markup:
    """Words as words, and what is between them as formulas."""
    parts = _WORDS.split(latex)
    set_parts = (
        escape(part) if n % 2 else (_typeset_inline(part.strip()) if part.strip() else "")
        for n, part in enumerate(parts)
    )
    return Markup("").join(set_parts)


def prose(text: str) -> Markup:
    """A sentence whose formulas stand between dollar signs."""
    parts = _FORMULA.split(text)
    return Markup("").join(_typeset_inline(part) if n % 2 else escape(part) for n, part in enumerate(parts))


def _typeset_inline(latex: str) -> Markup:
    """A formula in a sentence; a long one may break where a displayed one may, and long parts scroll."""
    pieces = [piece for line in broken(latex) for side in line for piece in side]
    return Markup("<wbr/>").join(map(_scrolling, _parts(pieces)))


def _scrolling(part: str) -> Markup:
    """A formula in a box that scrolls where the page is narrower; a short one unchanged, on the line of the words."""
    return formula(part) if len(part) <= _NARROW else Markup('<span class="long">{}</span>').format(formula(part))
