"""Cache of results in a folder, kept between commands and shared by processes.

The folder is `FEDTHEORY_CACHE`, else the platform's own for caches; an empty
`FEDTHEORY_CACHE` keeps nothing.  A cache that cannot be read or written, such
as one on a full disk, is no cache, and no error.
"""

from __future__ import annotations

import os
import sqlite3
from functools import lru_cache
from pathlib import Path
from pickle import PickleError
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from diskcache import Cache

VARIABLE = "FEDTHEORY_CACHE"
LIMIT = 2**30
"""Bytes; beyond them the oldest entries go."""

_UNUSABLE = (OSError, sqlite3.Error, PickleError, EOFError, AttributeError, ImportError)
"""Exceptions that a missing folder, a full disk, a broken entry or one of another version raise."""


def folder() -> Path | None:
    """Return the folder of the cache; None where results are not kept."""
    named = os.environ.get(VARIABLE)
    if named is None:
        from platformdirs import user_cache_path

        return user_cache_path("fedtheory")
    return Path(named) if named else None


def ignore() -> None:
    """Neither read nor write anything, in this process and those that it starts."""
    os.environ[VARIABLE] = ""


def kept(*key: str) -> Any:
    """Return the cached value of a key; None if there is none."""
    store = _store(folder())
    try:
        return None if store is None else store.get(key)
    except _UNUSABLE:
        return None


def keep(value: Any, *key: str) -> None:
    """Keep a value, which is not None, under a key."""
    store = _store(folder())
    try:
        if store is not None:
            store.set(key, value)
    except _UNUSABLE:
        return


def size() -> tuple[int, int]:
    """Return the number of entries and their bytes."""
    store = _store(folder())
    return (0, 0) if store is None else (len(store), store.volume())


def clear() -> int:
    """Forget everything; how many entries there were."""
    store = _store(folder())
    return 0 if store is None else store.clear()


@lru_cache(maxsize=1)
def _store(home: Path | None) -> Cache | None:
    from diskcache import Cache

    try:
        return None if home is None else Cache(str(home), size_limit=LIMIT)
    except _UNUSABLE:
        return None
