"""Cache of drawn pages, valid as long as the code, their own claims, and the claims they mention do not change.

A page mentions another claim by its id or by a link to its page, so these dependencies are read from the page itself.
"""

from __future__ import annotations

import re
from functools import lru_cache
from hashlib import sha256
from pathlib import Path

from fedtheory.language.registry import find, is_an_id
from report.finished_pages import FinishedPages, PageFiles
from verify import cache
from verify.digests import digest_claim, digest_code

Inputs = tuple[str, ...]
"""Digests of the inputs of a page."""

_HERE = Path(__file__).parent
_WORD = re.compile(r"[\w:.-]+")
_NAVIGATION = re.compile("<nav.*?</nav>", re.DOTALL)
"""Links to other pages, which do not depend on the claims there."""


def find_page(written: PageFiles, inputs: Inputs) -> FinishedPages | None:
    """Return a cached page with the same inputs; None if there is none."""
    found = cache.find(*_make_key(written, inputs))
    if found is None:
        return None
    drawn, mentioned = found
    return drawn if all(digest_claim(find(claim)) == digest for claim, digest in mentioned.items()) else None


def store_page(drawn: FinishedPages, written: PageFiles, inputs: Inputs) -> None:
    """Store a page with the digests of the claims that it mentions."""
    words = {word.rstrip(".") for text in drawn.files.values() for word in _WORD.findall(_NAVIGATION.sub("", text))}
    mentioned = {
        claim: digest_claim(find(claim))
        for claim, file in written
        if ":" in claim and words & {claim, file} and is_an_id(claim)
    }
    cache.save((drawn, mentioned), *_make_key(written, inputs))


def _make_key(written: PageFiles, inputs: Inputs) -> tuple[str, ...]:
    return "page", _digest_names(written), digest_code(_HERE), *inputs


@lru_cache(maxsize=1)
def _digest_names(written: PageFiles) -> str:
    """Return a digest of all pages' names, on which every page depends."""
    return sha256(repr(written).encode()).hexdigest()
