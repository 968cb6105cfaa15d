"""Selects entries of a list by a word in their texts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from difflib import get_close_matches
from typing import TypeVar

from fedtheory.errors import InputError

Entry = TypeVar("Entry")


def select_matching(
    word: str, entries: Sequence[Entry], texts: Callable[[Entry], Sequence[str]], expected: str, command: str
) -> list[Entry]:
    """Return the entries with a text that contains the word; the first text of each is its name.

    Raises:
        InputError: If there is none; the message suggests the closest names.

    """
    found = [entry for entry in entries if any(word.casefold() in text.casefold() for text in texts(entry))]
    if not found:
        near = get_close_matches(word, [texts(entry)[0] for entry in entries], n=3)
        hint = f"; did you mean {' or '.join(near)}?" if near else f"; `fedtheory {command}` lists all"
        raise InputError("word", f"{expected.format(repr(word))}{hint}")
    return found
