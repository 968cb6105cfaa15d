"""Typeset formulas for browsers: LaTeX to MathML, without scripts or fonts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from markupsafe import Markup, escape

from report.formula_pieces import break_into_lines, group_brackets
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
"""Number of LaTeX characters that fit on a phone."""
_SENTENCE = 60
"""Number of characters in words above which a statement is typeset as a sentence with formulas."""


@cache
def typeset_formula(latex: str, display: str = "inline") -> Markup:
    """Return a formula as MathML; `display` is "inline" or "block"."""
    from latex2mathml.converter import convert

    mathml = _STYLED_LETTER.sub(_replace_style, convert(latex, display=display))
    if display == "block":
        # The converter sets limits above and below only for a sum at the top level.
        mathml = re.sub(r"<msubsup>(<mo>&#x02211;</mo>.*?)</msubsup>", _place_limits, mathml)
    return Markup(group_brackets(mathml))


def _replace_style(match: re.Match[str]) -> str:
    """Replace styled letters by Unicode characters, since browsers ignore the double-struck and script styles."""
    style, letter = match.groups()
    offset = ord(letter) - ord("A")
    return f"<mi>{_ELSEWHERE[style].get(letter) or chr(_FIRST_LETTER[style] + offset)}</mi>"


def _place_limits(match: re.Match[str]) -> str:
    return f"<munderover>{match.group(1)}</munderover>"


def typeset_statement(latex: str) -> Markup:
    """Typeset a statement in pieces between which a browser may break lines: at wide spaces, relations and terms.

    A statement that is mostly words is typeset as a sentence.
    """
    if sum(map(len, _WORDS.findall(latex))) > max(_SENTENCE, len(latex) / 2):
        return Markup("<p>{}</p>").format(_typeset_sentence(latex))
    lines = (Markup('<div class="line">{}</div>').format(_typeset_line(sides)) for sides in break_into_lines(latex))
    return Markup('<div class="lines">{}</div>').format(Markup("").join(lines))


def _typeset_line(sides: Sequence[Sequence[str]]) -> Markup:
    """Typeset one line: sides stay together if there is room, terms may be separated."""
    set_sides = (Markup('<span class="side">{}</span>').format(_typeset_wrapping(side)) for side in sides)
    return Markup("<wbr/>").join(set_sides)


def _typeset_parts(pieces: Sequence[str]) -> list[str]:
    """Typeset formulas between which a line may end; a leading operator gets an empty operand, for its spacing."""
    parts = [part for piece in pieces for part in split_piece(piece)]
    return [part if n == 0 else "{}" + part for n, part in enumerate(parts)]


def _typeset_wrapping(pieces: Sequence[str]) -> Markup:
    """Typeset formulas between which a line may end, in display style within a line."""
    shown = (typeset_formula(part, "block") for part in _typeset_parts(pieces))
    return Markup("<wbr/>").join(Markup(str(one).replace('display="block"', 'displaystyle="true"', 1)) for one in shown)


def _typeset_sentence(latex: str) -> Markup:
    """Typeset words as words, and the text between them as formulas."""
    parts = _WORDS.split(latex)
    set_parts = (
        escape(part) if n % 2 else (_typeset_inline(part.strip()) if part.strip() else "")
        for n, part in enumerate(parts)
    )
    return Markup("").join(set_parts)


def typeset_prose(text: str) -> Markup:
    """Typeset a sentence whose formulas are between dollar signs."""
    parts = _FORMULA.split(text)
    return Markup("").join(_typeset_inline(part) if n % 2 else escape(part) for n, part in enumerate(parts))


def _typeset_inline(latex: str) -> Markup:
    """Typeset a formula in a sentence; a long one may break like a displayed one, and long parts scroll."""
    pieces = [piece for line in break_into_lines(latex) for side in line for piece in side]
    return Markup("<wbr/>").join(map(_add_scroll_box, _typeset_parts(pieces)))


def _add_scroll_box(part: str) -> Markup:
    """Put a formula into a box that scrolls on narrow pages; a short one is returned as given."""
    return (
        typeset_formula(part)
        if len(part) <= _NARROW
        else Markup('<span class="long">{}</span>').format(typeset_formula(part))
    )
