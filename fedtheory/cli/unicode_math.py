"""Converts LaTeX to Unicode text for terminals: symbols, statements, and texts with formulas."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping

_SIGNS = {
    "nabla": "∇", "sum": "∑", "|": "‖", "langle": "⟨", "rangle": "⟩", "lceil": "⌈", "rceil": "⌉", "lfloor": "⌊",
    "rfloor": "⌋", "le": "≤", "ge": "≥", "ne": "≠", "in": "∈", "notin": "∉", "infty": "∞", "to": "→", "top": "ᵀ",
    "lambda": "λ", "varepsilon": "ε", "vartheta": "ϑ", "left": "", "right": "",
    "{": "{", "}": "}", "#": "#", "%": "%", " ": " ", ",": " ", ";": " ", ":": " ", "!": "", "\\": "; ",
    "quad": "  ", "qquad": "   ", "prime": "′", "dots": "…", "ldots": "…", "cdots": "⋯", "cdot": "·", "times": "×",
    "Rightarrow": " ⇒ ", "Longrightarrow": " ⇒ ", "leftarrow": " ← ", "Leftrightarrow": " ⇔ ", "iff": " ⇔ ",
    "Longleftrightarrow": " ⇔ ", "coloneqq": " ≔ ", "triangleq": " ≜ ", "mid": " | ", "forall": "∀", "exists": "∃",
    "propto": " ∝ ", "sim": " ∼ ", "approx": " ≈ ", "simeq": " ≃ ", "neq": "≠", "ll": " ≪ ", "bmod": " mod ",
    "varphi": "φ", "ell": "ℓ", "emptyset": "∅", "dagger": "†", "star": "⋆", "circ": "∘", "diamond": "◇",
    "blacktriangleright": "▸", "rm": "", "Big": "", "big": "", "Bigl": "", "Bigr": "", "bigl": "", "bigr": "",
    "leq": "≤", "geq": "≥", "limits": "", "displaystyle": "",
}  # fmt: skip
_ACCENTS = {
    "bar": "\u0304", "tilde": "\u0303", "widetilde": "\u0303", "hat": "\u0302", "widehat": "\u0302",
    "overline": "\u0304",
}  # fmt: skip
_WORDS = {"max", "min", "sup", "inf", "lim", "det", "exp", "log", "Pr"}
_FRACTIONS = {"frac", "tfrac", "dfrac"}
_AROUND = {"overset": (False, True), "underbrace": (True,), "xrightarrow": (False,), "begin": (False,), "end": (False,)}
"""Commands with several arguments, and which of the arguments are displayed."""
_FONTS = {"mathbb", "mathcal", "mathrm", "mathsf", "mathbf", "text", "operatorname"}
_OPERATORS = {"mathbb", "operatorname"}
_LETTER = r"[A-Za-z]|\\(?!left|langle|lceil|lfloor)[A-Za-z]{2}"
_LOWERED = dict(zip("0123456789+-=()aehijklmnoprstuvx", "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓ", strict=True))
_RAISED = dict(zip("0123456789+-=()*′eiknotKMNRTᵀ", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾*′ᵉⁱᵏⁿᵒᵗᴷᴹᴺᴿᵀᵀ", strict=True))


def unicode_math(latex: str) -> str:
    """Return a formula in Unicode; unknown commands are replaced by their names."""
    text = re.sub(r" +(?=[])+-])", "", _UnicodeReader(latex).convert_all()).strip()
    return re.sub(r"(?<=\S) *([≤≥]|(?<![<>])=) *", r" \1 ", text)


def unicode_prose(text: str) -> str:
    """Convert the formulas between dollars in a text to Unicode."""
    return re.sub(r"\$([^$]+)\$", lambda formula: unicode_math(formula[1]), text)


class _UnicodeReader:
    """Reads LaTeX from left to right, with one argument or one group at a time."""

    def __init__(self, latex: str) -> None:
        # As in LaTeX, blanks after a command are ignored.
        self._left = [token.strip() or " " for token in re.findall(r"\\[A-Za-z]+\s*|\\.|\s+|.", latex)]

    def convert_all(self) -> str:
        """Return the whole text, including what follows an unmatched closing brace."""
        text = self.convert_sequence()
        while self._left:
            text += self._left.pop(0) + self.convert_sequence()
        return text

    def convert_sequence(self) -> str:
        """Return the text up to the end of the group."""
        text = ""
        while self._left and self._left[0] != "}":
            text += self._convert_next()
        return text

    def _convert_next(self) -> str:
        """Convert the next token with its arguments."""
        token = self._left.pop(0)
        if token == "{":
            return self._convert_group()
        if token in "_^":
            return _format_script(token, self._convert_argument())
        return self._convert_command(token[1:]) if token.startswith("\\") else token

    def _convert_group(self) -> str:
        """Convert the tokens up to the closing brace."""
        inside = self.convert_sequence()
        del self._left[:1]
        return inside

    def _convert_argument(self) -> str:
        """Convert the argument that follows a command."""
        while self._left and self._left[0].isspace():
            del self._left[0]
        return self._convert_next() if self._left else ""

    def _convert_command(self, name: str) -> str:
        """Convert a LaTeX command with its arguments."""
        if name in _FRACTIONS:
            return f"{_add_brackets(self._convert_argument())}/{_add_brackets(self._convert_argument())} "
        if name in _AROUND:
            return self._wrap_arguments(_AROUND[name])
        if name in _ACCENTS:
            letters = self._convert_argument()
            return letters[:1] + _ACCENTS[name] + letters[1:]
        if name in _FONTS:
            return self._convert_argument() + (self._separate() if name in _OPERATORS else "")
        return f"√{_add_brackets(self._convert_argument())}" if name == "sqrt" else self._convert_sign(name)

    def _convert_sign(self, name: str) -> str:
        """Return the Unicode character of a command, or its name if none is known."""
        known = None if name in _WORDS else _SIGNS.get(name, _find_greek(name))
        return name + self._separate() if known is None else known

    def _wrap_arguments(self, arguments: tuple[bool, ...]) -> str:
        """Return the arguments that are displayed, joined."""
        given = [self._convert_argument() for _ in arguments]
        return "".join(text for text, is_shown in zip(given, arguments, strict=True) if is_shown)

    def _separate(self) -> str:
        """Return a blank between an operator and the symbol after it."""
        return " " if self._left and re.match(_LETTER, self._left[0]) else ""


def _find_greek(name: str) -> str | None:
    """Return the Greek character with that name, or None."""
    size = "CAPITAL" if name[:1].isupper() else "SMALL"
    try:
        return unicodedata.lookup(f"GREEK {size} LETTER {name}")
    except KeyError:
        return None


def _add_brackets(text: str) -> str:
    """Return a part of a fraction, in brackets unless it is one symbol, possibly with an index, or one number."""
    return text if re.fullmatch(rf"\d+|\w(_\w|[{''.join(_LOWERED.values())}])?", text) else f"({text})"


def _format_script(mark: str, text: str) -> str:
    """Return a subscript or a superscript: in small characters if Unicode has all of them."""
    small: Mapping[str, str] = _LOWERED if mark == "_" else _RAISED
    if all(letter in small for letter in text):
        return "".join(small[letter] for letter in text)
    return mark + (text if len(text) == 1 else f"{{{text}}}")
