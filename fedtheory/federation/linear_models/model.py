"""The rows of all clients with a loss on each: values, gradients and curvatures at many models at once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from fedtheory.arithmetic import Array
from fedtheory.federation.losses.scalar_losses import LossFamily

_MOST = 1 << 22
"""Limit on the size of a temporary array: more models are evaluated in blocks."""


_ROUNDING = 1e-14
"""Size of the rounding errors of a margin, relative to the largest one that is possible."""


@dataclass(frozen=True)
class MarginLoss:
    """A convex loss phi(u) of a width; a negative width reflects it."""

    kind: LossFamily
    width: float

    def value(self, u: Array) -> Array:
        """Return phi(u)."""
        return self.kind.value(u, self._width)

    def derivative(self, u: Array) -> Array:
        """Return phi'(u)."""
        return self.kind.derivative(u, self._width)

    def curvature(self, u: Array) -> Array:
        """Return phi''(u), which decreases with |u|."""
        return self.kind.curvature(u, self._width)

    @cached_property
    def _width(self) -> Array:
        return np.asarray(self.width)

    @cached_property
    def largest_curvature(self) -> float:
        """sup phi''."""
        return float(self.curvature(np.asarray(0.0)))

    @cached_property
    def slopes(self) -> tuple[float, float]:
        """inf phi' and sup phi'."""
        low, high = self.derivative(np.array([-np.inf, np.inf]))
        return float(low), float(high)

    @property
    def middle_slope(self) -> float:
        """The middle between the limits of phi'."""
        return (self.slopes[0] + self.slopes[1]) / 2

    @property
    def slope_radius(self) -> float:
        """Half the distance between the limits of phi'."""
        return (self.slopes[1] - self.slopes[0]) / 2


@dataclass(frozen=True, eq=False)
class LinearModel:
    """``F_i(w) = (1/n_i) sum_j phi(x_ij'w - b_ij) + (w - r)' diag(penalties) (w - r)/2`` of M clients."""

    loss: MarginLoss
    inputs: Array
    """x_ij, (n, d), client after client; for classes multiplied by their labels -1 and 1."""
    offsets: Array
    """b_ij, (n,)."""
    counts: Array
    """n_i, (M,) whole numbers."""
    penalties: Array
    """The ridge of each coefficient, (d,): equal for all, except possibly the last one."""
    origin: Array
    """r, (d,)."""
    labels: Array
    """The labels -1 and 1 by which rows of classes are multiplied, (n,); ones in a regression."""

    @property
    def clients(self) -> int:
        """Number of clients M."""
        return len(self.counts)

    @property
    def ridge(self) -> float:
        """The largest penalty."""
        return float(self.penalties.max())

    @property
    def strength(self) -> float:
        """The smallest penalty: the losses have no curvature at infinity."""
        return float(self.penalties.min())

    @property
    def is_intercept_apart(self) -> bool:
        """Whether the last coefficient has its own penalty."""
        return bool(self.penalties[-1] != self.penalties[0])

    @cached_property
    def first_rows(self) -> Array:
        """The index of each client's first row, (M,)."""
        return np.asarray(np.cumsum(self.counts) - self.counts)

    @cached_property
    def lengths_sq(self) -> Array:
        """|x_ij|^2, (n,)."""
        return np.asarray(np.einsum("nd,nd->n", self.inputs, self.inputs))

    def row_weights(self, weights: Array) -> Array:
        """Return weights (n,) of the rows in an objective ``sum_i weights_i F_i``."""
        return np.repeat(weights / self.counts, self.counts)

    def average_rows(self, values: Array) -> Array:
        """Return averages over each client's rows, (M, ...), of values (n, ...)."""
        sums = np.add.reduceat(values, self.first_rows, axis=0)
        return np.asarray(sums / self.counts.reshape(-1, *[1] * (values.ndim - 1)))

    def rows_of(self, client: int) -> slice:
        """Return the slice of a client's rows."""
        first = int(self.first_rows[client])
        return slice(first, first + int(self.counts[client]))

    def select_clients(self, clients: list[int]) -> LinearModel:
        """Return the rows of the given clients, in that order, possibly with repetitions."""
        rows = np.concatenate([np.arange(len(self.offsets))[self.rows_of(client)] for client in clients])
        chosen = {name: getattr(self, name)[rows] for name in ("inputs", "offsets", "labels")}
        return replace(self, counts=self.counts[clients], **chosen)

    def translate(self, origin: Array) -> LinearModel:
        """Return the objectives in coordinates whose origin is the given point, (d,)."""
        return replace(self, offsets=self.offsets - self.inputs @ origin, origin=self.origin - origin)

    def margins(self, points: Array) -> Array:
        """Return x_j'w - b_j of all rows, (..., n), at points (..., d)."""
        return np.asarray(points @ self.inputs.T - self.offsets)

    def positive_fractions(self, points: Array, margins: Array) -> Array:
        """Return the fraction of rows with positive margins, (K,), at points (K, d) with margins (K, n).

        A margin that is zero up to rounding errors counts half.
        """
        longest, farthest = self.lengths_sq.max(initial=0.0) ** 0.5, np.abs(self.offsets).max(initial=0.0)
        zero = _ROUNDING * (np.linalg.norm(points, axis=-1)[:, None] * longest + farthest)
        return np.asarray(((margins > zero).mean(axis=-1) + (margins >= -zero).mean(axis=-1)) / 2)

    def ridge_values(self, points: Array) -> Array:
        """Return the ridge's part of the values, (...), at points (..., d)."""
        away = points - self.origin
        return np.asarray((away * away) @ self.penalties / 2)

    def _compute_ridge_slopes(self, points: Array) -> Array:
        """Return the ridge's part of the gradients, (..., d), at points (..., d)."""
        return np.asarray(self.penalties * (points - self.origin))

    def values(self, row_weights: Array, points: Array) -> Array:
        """Return the mixed objective with weights (n,) of the rows, (K,), at points (K, d)."""
        found = [self.loss.value(self.margins(block)) @ row_weights for block in self._iterate_blocks(points)]
        return np.concatenate(found) + self.ridge_values(points)

    def mixed_gradients(self, row_weights: Array, points: Array) -> Array:
        """Return the gradient of the mixed objective, (K, d), at points (K, d)."""
        found = [
            (self.loss.derivative(self.margins(block)) * row_weights) @ self.inputs
            for block in self._iterate_blocks(points)
        ]
        return np.concatenate(found) + self._compute_ridge_slopes(points)

    def evaluate(self, row_weights: Array, points: Array) -> tuple[Array, Array, Array]:
        """Return values (K,) and gradients (K, d) of the mixed objective, and fractions of positive margins, (K,)."""
        values, slopes, positive = [], [], []
        for block in self._iterate_blocks(points):
            margins = self.margins(block)
            values.append(self.loss.value(margins) @ row_weights)
            slopes.append((self.loss.derivative(margins) * row_weights) @ self.inputs)
            positive.append(self.positive_fractions(block, margins))
        return (
            np.concatenate(values) + self.ridge_values(points),
            np.concatenate(slopes) + self._compute_ridge_slopes(points),
            np.concatenate(positive),
        )

    def _iterate_blocks(self, points: Array) -> Iterator[Array]:
        """Yield points (K, d) in blocks whose margins fit into memory."""
        step = max(_MOST // max(len(self.offsets), 1), 1)
        for first in range(0, max(len(points), 1), step):
            yield points[first : first + step]

    def client_values(self, points: Array) -> Array:
        """Return F_i, (K, M), each client at its own point (K, M, d)."""
        found = np.empty(points.shape[:-1])
        for clients, inputs, offsets in self._groups_of_equal_size:
            margins = self._compute_margins_of_clients(points, clients, inputs, offsets)
            found[:, clients] = self.loss.value(margins).mean(axis=1).T
        return found + self.ridge_values(points)

    def client_gradients(self, points: Array) -> Array:
        """Return grad F_i, (K, M, d), each client at its own point (K, M, d)."""
        found = np.empty(points.shape)
        for clients, inputs, offsets in self._groups_of_equal_size:
            slopes = self.loss.derivative(self._compute_margins_of_clients(points, clients, inputs, offsets))
            found[:, clients] = (slopes.transpose(0, 2, 1) @ inputs).transpose(1, 0, 2) / inputs.shape[1]
        return found + self._compute_ridge_slopes(points)

    @staticmethod
    def _compute_margins_of_clients(points: Array, clients: Array, inputs: Array, offsets: Array) -> Array:
        """Return x_ij'w_i - b_ij of clients with equally many rows, (m, n_i, K)."""
        return np.asarray(inputs @ points[:, clients].transpose(1, 2, 0) - offsets[:, :, None])

    @cached_property
    def _groups_of_equal_size(self) -> list[tuple[Array, Array, Array]]:
        """Clients grouped by their number of rows, with inputs (m, n_i, d) and offsets (m, n_i)."""
        found = []
        for count in np.unique(self.counts):
            clients = np.flatnonzero(self.counts == count)
            rows = self.first_rows[clients][:, None] + np.arange(count)
            found.append((clients, self.inputs[rows], self.offsets[rows]))
        return found

    def batch_gradients(self, points: Array, counts: Array) -> Array:
        """Return average gradients (K, M, d) of batches with each row `counts` times, (K, n), at points (K, M, d)."""
        found = np.empty(points.shape)
        for client in range(self.clients):
            rows = self.rows_of(client)
            inputs, own = self.inputs[rows], counts[:, rows]
            slopes = self.loss.derivative(points[:, client] @ inputs.T - self.offsets[rows])
            found[:, client] = (slopes * own) @ inputs / own.sum(axis=1, keepdims=True)
        return found + self._compute_ridge_slopes(points)

    def batch_slopes(self, points: Array, rows: Array) -> Array:
        """Return average gradients (K, M, d) of chosen rows (K, M, B) at points (K, M, d), with the ridge's part."""
        found = np.empty(points.shape)
        step = max(_MOST // max(rows[0].size * points.shape[-1], 1), 1)
        for first in range(0, len(points), step):
            block = slice(first, first + step)
            inputs = self.inputs[rows[block]]
            margins = (inputs @ points[block, :, :, None])[..., 0] - self.offsets[rows[block]]
            found[block] = (self.loss.derivative(margins)[..., None, :] @ inputs)[..., 0, :]
        return np.asarray(found / rows.shape[-1] + self._compute_ridge_slopes(points))
