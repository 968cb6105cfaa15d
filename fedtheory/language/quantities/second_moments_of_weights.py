"""Second moments of the random weights of an update, by enumeration, and extremes of their means (fraboni2022, A.3)."""

from __future__ import annotations

import numpy as np

from fedtheory.arithmetic import Array, Number
from fedtheory.engine.run import Run
from fedtheory.language.quantities.axes import on_rounds_and_clients
from fedtheory.language.quantities.notion import Quantity, per_round
from fedtheory.language.quantities.weights import largest_weight_sum, weight_excess, weight_pairing


def _weight_squares(run: Run) -> Array:
    """E[w_i(n)^2], (N, M): a sum over all outcomes of the law, or the square of what is given."""
    aggregation = run.algorithm.aggregation
    if not run.algorithm.clock.is_synchronous:
        return np.asarray(run.surrogate.weights**2)
    probabilities, weights = aggregation.participation.outcomes(aggregation.weights(run.problem.weights))
    squares = (probabilities[:, None] * weights * weights).sum(axis=0)
    return np.broadcast_to(squares, run.surrogate.weights.shape)


def _unrepresented_importances(run: Run) -> Array:
    """p_i of the clients of types with s_j(n) = 0, zero for the others, (N, M)."""
    surrogate = run.surrogate
    missing = surrogate.by_type(surrogate.weights)[:, surrogate.types] == 0
    importances: Array = np.where(missing, run.problem.weights, run.problem.weights * 0)
    return importances


def _spread_factor(run: Run) -> Number:
    total = run.algorithm.aggregation.server_step_size * largest_weight_sum.measure(run)
    excess, pairing = weight_excess.measure(run), weight_pairing.measure(run)
    zero = run.arithmetic.number(0, "zero")
    return 1 + run.algorithm.aggregation.server_step_size * total * excess + max(zero, total * (pairing * total - 2))


expected_square_weight = per_round(
    "expected_square_weight",
    r"\mathbb E[\omega_i^2(n)]",
    "E[w_i(n)^2] of each client in each update, summed over all outcomes of the weights",
    lambda run: on_rounds_and_clients(_weight_squares(run)),
)
largest_share_of_all = Quantity(
    "largest_share_of_all",
    r"\max_{i,n}\tilde q_i(n)",
    "max over i, n of q_i(n) / q(n)",
    lambda run: run.surrogate.shares.max(),
)
smallest_weight_sum = Quantity(
    "smallest_weight_sum", r"\min_nq(n)", "min over n of q(n)", lambda run: run.surrogate.totals.min()
)
unrepresented_importance = per_round(
    "unrepresented_importance",
    r"p_i\mathbb I(i\notin W_n)",
    "p_i of the clients whose type has no weight in the update, zero for the others",
    lambda run: on_rounds_and_clients(_unrepresented_importances(run)),
)
spread_factor = Quantity(
    "spread_factor",
    r"\kappa",
    "kappa = 1 + eta_g^2 rho beta + max(0, eta_g rho (alpha eta_g rho - 2)): sum_i q~_i E|g_i - eta_g sum_j w_j g_j|^2 "
    "is at most kappa times sum_i q~_i E|g_i|^2",
    _spread_factor,
)
