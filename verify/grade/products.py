"""Products that are typed without a sign or a blank between their symbols, such as ``AB`` or ``Nsigma_G``."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from verify.grade.guarded import FUNCTIONS
from verify.grade.plain_text import TIGHT

_WORD = re.compile(r"(?<![A-Za-z_.\\])[A-Za-z]\w*")
_LONGEST = 40


def separate_symbols(text: str, names: Collection[str]) -> str:
    """Write a mark between the symbols of a word that is none itself, where it falls into symbols in one way only."""
    return _WORD.sub(lambda found: _separate(found[0], names), text)


def _separate(word: str, names: Collection[str]) -> str:
    if word in names or word in FUNCTIONS or len(word) > _LONGEST:
        return word
    splits = _splits(word, names)
    first, second = next(splits, None), next(splits, None)
    return word if first is None or second is not None else TIGHT.join(first)


def _splits(word: str, names: Collection[str]) -> Iterator[tuple[str, ...]]:
    """All ways in which a word falls into symbols; what begins with an index or a digit is none."""
    for end in range(1, len(word) + 1):
        if word[:end] in names and (end == len(word) or word[end].isalpha()):
            if end == len(word):
                yield (word,)
            else:
                yield from ((word[:end], *rest) for rest in _splits(word[end:], names))
