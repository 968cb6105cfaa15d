"""Checks that names have no confusable characters and that texts have no invisible ones."""

from __future__ import annotations

import re
import unicodedata

from fedtheory.errors import InputError

_INVISIBLE = {"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"}
"""Unicode categories of characters that are invisible, or that change the direction of writing."""
_BLANK = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
"""Further invisible characters."""
_ALIKE = ("ARMENIAN", "CHEROKEE", "COPTIC", "CYRILLIC", "FULLWIDTH", "LISU")
"""Alphabets with characters that look like a to z."""
_ALIKE_GREEK = frozenset("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧοϲϳ")
"""Greek letters that look like a to z; other Greek letters are allowed."""


def require_plain(field: str, name: str) -> None:
    """Raise `InputError` if a name has characters other than printable ASCII; the message names the first of them."""
    _require_text(field, name)
    for character in name:
        if not character.isascii() or not character.isprintable():
            expected = "letters a to z, digits and signs of ASCII, which nothing else looks like"
            raise _reject(field, expected, character, name)


def require_readable(field: str, text: str) -> None:
    """Raise `InputError` if a text has invisible characters, or words of mixed alphabets.

    Characters of all alphabets are allowed, but not within a word that also has letters a to z.
    """
    _require_text(field, text)
    for character in text:
        if _is_invisible(character):
            raise _reject(field, "characters that people see", character, text)
    for word in re.findall(r"\w+", text):
        strange = next(filter(_is_look_alike, word), None)
        if strange is not None and any(symbol.isascii() and symbol.isalpha() for symbol in word):
            raise _reject(field, "words of one alphabet", strange, word)


def _require_text(field: str, text: object) -> None:
    if not isinstance(text, str):
        raise InputError(field, f"expected a text, got {text!r:.60}")


def _is_invisible(character: str) -> bool:
    is_selector = "\ufe00" <= character <= "\ufe0f" or "\U000e0100" <= character <= "\U000e01ef"
    is_layout = character in "\n\t"
    return character in _BLANK or is_selector or (unicodedata.category(character) in _INVISIBLE and not is_layout)


def _is_look_alike(symbol: str) -> bool:
    """Return whether a character looks like one of another alphabet, or is a variant of another character."""
    return symbol in _ALIKE_GREEK or unicodedata.name(symbol, "").startswith(_ALIKE)


def _reject(field: str, expected: str, character: str, text: str) -> InputError:
    """Return the error for a character of a text, with its name in Unicode."""
    got = f"{character!a} ({unicodedata.name(character, 'a character without a name')}) in {text!a:.60}"
    return InputError(field, f"expected {expected}; got {got}: type it again")
