"""Read the option that an answer chooses: its letter, its text, or both."""

from __future__ import annotations

import re

from fedtheory.language.exercises import ChoiceQuestion
from verify.grade.answer_limits import Unreadable

_LETTER = re.compile(r"\W*(?:(?:option|answer|choice|letter)\W+)?([a-z])\W*", re.IGNORECASE)
_WITH_TEXT = re.compile(r"\W*([a-z])\s*[).:\]-]+\s*(.+)", re.IGNORECASE | re.DOTALL)


def read_choice(question: ChoiceQuestion, text: str) -> str:
    """Return the letter of the chosen option; raises `Unreadable` if the text chooses none or contradicts itself."""
    letters = list(question.letters)
    texts = {_list_words(option): letter for letter, option in zip(letters, question.options, strict=True)}
    by_text = texts.get(_list_words(text))
    if by_text is not None:
        return by_text
    if (alone := _LETTER.fullmatch(text)) and alone[1].lower() in letters:
        return alone[1].lower()
    both = _WITH_TEXT.fullmatch(text)
    if both and texts.get(_list_words(both[2])) == both[1].lower():
        return both[1].lower()
    raise Unreadable(f"expected one letter of {', '.join(letters)}, got {text.strip()[:40]}")


def _list_words(text: str) -> str:
    """Return the words of a text only."""
    return " ".join(re.findall(r"[^\W_]+", text.lower()))
