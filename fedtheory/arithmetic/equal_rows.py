"""Groups equal entries of arrays, so that each distinct one is computed once."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, TypeVar

import numpy as np
from flint import fmpq
from numpy.typing import NDArray

Array = NDArray[Any]
Found = TypeVar("Found")


def map_equal_rows(function: Callable[..., Found], *parts: Array) -> list[Found]:
    """Map a function over the rows of arrays (M, ...); equal rows share one call."""
    first, kinds = group_equal_rows(*parts)
    found = [function(*(part[row] for part in parts)) for row in first]
    return [found[kind] for kind in kinds]


def group_equal_rows(*parts: Array) -> tuple[list[int], list[int]]:
    """Return the first row of each group of equal rows (G,), and the group of each row (M,), of arrays (M, ...).

    Two rows are equal if all parts have the same floats or the same rationals there.
    """
    known: dict[Hashable, int] = {}
    first: list[int] = []
    kinds: list[int] = []
    for row, key in enumerate(zip(*map(_make_keys, parts), strict=True)):
        kind = known.setdefault(key, len(first))
        if kind == len(first):
            first.append(row)
        kinds.append(kind)
    return first, kinds


def _make_keys(part: Array) -> list[Hashable]:
    """Return for each row a key that equal rows share."""
    given: object = part
    if not isinstance(given, np.ndarray):
        # Two intervals are never known to hold equal numbers.
        return list(range(len(part)))
    if part.dtype != object:
        # Adding zero maps -0.0 to 0.0: they are one number.
        return [row.tobytes() for row in part + 0]
    rows = part.reshape(len(part), -1).tolist()
    # Two equal enclosures may stand for different numbers.  A rational itself takes ten times as long to hash.
    return [tuple([(entry.p, entry.q) if type(entry) is fmpq else id(entry) for entry in row]) for row in rows]
