"""Assigns rows to clients; labels are text."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from fedtheory.arithmetic import Array


@dataclass(frozen=True, eq=False)
class Clients:
    """The clients of a data set."""

    labels: tuple[str, ...]
    """Labels in numeric order if all look like numbers, so that 2 comes before 10, else in text order."""
    codes: Array
    """The index of each row's client in the labels, (n,)."""

    @classmethod
    def from_labels(cls, labels: Iterable[str], codes: Array) -> Clients:
        """Return the clients from labels in any order, and the index of each row's client among them."""
        unsorted = tuple(labels)
        order = sorted(range(len(unsorted)), key=_make_sorting_key(unsorted))
        places = np.empty(len(unsorted), dtype=np.intp)
        places[order] = np.arange(len(unsorted))
        return cls(tuple(unsorted[place] for place in order), places[codes])

    @classmethod
    def from_values(cls, values: Array) -> Clients:
        """Read clients from one value per row, (n,): numbers or words."""
        distinct, codes = np.unique(values, return_inverse=True)
        return cls.from_labels(map(label_of, distinct.tolist()), codes.reshape(-1))

    @cached_property
    def rows(self) -> list[Array]:
        """Return the row numbers of each client."""
        counts = np.bincount(self.codes, minlength=len(self.labels))
        return np.split(np.argsort(self.codes, kind="stable"), np.cumsum(counts)[:-1])


def label_of(value: Any) -> str:
    """Return a client's label as text: words without surrounding spaces; whole numbers without a decimal point."""
    if isinstance(value, float) and value.is_integer() and abs(value) < _WHOLE:
        return str(int(value))
    return str(value).strip()


_WHOLE = 2.0**53
"""Bound below which whole numbers are represented exactly as floats."""


def _make_sorting_key(labels: tuple[str, ...]) -> Any:
    """Return the key by which labels are sorted: as numbers if all are numbers, else as text."""
    try:
        numbers = [float(label) for label in labels]
    except ValueError:
        return lambda place: labels[place]
    if not all(map(math.isfinite, numbers)):
        return lambda place: labels[place]
    return lambda place: (numbers[place], labels[place])
