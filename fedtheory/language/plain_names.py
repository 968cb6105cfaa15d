"""Names that people tell apart: letters of other alphabets that look like a to z are refused."""

from __future__ import annotations

import unicodedata

from fedtheory.errors import InputError


def require_plain(field: str, name: str) -> None:
    """Raise `InputError`, naming the first character that is not ASCII and what it is, where a name has one."""
    for character in name:
        if not character.isascii():
            known = unicodedata.name(character, "a character without a name")
            expected = "expected letters a to z, digits and signs of ASCII, which nothing else looks like"
            raise InputError(field, f"{expected}; got {character!a} ({known}) in {name!a:.60}: type it anew")
