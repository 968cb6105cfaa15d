"""Clients in types: each entry of a `[problem]` table stands for as many equal clients as its `count` says."""

from __future__ import annotations

import numpy as np

from fedtheory.arithmetic import Array, arithmetic_of
from fedtheory.errors import InputError
from fedtheory.runfile.limits import MOST_ENTRIES
from fedtheory.runfile.table import Table, whole_number

Counts = tuple[int, ...]


def read_counts(table: Table, entries: int, dimension: int) -> Counts:
    """Return the number of clients of each entry: one number for all entries or one for each; one by default."""
    given = table.take("count", 1)
    listed = given if isinstance(given, list) else [given] * entries
    if len(listed) != entries:
        raise InputError(table.path("count"), f"expected {entries} numbers, one for each entry, got {len(listed)}")
    counts = tuple(whole_number(count, table.path("count"), 1) for count in listed)
    if sum(counts) * dimension * dimension > MOST_ENTRIES:
        expected = f"expected at most {MOST_ENTRIES} entries in all Hessians (clients x dimension x dimension)"
        got = f"{sum(counts)} x {dimension} x {dimension}"
        raise InputError(table.path("count"), f"{expected}, got {got}: use fewer clients or dimensions")
    return counts


def repeated(values: Array, counts: Counts) -> Array:
    """Values of each entry (E, ...) as those of each client (M, ...); others than one for each entry stay."""
    return np.repeat(values, counts, axis=0) if len(values) == len(counts) and set(counts) != {1} else values


def shared_out(weights: Array, counts: Counts) -> Array:
    """Weights of entries (E,), which their clients share evenly, (M,)."""
    if len(weights) != len(counts):
        return weights
    each: Array = weights / arithmetic_of(weights).array(counts)
    return repeated(each, counts)
