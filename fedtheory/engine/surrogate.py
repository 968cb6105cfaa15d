"""Objectives of a run with unequal reporting: L^n in update n, and their time average, the surrogate problem.

    L^n = sum_i q_i(n) L_i,   Lbar = sum_i q_i L_i = (1/N) sum_n L^n,   q_i(n) = E[w_i(n)]

(fraboni2022, eqs. 9, 10).  Clients with the same objective are of one type, as are
clients with the same data in its Section 2.6.  Points are relative to x*.
"""

from __future__ import annotations

from functools import cached_property, lru_cache

import numpy as np

from fedtheory.arithmetic import Array, Number, group_equal_rows, map_equal_rows, refuse_test, sum_with_weights
from fedtheory.engine.moments.server import evaluate_functionals
from fedtheory.errors import InputError, NotApplicable
from fedtheory.federation import Algorithm
from fedtheory.federation.problem import Problem


class Surrogate:
    """The objectives of a run's updates; arrays are in the problem's arithmetic."""

    def __init__(self, problem: Problem, algorithm: Algorithm) -> None:
        self.problem = problem
        self._algorithm = algorithm

    @cached_property
    def update_weights(self) -> Array:
        """q_i(n), (N, M), or one row, (1, M), where all updates have the same.

        Raises `NotApplicable` for algorithms that are no setting of the update rule.
        """
        # Not before: types and values of the clients' objectives are those of the problem, for any algorithm.
        self._algorithm.require_update_rule("a surrogate problem is known for the update rule")
        updates = list(self._algorithm.updates())
        # The weights depend on the reporting clients and their models, which recur.
        alike = {update.work: update for update in updates}
        of = {work: self._algorithm.expected_weights(one, self.problem.weights) for work, one in alike.items()}
        return np.stack(list(of.values())) if len(of) == 1 else np.stack([of[update.work] for update in updates])

    @property
    def weights(self) -> Array:
        """Return `update_weights` of each update, (N, M)."""
        return self._repeat(self.update_weights)

    def _repeat(self, values: Array) -> Array:
        """Return values of all updates, (N, ...), from these or from the one that they have in common."""
        return np.broadcast_to(values, (self._algorithm.rounds, *values.shape[1:]))

    @property
    def totals(self) -> Array:
        """q(n) = sum_i q_i(n), (N,)."""
        return self._repeat(self._update_totals)

    @cached_property
    def _update_totals(self) -> Array:
        """Return the sum of client weights of each update."""
        totals: Array = self.update_weights.sum(axis=1)
        return totals

    @cached_property
    def update_shares(self) -> Array:
        """q_i(n) / q(n), (N, M), or one row; raises `NotApplicable` if no client reports in some update."""
        if (self._update_totals == 0).any():
            raise NotApplicable("no client reports in some update: its weights cannot be normalised")
        shares: Array = self.update_weights / self._update_totals[:, None]
        return shares

    @property
    def shares(self) -> Array:
        """Return `update_shares` of each update, (N, M)."""
        return self._repeat(self.update_shares)

    @cached_property
    def mean_weights(self) -> Array:
        """q_i = (1/N) sum_n q_i(n), (M,)."""
        means: Array = self.update_weights.sum(axis=0) / len(self.update_weights)
        return means

    @cached_property
    def mean_shares(self) -> Array:
        """q_i / q, (M,); raises `NotApplicable` if no client reports in any update."""
        total = self.mean_weights.sum()
        if total == 0:
            raise NotApplicable("no client reports in any update: the average weights cannot be normalised")
        shares: Array = self.mean_weights / total
        return shares

    @cached_property
    def optimum(self) -> Array:
        """A minimiser of Lbar, the closest to the start, (d,)."""
        return self._minimise(self.mean_weights, self.problem.centred.start)

    @cached_property
    def update_optima(self) -> Array:
        """A minimiser of each L^n, the closest to that of Lbar, (N, d), or one row where all L^n are the same."""
        return np.stack(map_equal_rows(lambda weights: self._minimise(weights, self.optimum), self.update_weights))

    @property
    def round_optima(self) -> Array:
        """Return `update_optima` of each update, (N, d)."""
        return self._repeat(self.update_optima)

    def _minimise(self, weights: Array, near: Array) -> Array:
        """Return the minimiser of the objective with these client weights."""
        hessian, linear = self._mix(weights)
        self._require_convex(hessian)
        try:
            return np.asarray(near + self.problem.arithmetic.solve(hessian, linear - hessian @ near))
        except InputError:
            raise refuse_test(
                self.problem.arithmetic, "a weighted sum of the clients' objectives has no minimizer"
            ) from None

    def _mix(self, weights: Array) -> tuple[Array, Array]:
        """Return Hessian and linear term of sum_i weights_i L_i, (d, d) and (d,)."""
        centred = self.problem.centred
        return sum_with_weights(weights, centred.hessians), sum_with_weights(weights, centred.linear)

    def _require_convex(self, hessian: Array) -> None:
        """Raise `NotApplicable` if a weighted sum of the clients' objectives has this Hessian and no minimiser."""
        if not self.problem.has_convex_clients and not self.problem.arithmetic.is_psd(hessian):
            raise NotApplicable("a weighted sum of the clients' objectives is unbounded below")

    def mixed_value(self, weights: Array, point: Array) -> Number:
        """Return sum_i weights_i L_i as one objective, at a point (d,)."""
        hessian, linear = self._mix(weights)
        return point @ hessian @ point / 2 - linear @ point + weights @ self.problem.centred.constants

    def mixed_gradient(self, weights: Array, point: Array) -> Array:
        """Return the gradient of `mixed_value`, (d,)."""
        hessian, linear = self._mix(weights)
        slope: Array = hessian @ point - linear
        return slope

    def client_values(self, points: Array) -> Array:
        """Return L_i, (..., M), at points (..., d)."""
        centred = self.problem.centred
        squares = points[..., :, None] * points[..., None, :]
        curved = evaluate_functionals(centred.hessians, squares) / 2
        values: Array = curved - points @ centred.linear.T + centred.constants
        return values

    @cached_property
    def least_client_values(self) -> Array:
        """L_i(theta_i*), (M,)."""
        # One client at a time: the values of all clients at all points would not fit into memory.
        centred, points = self.problem.centred, self.problem.centred.client_optima
        curved = (points * (centred.hessians @ points[..., None])[..., 0]).sum(axis=-1) / 2
        return np.asarray(curved - (points * centred.linear).sum(axis=-1) + centred.constants)

    @cached_property
    def round_optimal_values(self) -> Array:
        """L^n(thetabar^n), (N,)."""
        return self._repeat((self.update_weights * self.client_values(self.update_optima)).sum(axis=1))

    def values_at(self, point: Array) -> Array:
        """Return L^n, (N,), at a point (d,)."""
        return self._repeat(self.update_weights @ self.client_values(point))

    @cached_property
    def comparator(self) -> Array:
        """The minimiser of ``Lbar(y) + |theta^0 - y|^2 / (eta_g eta_l K N)``, if all clients take the same steps."""
        algorithm, centred = self._algorithm, self.problem.centred
        work, size = algorithm.work, algorithm.aggregation.server_step_size
        if work.common_steps is None or work.common_step_size is None:
            raise NotApplicable("the clients take different local steps: the run has no comparator")
        time = size * work.common_step_size * work.common_steps * algorithm.rounds / 2
        hessian, linear = self._mix(self.mean_weights)
        matrix = self.problem.arithmetic.identity(self.problem.dimension) + time * hessian
        self._require_convex(hessian)
        return self.problem.arithmetic.solve_regular(matrix, centred.start + time * linear)

    @cached_property
    def types(self) -> Array:
        """Index of the first client of the same type, for each client, (M,)."""
        return _find_types(self.problem)

    def sum_by_type(self, values: Array) -> Array:
        """Return sums of client values (..., M) over each type, at its first client; zero at the others."""
        if (np.diff(self.types) > 0).all():
            # Each client is a type of its own.
            return values
        sums = values - values
        for client, first in enumerate(self.types):
            sums[..., first] = sums[..., first] + values[..., client]
        return sums


@lru_cache(maxsize=1)
def _find_types(problem: Problem) -> Array:
    """Return the index of the first client with the same objective, for each client, (M,).

    It is the same for all step sizes of a run.
    """
    # The uncentred objectives are compared, because centring adds rounding errors.
    first, kinds = group_equal_rows(problem.hessians, problem.linear, problem.constants)
    return np.array(first)[kinds]
