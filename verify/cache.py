"""Cache of results in a folder, kept between commands and shared by processes.

The folder is `FEDTHEORY_CACHE`, else the user cache folder of the platform; an empty `FEDTHEORY_CACHE` switches the
cache off. If the cache cannot be read or written, as on a full disk, results are computed again without an error.
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
"""Size of the cache in bytes; above this size the oldest entries are removed."""

_UNUSABLE = (OSError, sqlite3.Error, PickleError, EOFError, AttributeError, ImportError)
"""Exceptions raised by a missing folder, a full disk, a broken entry, or an entry of another version."""


def folder() -> Path | None:
    """Return the folder of the cache; None where results are not cached."""
    named = os.environ.get(VARIABLE)
    if named is None:
        from platformdirs import user_cache_path

        return user_cache_path("fedtheory")
    return Path(named) if named else None


def ignore() -> None:
    """Switch the cache off in this process and in the processes that it starts."""
    os.environ[VARIABLE] = ""


def find(*key: str) -> Any:
    """Return the cached value of a key; None if there is none."""
    store = _store(folder())
    try:
        return None if store is None else store.get(key)
    except _UNUSABLE:
        return None


def save(value: Any, *key: str) -> None:
    """Store a value, which must not be None, under a key."""
    store = _store(folder())
    try:
        if store is not None:
            store.set(key, value)
    except _UNUSABLE:
        return


def measure() -> tuple[int, int]:
    """Return the number of entries and their total size in bytes."""
    store = _store(folder())
    return (0, 0) if store is None else (len(store), store.volume())


def clear() -> int:
    """Remove all entries and return their number."""
    store = _store(folder())
    return 0 if store is None else store.clear()


@lru_cache(maxsize=1)
def _store(home: Path | None) -> Cache | None:
    from diskcache import Cache

    try:
        return None if home is None else Cache(str(home), size_limit=LIMIT)
    except _UNUSABLE:
        return None
