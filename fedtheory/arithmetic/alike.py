"""Entries of arrays that are alike: what is the same for many clients is computed for one of them."""

from __future__ import annotations

from collections.abc import Hashable

from flint import fmpq

from fedtheory.arithmetic.operations import Array


def group_alike(*parts: Array) -> tuple[list[int], list[int]]:
    """The first row of each kind, and the kind of each row, of arrays (M, ...) whose rows belong together.

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
    """For each row what tells it from others."""
    if part.dtype != object:
        return [row.tobytes() for row in part]
    rows = part.reshape(len(part), -1).tolist()
    # Enclosures that look alike may stand for different numbers.
    return [tuple(entry if type(entry) is fmpq else id(entry) for entry in row) for row in rows]
