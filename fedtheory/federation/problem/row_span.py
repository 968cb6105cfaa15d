"""Least squares with more features than rows, in coordinates of the span of all rows and the start.

Let the columns of Q (d, r) be orthonormal and span the rows, the start and an intercept without penalty.  A
model ``w = Q z`` stays of this form: gradients are sums of rows and of multiples of the model.  In the coordinates z
the rows are ``Q'x_ij``, and values, norms of gradients and distances are unchanged.  One coordinate represents the
orthogonal complement, where the rows vanish and the curvature is that of the ridge: constants are unchanged, too.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from fedtheory.arithmetic import FLOAT, Array, arithmetic_of, product
from fedtheory.federation.client_data import ClientData

FEWEST = 64
"""Number of features below which the coordinates are not changed."""
MORE = 3
"""Number of coordinates besides one for each row: the start, an intercept, and the orthogonal complement."""
_FLAT, _FAINT = 64 * float(np.finfo(float).eps), 1e-6
"""Relative singular values, per dimension, below which others are zero, and below which they lose digits."""


@dataclass(frozen=True, eq=False)
class RowSpan:
    """Data and a start in d dimensions, and orthonormal coordinates of their span."""

    basis: Array
    """Q, (d, r): columns that span the rows come first; a zero column represents the orthogonal complement."""
    spanned: int
    """Number of columns that span the rows, without an intercept that has no penalty."""
    data: ClientData
    start: Array
    """x^0, (d,)."""

    @property
    def inside(self) -> tuple[ClientData, Array]:
        """Return the data and the start in the coordinates of the span."""
        inputs = tuple(product(rows, self.basis) for rows in self.data.inputs)
        for rows in inputs:
            # Rows are orthogonal to the rest of the start: a rounding error there would look like curvature.
            outside = rows[:, self.spanned : rows.shape[1] - int(self.data.free)]
            outside[:] = arithmetic_of(rows).zeros(*outside.shape)
        return replace(self.data, inputs=inputs), product(self.start, self.basis)

    def lift(self, points: Array) -> Array:
        """Return points (..., r) of the span in all dimensions, (..., d)."""
        return product(points, self.basis.T)

    def select_clients(self, clients: list[int]) -> RowSpan:
        """Return the span with the data of the given clients."""
        return replace(self, data=self.data.select_clients(clients))


def bound_coordinates(data: ClientData) -> int:
    """Return an upper bound on the coordinates of a problem on the data in floats; all features in rationals."""
    rows, dimension = sum(map(len, data.outputs)), int(data.inputs[0].shape[1])
    return bound_coordinates_in_floats(rows, dimension) if arithmetic_of(data.inputs[0]) is FLOAT else dimension


def bound_coordinates_in_floats(rows: int, dimension: int) -> int:
    """Return an upper bound on the number of coordinates for `rows` rows in `dimension` dimensions in floats."""
    return min(dimension, rows + MORE) if dimension >= FEWEST else dimension


def find_span(data: ClientData, start: Array) -> RowSpan | None:
    """Return the span of the data and a start (d,), in floats; None if it is not smaller, or would lose digits."""
    dimension = len(start)
    if bound_coordinates(data) == dimension:
        return None
    # An intercept without penalty keeps its own coordinate, the last one.
    penalised = slice(0, dimension - 1 if data.free else dimension)
    basis = _find_basis(np.concatenate(data.inputs)[:, penalised])
    if basis is None:
        return None
    left = start[penalised] - basis @ (basis.T @ start[penalised])
    left = left - basis @ (basis.T @ left)
    length = np.linalg.norm(left)
    more = [left / length] if length > _FLAT * dimension * np.linalg.norm(start) else []
    whole = np.zeros((dimension, basis.shape[1] + len(more) + 1 + int(data.free)))
    whole[penalised, : basis.shape[1] + len(more)] = np.column_stack([basis, *more])
    if data.free:
        whole[-1, -1] = 1.0
    return RowSpan(whole, basis.shape[1], data, start)


def _find_basis(rows: Array) -> Array | None:
    """Return an orthonormal basis (d, r) of the span of rows (n, d).

    Returns None if rounding makes its dimension uncertain.
    """
    orthonormal, triangle = np.linalg.qr(rows.T)
    left, sizes, _ = np.linalg.svd(triangle)
    largest = sizes.max(initial=0.0)
    spanned = sizes > _FLAT * len(sizes) * largest
    if (sizes[spanned] < _FAINT * largest).any():
        return None
    basis: Array = orthonormal @ left[:, spanned]
    return basis
