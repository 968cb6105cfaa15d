"""Constants of linear models that hold on all of space: upper bounds, and a lower bound for strong convexity.

The derivatives phi' of the loss lie in an interval with middle m and radius r.  Hence for any numbers a_j

    |sum_j a_j phi'_j x_j| <= |m| |sum_j a_j x_j| + r min(sum_j |a_j| |x_j|, sqrt(n) |A|),   A the rows a_j x_j.

A ridge is the same for all clients and samples: it adds no dissimilarity and no noise.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from fedtheory.arithmetic import Array
from fedtheory.errors import NotApplicable
from fedtheory.federation.linear_models.batches import RowBatches
from fedtheory.federation.linear_models.model import LinearModel
from fedtheory.federation.oracles import Oracle

_EPSILON = float(np.finfo(float).eps)


@dataclass(frozen=True, eq=False)
class ModelConstants:
    """Constants of a linear model on all of space; every number is a bound on the safe side."""

    model: LinearModel
    weights: Array
    """p_i, (M,)."""
    oracle: Oracle

    @property
    def _safe(self) -> float:
        """A factor above all rounding errors in sums over the rows."""
        return 1.0 + 8.0 * float(sum(self.model.inputs.shape)) * _EPSILON

    @property
    def shrinkages(self) -> Array:
        """Ratio of the variance of each client's gradients to the variance of one row's, (M,)."""
        if isinstance(self.oracle, RowBatches):
            return self.oracle.shrinkages
        return np.zeros(self.model.clients)

    @cached_property
    def client_smoothness(self) -> Array:
        """Upper bound on the largest curvature of each F_i, (M,)."""
        model = self.model
        eigenvalues = [
            compute_largest_eigenvalue(model.inputs[model.rows_of(i)], 1 / n) for i, n in enumerate(model.counts)
        ]
        return self._bound_curvatures(np.array(eigenvalues))

    @cached_property
    def objective_smoothness(self) -> float:
        """Upper bound on the largest curvature of F."""
        largest = compute_largest_eigenvalue(self.model.inputs, self.model.row_weights(self.weights))
        return float(self._bound_curvatures(np.array(largest)))

    @cached_property
    def row_smoothness(self) -> float:
        """Upper bound on the largest curvature of a single row's objective."""
        return float(self._bound_curvatures(self.model.lengths_sq.max(initial=0.0)))

    def _bound_curvatures(self, eigenvalues: Array) -> Array:
        """Return curvatures of objectives whose rows have these largest eigenvalues."""
        return np.asarray(self.model.loss.largest_curvature * eigenvalues * self._safe + self.model.ridge)

    @cached_property
    def noise_smoothness(self) -> float:
        """Upper bound on l with E|n_i(x) - n_i(y)|^2 <= 2 l (F_i(y) - F_i(x) - <grad F_i(x), y - x>).

        If a row's loss has curvature c, the squared difference of its gradients is at most 2 c times that right side
        for it.
        """
        longest = np.maximum.reduceat(self.model.lengths_sq, self.model.first_rows)
        return float((self.shrinkages * longest).max() * self.model.loss.largest_curvature * self._safe)

    @cached_property
    def mean_square_smoothness(self) -> Array:
        """Upper bound on c_i with E|g_i(x) - g_i(y)|^2 <= c_i |x - y|^2, one sample in both gradients, (M,)."""
        model, shrinkages = self.model, self.shrinkages
        found = self.client_smoothness**2
        for client in np.flatnonzero(shrinkages):
            rows = model.rows_of(int(client))
            largest = compute_largest_eigenvalue(model.inputs[rows], model.lengths_sq[rows] / model.counts[client])
            found[client] += shrinkages[client] * model.loss.largest_curvature**2 * largest * self._safe
        return found

    @cached_property
    def row_second_moments(self) -> Array:
        """Upper bound on (1/n_i) sum_j |phi'_j x_ij|^2 of each client, (M,)."""
        steepest = max(map(abs, self.model.loss.slopes))
        return self.model.average_rows(steepest**2 * self.model.lengths_sq) * self._safe

    @cached_property
    def noise(self) -> Array:
        """Upper bound on E|g_i(x) - grad F_i(x)|^2, (M,).

        The variance of the rows' gradients is at most their mean squared distance from any point: here from zero, or
        from the middle derivative m times the mean row.
        """
        low, high = self.model.loss.slopes
        means = self.model.average_rows(self.model.inputs)
        centres = np.repeat(self.model.loss.middle_slope * means, self.model.counts, axis=0)
        ends = [((slope * self.model.inputs - centres) ** 2).sum(axis=1) for slope in (low, high)]
        about_middle = self.model.average_rows(np.maximum(*ends)) * self._safe
        return np.asarray(self.shrinkages * np.minimum(about_middle, self.row_second_moments))

    @cached_property
    def dissimilarities_sq(self) -> Array:
        """Upper bound on sup_x |grad F_i(x) - grad F(x)|^2, (M,)."""
        own = np.eye(self.model.clients)
        return np.array([self._bound_combination(row - self.weights) ** 2 for row in own])

    @cached_property
    def gradient_suprema_sq(self) -> Array:
        """Upper bound on sup_x |grad F_i(x)|^2, (M,); raises `NotApplicable` with a ridge."""
        self._require_no_ridge()
        return np.array([self._bound_combination(row) ** 2 for row in np.eye(self.model.clients)])

    @cached_property
    def objective_supremum_sq(self) -> float:
        """Upper bound on sup_x |grad F(x)|^2; raises `NotApplicable` with a ridge."""
        self._require_no_ridge()
        return self._bound_combination(self.weights) ** 2

    @cached_property
    def second_moments(self) -> Array:
        """Upper bound on sup_x E|g_i(x)|^2, (M,); raises `NotApplicable` with a ridge."""
        suprema, shrinkages = self.gradient_suprema_sq, self.shrinkages
        rows = self.row_second_moments
        return np.asarray((1 - shrinkages) * np.minimum(suprema, rows) + shrinkages * rows)

    def _require_no_ridge(self) -> None:
        if self.model.ridge > 0:
            raise NotApplicable("gradients of an objective with a ridge are unbounded on all of space")

    def _bound_combination(self, mixing: Array) -> float:
        """Return an upper bound on |sum_i mixing_i grad F_i| everywhere, without the ridge's part, for mixing (M,)."""
        loss, factors = self.model.loss, self.model.row_weights(mixing)
        rows = factors[:, None] * self.model.inputs
        middle = abs(loss.middle_slope) * float(np.linalg.norm(rows.sum(axis=0)))
        each = float(np.abs(factors) @ np.sqrt(self.model.lengths_sq))
        joint = np.sqrt(len(factors) * compute_largest_eigenvalue(self.model.inputs, factors**2))
        return (middle + loss.slope_radius * min(each, float(joint))) * self._safe


def compute_largest_eigenvalue(inputs: Array, weights: Array | float) -> float:
    """Return the largest eigenvalue of ``sum_j weights_j x_j x_j'``, from the smaller of the two Gram matrices."""
    rows = inputs * np.sqrt(np.broadcast_to(weights, len(inputs)))[:, None]
    gram = rows.T @ rows if len(rows) >= rows.shape[1] else rows @ rows.T
    return max(float(np.linalg.eigvalsh(gram)[-1]), 0.0) if len(gram) else 0.0
