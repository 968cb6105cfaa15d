"""Fourth moments of a client's samples, by which the noise of mini-batches costs the same for any number of rows.

With samples ``z_j = (-y_j, x_j)`` the noise of one sample at a point of second moment S has the second moment

    (4/n) sum_j (z_j'S z_j) x_j x_j',

which is linear in S: a matrix over the s = (d+1)(d+2)/2 pairs of coordinates on and above the diagonal.  The matrix
consists of fourth moments, computed once from the rows.  It is used in floats, along the principal axes of the
client's inputs, where no large numbers cancel, however different the scales of the columns are.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from fedtheory.arithmetic import Array
from fedtheory.arithmetic.symmetric_pairs import (
    count_pair_multiplicities,
    count_pairs,
    fill_symmetric,
    list_pair_indices,
    select_pairs,
)

MOST_NUMBERS = 2**26
"""Limit on the fourth moments of all clients, half a gibibyte."""
_BLOCK = 2**21
"""Limit on the pairs of coordinates of a block of rows, 16 MiB."""
_GATHERED, _CARRIED = 8, 4
"""Costs of computing a pair, and of reading an entry of the matrix, relative to a multiplication in a product."""


@dataclass(frozen=True, eq=False)
class FourthMoments:
    """Fourth moments of one client in d dimensions, times four."""

    axes: Array
    """Principal axes of the inputs, (d, d), a row for each."""
    matrix: Array
    """(s, s), symmetric."""

    @classmethod
    def from_rows(cls, inputs: Array, outputs: Array) -> FourthMoments:
        """Compute the fourth moments of rows (n, d) with outputs (n,), a block of rows at a time."""
        axes = np.linalg.eigh(inputs.T @ inputs)[1].T
        rows, columns = list_pair_indices(len(axes) + 1)
        size = len(rows)
        matrix, step = np.zeros((size, size)), max(1, _BLOCK // size)
        for first in range(0, len(outputs), step):
            some = slice(first, first + step)
            # Each coordinate of all samples is contiguous in memory, so that pairs are products of whole lines.
            samples = np.concatenate([-outputs[None, some], axes @ inputs[some].T])
            pairs = samples[rows]
            pairs *= samples[columns]
            matrix += pairs @ pairs.T
        matrix *= 4 / len(outputs)
        return cls(axes, matrix)

    @cached_property
    def _turn(self) -> Array:
        """Return the map from (1, x) to the principal axes, (d+1, d+1)."""
        turn: Array = np.eye(len(self.axes) + 1)
        turn[1:, 1:] = self.axes
        return turn

    def compute_gradient_moments(self, moments: Array) -> Array:
        """Return second moments (..., d, d) of one sample's gradient at points with second moments (..., d+1, d+1)."""
        turned = self._turn @ moments @ self._turn.T
        return np.asarray(self.axes.T @ self._apply(turned)[..., 1:, 1:] @ self.axes)

    def pull_back(self, form: Array) -> Array:
        """Return the expectation of a form (d, d) in one sample's gradient, as a form in (1, x), (d+1, d+1)."""
        turned = np.zeros_like(self._turn)
        turned[1:, 1:] = self.axes @ form @ self.axes.T
        return np.asarray(self._turn.T @ self._apply(turned) @ self._turn)

    def _apply(self, symmetric: Array) -> Array:
        """Return the matrix applied to symmetric matrices (..., d+1, d+1)."""
        size = symmetric.shape[-1]
        return fill_symmetric((select_pairs(symmetric) * count_pair_multiplicities(size)) @ self.matrix, size)


def count_fourth_moments(dimension: int) -> int:
    """Count the numbers in the fourth moments of a client in d dimensions."""
    size = count_pairs(dimension + 1)
    return size * size


def are_cheaper(rows: int, dimension: int, evaluations: int) -> bool:
    """Return whether `evaluations` of a client's noise cost less by fourth moments, set-up included, than by rows."""
    size = count_pairs(dimension + 1)
    # Set-up is the product of a matrix with its own transpose, of which half is computed.
    by_moments = rows * size * (size / 2 + _GATHERED) + evaluations * _CARRIED * size * size
    return by_moments < evaluations * 2 * rows * (dimension + 1) ** 2
