"""Normalise typed formulas to the two notations that are parsed: lost backslashes, unicode."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection
from itertools import groupby

from verify.grade.typed_numbers import remove_unit, write_plain_numbers, write_powers_of_ten
from verify.grade.typed_roots import bracket_negative_powers, write_higher_roots

_LOST = {
    "\a": ("alpha", "approx"),
    "\b": ("beta", "bar", "binom", *(f"big{size}{side}" for size in ("", "g") for side in ("", "l", "r", "m"))),
    "\f": ("frac",),
    "\n": ("nu", "nabla"),
    "\r": ("rho", "right", "rceil", "rfloor"),
    "\t": ("tau", "theta", "times", "tfrac", "text"),
    "\v": ("varepsilon", "varphi", "varrho", "vartheta"),
}
"""Commands whose backslash and first letter Python reads as one character in a string that is not r"..."."""
_GREEK_COMMANDS = {"alpha", "beta", "nu", "rho", "tau", "theta", "varepsilon", "varphi", "varrho", "vartheta"}
_SIGNS = {
    "−": "-",
    "–": "-",
    "·": "*",
    "×": "*",
    "∗": "*",
    "⋅": "*",
    "÷": "/",
    "∕": "/",
    "⁄": "/",
    "\u00a0": " ",
    "٫": ".",
}
_BRACKETS = {"⌈": "ceil(", "⌉": ")", "⌊": "floor(", "⌋": ")"}
_LATEX_BRACKETS = {"⌈": r"\lceil ", "⌉": r"\rceil ", "⌊": r"\lfloor ", "⌋": r"\rfloor "}
_ENTRY = re.compile(r"[A-Za-z_)\]]\s*\[")
"""A bracket after a name, which selects an entry in Python."""
_ROUND = str.maketrans("[]", "()")
_ROOT = re.compile(r"√\s*([A-Za-z0-9_.]+)")
_GREEK = re.compile("[α-ωΑ-Ωϵϕ]")
_UNSEEN = re.compile("[\ufeff\u200b-\u200f\u2060\u00ad]")
"""Invisible characters in copied text: byte order marks, breaks and directions."""
TIGHT = "\u2062"
"""Mark between symbols that were typed without a blank."""
_MODULES = re.compile(r"(?<![\w.])(?:np|numpy|math|sp|sympy|fractions)\.(?=[A-Za-z])")
_ENVIRONMENT = re.compile(
    r"\\(?:begin|end)\s*\{(?:equation|align|aligned|alignat|gather|gathered|split|multline|math|displaymath)\*?\}"
    r"|\\nonumber(?![A-Za-z])|\\\\(?=[\s&+\-=]|$)|\\[ \t]*\r?\n"
)
_DOUBLED = re.compile(r"\\\\(?=[A-Za-z]{2})")
"""A doubled backslash before a command, as in a string of Python without the prefix r."""
_STOP = re.compile(r"(?<![\\.])(?!\s*\.\.\.)(?:\s*[.,;∎□■])+(?=\s*(?:\$+|\\[\])])?\s*$)")
"""Stops and commas of the sentence at the end of a formula."""
_PLAIN_POWER = re.compile(r"\^\s*([+-]?(?:\d+(?:\.\d+)?|\.\d+))")


def write_in_ascii(text: str, names: Collection[str]) -> str:
    """Write a formula in ASCII, with the backslashes that a string lost."""
    text = _restore_backslashes(_UNSEEN.sub("", text), names)
    text = _DOUBLED.sub(r"\\", text)
    text = _STOP.sub("", _MODULES.sub("", _ENVIRONMENT.sub(" ", text)).strip().strip("`"))
    text = text if is_latex(text) else write_higher_roots(text)
    text = text if "x" in names else write_powers_of_ten(text)
    text = write_plain_numbers(text if names else remove_unit(text))
    # This precedes the composition of characters: a superscript is no digit, and a full-width letter is a letter.
    text = "".join(_lower_to_line(kind, "".join(run)) for kind, run in groupby(text, key=_find_level))
    brackets = _LATEX_BRACKETS if is_latex(text) else _BRACKETS
    text = "".join(_SIGNS.get(character) or brackets.get(character) or _write_plainly(character) for character in text)
    text = _GREEK.sub(lambda found: f"{TIGHT}{_spell_greek(found[0])}{TIGHT}", text)
    text = _ROOT.sub(rf"{TIGHT}sqrt(\1)", text).replace("√", f"{TIGHT}sqrt")
    text = _join_subscripts(unicodedata.normalize("NFKC", text)).strip()
    text = _replace_bars(text)
    text = text if is_latex(text) else bracket_negative_powers(text)
    return text if is_latex(text) or _ENTRY.search(text) else text.translate(_ROUND)


def is_latex(text: str) -> bool:
    """Return whether a formula is TeX, where ``x^12`` means a raised 1 followed by 2."""
    return any(mark in text for mark in "\\${}")


def convert_powers(text: str) -> str:
    """Return a formula with Python's powers in TeX notation."""
    if not is_latex(text):
        return _PLAIN_POWER.sub(r"^{\1}", text.replace("**", "^"))
    return re.sub(r"\*\*\s*([+-]?\d+(?:\.\d+)?)", r"^{\1}", text).replace("**", "^")


def remove_controls(text: str, names: Collection[str]) -> str:
    """Return a text for display: with lost backslashes restored, and without control characters."""
    restored = _restore_backslashes(text, names)
    return "".join(
        character for character in restored if character in "\n\t" or unicodedata.category(character) != "Cc"
    )


def _restore_backslashes(text: str, names: Collection[str]) -> str:
    symbols = {name.partition("_")[0] for name in names}
    for character, commands in _LOST.items():
        for command in commands:
            if command in symbols or command not in _GREEK_COMMANDS:
                # No letter follows a command, so that a newline before a name is kept.
                lost = f"{re.escape(character)}{command[1:]}(?![A-Za-z])"
                text = re.sub(lost, rf"\\{command}", text)
    return text


def _write_plainly(character: str) -> str:
    """Write a fraction that is one character as digits in brackets, and an italic or bold letter as a plain one."""
    kind = unicodedata.decomposition(character).partition(" ")[0]
    if kind == "<fraction>":
        return f"({unicodedata.normalize('NFKC', character).replace('⁄', '/')})"
    return unicodedata.normalize("NFKC", character) if kind == "<font>" else character


def _find_level(character: str) -> str:
    """Return whether a character is raised (`<super>`) or lowered (`<sub>`); empty for a character on the line."""
    kind = unicodedata.decomposition(character).partition(" ")[0]
    return kind if kind in {"<super>", "<sub>"} else ""


def _lower_to_line(level: str, characters: str) -> str:
    text = characters if not level else unicodedata.normalize("NFKC", characters)
    return {"<super>": f"^({text})", "<sub>": f"_{text}"}.get(level, text)


def _spell_greek(character: str) -> str:
    name = unicodedata.name(character)
    word = name.replace("GREEK ", "").replace("SMALL LETTER ", "").replace("LUNATE ", "").replace(" SYMBOL", "")
    return {"FINAL SIGMA": "sigma", "LAMDA": "lambda"}.get(word, word.removeprefix("CAPITAL LETTER ").lower())


def _join_subscripts(text: str) -> str:
    """Remove the blanks around Greek letters before an index."""
    return re.sub(rf"[\s{TIGHT}]+_", "_", text)


def _replace_bars(text: str) -> str:
    """Write absolute values as functions, because Python reads bars as another operation."""
    parts = text.split("|")
    if is_latex(text) or len(parts) % 2 == 0:
        return text
    return "".join(f"abs({part})" if place % 2 else part for place, part in enumerate(parts))
