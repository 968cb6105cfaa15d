"""Split products that are typed without a sign or a blank, such as ``AB`` or ``Nsigma_G``."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from verify.grade.answer_limits import FUNCTIONS
from verify.grade.plain_text import TIGHT

_WORD = re.compile(r"(?<![A-Za-z_.\\])[A-Za-z]\w*")
_LONGEST = 40


def separate_symbols(text: str, names: Collection[str]) -> str:
    """Mark the symbols of an unknown word, if it is a product of symbols in exactly one way."""
    return _WORD.sub(lambda found: _separate(found[0], names), text)


def _separate(word: str, names: Collection[str]) -> str:
    if word in names or word in FUNCTIONS or len(word) > _LONGEST:
        return word
    splits = _list_splits(word, names)
    first, second = next(splits, None), next(splits, None)
    return word if first is None or second is not None else TIGHT.join(first)


def _list_splits(word: str, names: Collection[str]) -> Iterator[tuple[str, ...]]:
    """Yield all ways to split a word into symbols; no part begins with an index or a digit."""
    for end in range(1, len(word) + 1):
        if word[:end] in names and (end == len(word) or word[end].isalpha()):
            if end == len(word):
                yield (word,)
            else:
                yield from ((word[:end], *rest) for rest in _list_splits(word[end:], names))
