"""Entries of arrays that are alike: what is the same for many clients is computed for one of them."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TypeVar

import numpy as np
from flint import fmpq

from fedtheory.arithmetic.operations import Array

Found = TypeVar("Found")


def map_equal_rows(function: Callable[..., Found], *parts: Array) -> list[Found]:
    """Map a function over the rows of arrays (M, ...); rows that are equal share one call."""
    first, kinds = group_equal_rows(*parts)
    found = [function(*(part[row] for part in parts)) for row in first]
    return [found[kind] for kind in kinds]


def group_equal_rows(*parts: Array) -> tuple[list[int], list[int]]:
    """Return the first row of each group of equal rows (G,), and the group of each row (M,), of arrays (M, ...).

    Rows are of one kind where all parts have the same floats or the same rationals there.
    """
    known: dict[Hashable, int] = {}
    first: list[int] = []
    kinds: list[int] = []
    for row, key in enumerate(zip(*map(_keys, parts), strict=True)):
        kind = known.setdefault(key, len(first))
        if kind == len(first):
            first.append(row)
        kinds.append(kind)
    return first, kinds


def _keys(part: Array) -> list[Hashable]:
    """Compute for each row a key that equal rows share."""
    given: object = part
    if not isinstance(given, np.ndarray):
        # Nothing is known of numbers inside of intervals.
        return list(range(len(part)))
    if part.dtype != object:
        # Zeros of both signs are one number.
        return [row.tobytes() for row in part + 0]
    rows = part.reshape(len(part), -1).tolist()
    # Enclosures that look alike may stand for different numbers.
    return [tuple(entry if type(entry) is fmpq else id(entry) for entry in row) for row in rows]
