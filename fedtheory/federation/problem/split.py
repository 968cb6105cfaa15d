"""Splits a data set over clients."""

from __future__ import annotations

import numpy as np

from fedtheory.arithmetic import Array
from fedtheory.errors import InputError


def split_iid(count: int, clients: int, seed: int) -> list[Array]:
    """Return row indices for each client: a random partition of `count` rows into parts of nearly equal size."""
    _check_count(count, clients)
    shuffled = np.random.default_rng(seed).permutation(count)
    return [np.sort(part) for part in np.array_split(shuffled, clients)]


def split_by_dirichlet(labels: Array, clients: int, concentration: float, seed: int) -> list[Array]:
    """Return row indices for each client, with label skew by Dirichlet proportions.

    Each label's rows are assigned in proportions sampled from a symmetric
    Dirichlet law; a small `concentration` gives each client few labels.  A
    client without rows takes a row from the largest one.
    """
    _check_count(len(labels), clients)
    if concentration <= 0:
        raise InputError("problem.concentration", f"expected a positive number, got {concentration}")
    generator = np.random.default_rng(seed)
    parts: list[list[int]] = [[] for _ in range(clients)]
    for label in np.unique(labels):
        rows = generator.permutation(np.flatnonzero(labels == label))
        cuts = np.cumsum(generator.dirichlet([concentration] * clients))[:-1] * len(rows)
        for part, dealt in zip(parts, np.split(rows, cuts.round().astype(int)), strict=True):
            part.extend(dealt.tolist())
    for part in parts:
        if not part:
            part.append(max(parts, key=len).pop())
    return [np.sort(np.array(part)) for part in parts]


def _check_count(count: int, clients: int) -> None:
    if not 1 <= clients <= count:
        raise InputError("problem.clients", f"expected between 1 and {count} (the number of rows), got {clients}")
