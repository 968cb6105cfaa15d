"""Symmetric matrices by their entries on and above the diagonal, and linear maps between them as matrices."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from fedtheory.arithmetic import Array


def count_pairs(size: int) -> int:
    """Count the entries on and above the diagonal of a matrix (size, size)."""
    return size * (size + 1) // 2


@lru_cache(maxsize=64)
def list_pair_indices(size: int) -> tuple[Array, Array]:
    """Return rows and columns of the entries on and above the diagonal, (s,) each."""
    rows, columns = np.triu_indices(size)
    return rows, columns


@lru_cache(maxsize=64)
def count_pair_multiplicities(size: int) -> Array:
    """Return the number of times that each pair occurs in a symmetric matrix, (s,)."""
    rows, columns = list_pair_indices(size)
    return np.where(rows == columns, 1.0, 2.0)


def select_pairs(symmetric: Array) -> Array:
    """Return the entries (..., s) on and above the diagonal of symmetric matrices (..., size, size)."""
    rows, columns = list_pair_indices(symmetric.shape[-1])
    found: Array = symmetric[..., rows, columns]
    return found


def fill_symmetric(pairs: Array, size: int) -> Array:
    """Return the symmetric matrices (..., size, size) with the entries `pairs` (..., s)."""
    rows, columns = list_pair_indices(size)
    found: Array = np.empty((*pairs.shape[:-1], size, size), dtype=pairs.dtype)
    found[..., rows, columns] = found[..., columns, rows] = pairs
    return found


def map_pairs(maps: Array) -> Array:
    """Return the matrices (..., s_a, s_b) of ``S -> A S A'`` for maps A (..., a, b)."""
    rows, columns = list_pair_indices(maps.shape[-2])
    first, second = list_pair_indices(maps.shape[-1])
    in_rows, in_columns = maps[..., rows, :], maps[..., columns, :]
    found: Array = in_rows[..., first] * in_columns[..., second]
    found += in_rows[..., second] * in_columns[..., first]
    found *= count_pair_multiplicities(maps.shape[-1]) / 2
    return found
