"""Scales of the columns of data: very different scales make a least-squares problem ill-conditioned."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fedtheory.arithmetic import Array
from fedtheory.federation.client_data import ClientData

_UNEVEN = 10.0
"""Ratio of the columns' sizes from which features are standardised."""


def are_uneven(sizes: Array) -> bool:
    """Return whether the sizes of columns (d,) are far apart; columns of zeros are ignored."""
    filled = sizes[sizes > 0]
    return bool(len(filled) > 0 and filled.max() > _UNEVEN * filled.min())


def measure_columns(columns: Array) -> Array:
    """Return the root mean square of each column, (d,), which includes both mean and deviation."""
    return np.asarray(np.sqrt(np.einsum("ij,ij->j", columns, columns) / max(len(columns), 1)))


def measure_scaling(columns: Array) -> tuple[Array, Array]:
    """Return mean and deviation of each column, (d,) each; the scale of a constant column is one."""
    spread = columns.std(axis=0)
    return columns.mean(axis=0), np.where(spread == 0, 1, spread)


def measure_data(data: ClientData) -> Array:
    """Return sizes of the columns over the rows of all clients, in floats, (d,)."""
    counts = np.array([len(outputs) for outputs in data.outputs])
    squares = np.stack([measure_columns(inputs) ** 2 for inputs in data.inputs])
    return np.asarray(np.sqrt(counts @ squares / counts.sum()))


def has_constant(blocks: Sequence[Array]) -> bool:
    """Return whether a column is constant and non-zero in all blocks of rows, (n, d) each."""
    first = blocks[0][0]
    steady = first != 0
    for inputs in blocks:
        steady = steady & (inputs == first).all(axis=0)
    return bool(steady.any())
