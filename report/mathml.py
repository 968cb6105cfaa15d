"""Formulas for browsers: LaTeX to MathML, with no script and no font to load."""

from __future__ import annotations

import re
from functools import cache

from markupsafe import Markup, escape

_FORMULA = re.compile(r"\$([^$]+)\$")
_STYLED_LETTER = re.compile(r'<mi mathvariant="(double-struck|script)">([A-Za-z])</mi>')
_FIRST_LETTER = {"double-struck": 0x1D538, "script": 0x1D49C}
_ELSEWHERE = {
    "double-struck": dict(zip("CHNPQRZ", "ℂℍℕℙℚℝℤ", strict=True)),
    "script": dict(zip("BEFHILMR", "ℬℰℱℋℐℒℳℛ", strict=True)),
}
"""Letters that Unicode has outside the block of their style."""
_WORDS = re.compile(r"\\text\{([^{}]*)\}")
_SENTENCE = 60
"""Characters of words from which on a statement is set as a sentence with formulas in it."""
_TOKEN = re.compile(r"\\left(?![a-z])|\\right(?![a-z])|\\[A-Za-z]+|\\.|.", re.DOTALL)
_RELATIONS = {r"\le", r"\ge", "="}
_SPACES = {r"\quad", r"\qquad"}
_LONG = 150
"""Characters of LaTeX beyond which a displayed statement is broken at its relations."""


@cache
def formula(latex: str, display: str = "inline") -> Markup:
    """A formula as MathML; `display` is "inline" or "block"."""
    from latex2mathml.converter import convert

    mathml = _STYLED_LETTER.sub(_letter, convert(latex, display=display))
    if display == "block":
        # The converter sets limits above and below a sum at the top level only.
        mathml = re.sub(r"<msubsup>(<mo>&#x02211;</mo>.*?)</msubsup>", _with_limits, mathml)
    return Markup(mathml)


def _letter(match: re.Match[str]) -> str:
    """Browsers know double-struck and script letters as characters, not as a style."""
    style, letter = match.groups()
    offset = ord(letter) - ord("A")
    return f"<mi>{_ELSEWHERE[style].get(letter) or chr(_FIRST_LETTER[style] + offset)}</mi>"


def _with_limits(match: re.Match[str]) -> str:
    return f"<munderover>{match.group(1)}</munderover>"


def displayed(latex: str) -> Markup:
    """A statement as a block of lines, a long one broken in front of its relations and at its wide spaces.

    One that is mostly words is a sentence, which breaks by itself.
    """
    if sum(map(len, _WORDS.findall(latex))) > max(_SENTENCE, len(latex) / 2):
        return Markup("<p>{}</p>").format(_sentence(latex))
    lines = _broken(latex) if len(latex) > _LONG else [latex]
    return Markup('<div class="lines">{}</div>').format(Markup("").join(formula(line, "block") for line in lines))


def _sentence(latex: str) -> Markup:
    """Words as words, and what is between them as formulas."""
    parts = _WORDS.split(latex)
    set_parts = (
        escape(part) if n % 2 else (formula(part.strip()) if part.strip() else "") for n, part in enumerate(parts)
    )
    return Markup("").join(set_parts)


def _broken(latex: str) -> list[str]:
    """Pieces of a formula, broken outside all brackets; a side remark behind a wide space stays whole."""
    lines, depth, remark = [""], 0, False
    for token in _TOKEN.findall(latex):
        depth += (token in ("{", r"\left")) - (token in ("}", r"\right"))
        wide = depth == 0 and token in _SPACES
        if (wide or (depth == 0 and token in _RELATIONS and not remark)) and lines[-1].strip():
            lines.append("")
        remark = remark or wide
        lines[-1] += "" if wide else token
    return lines


def prose(text: str) -> Markup:
    """A sentence whose formulas stand between dollar signs."""
    parts = _FORMULA.split(text)
    return Markup("").join(formula(part) if n % 2 else escape(part) for n, part in enumerate(parts))
