"""Second moments of the random weights of an update, also for rounds that always select the fastest clients."""

from __future__ import annotations

from typing import Any

import numpy as np
import sympy as sp

from fedtheory.arithmetic import Array, refuse_test, sum_with_weights
from fedtheory.engine.run import Run
from fedtheory.errors import InputError
from fedtheory.federation.participation import Fixed, WeightMoments
from fedtheory.language import assumptions as a
from fedtheory.language.quantities import local_work
from fedtheory.language.quantities.measuring.axes import place_on_rounds_and_clients
from fedtheory.language.quantities.measuring.reductions import LARGEST_CLIENT, LARGEST_ROUND
from fedtheory.language.quantities.measuring.terms import define_in_numbers
from fedtheory.language.quantities.participation import compute_paired_moments
from fedtheory.language.quantities.quantity import RunQuantity, constant, per_round
from fedtheory.sources.fraboni2022.quantities import weights


def _measure_pairing(run: Run) -> Any:
    """Return alpha of the participation law; for other clocks 0 if no update has two reports, else 1."""
    if run.algorithm.clock.is_synchronous:
        return compute_paired_moments(run).pairing
    has_two_reports = (run.algorithm.schedule.participates.sum(axis=1) > 1).any()
    return run.arithmetic.number(int(has_two_reports), "alpha")


weight_pairing = RunQuantity(
    "weight_pairing",
    r"\alpha",
    "alpha with E[w_i(n) w_j(n)] = alpha q_i(n) q_j(n) for i != j: of the law of sampling; for a fixed schedule 0 "
    "where no update has two reports, else 1",
    _measure_pairing,
    assumption=a.weight_covariance,
    primitive="setting",
)

weight_excess = define_in_numbers(
    "weight_excess",
    r"\beta",
    "beta = max over i, n of d_i(n) - alpha q_i(n), over all clients, as printed",
    weights.aggregation_weight.symbol - weight_pairing.symbol * weights.expected_weight.symbol,
    LARGEST_CLIENT,
    LARGEST_ROUND,
    of=[weights.aggregation_weight, weight_pairing, weights.expected_weight],
)

_EXPECTED = weights.expected_weight.symbol
reporting_excess = define_in_numbers(
    "reporting_excess",
    r"\beta_S",
    "max of d_i(n) - alpha q_i(n) over the clients and updates with q_i(n) > 0",
    sp.Piecewise(
        (weights.aggregation_weight.symbol - weight_pairing.symbol * _EXPECTED, sp.Ne(_EXPECTED, 0)), (0, True)
    ),
    LARGEST_CLIENT,
    LARGEST_ROUND,
    of=[weights.aggregation_weight, weight_pairing, weights.expected_weight],
)


def _compute_square_weights(run: Run) -> Array:
    """Return E[w_i(n)^2], (N, M) or (1, M): summed over the outcomes of the law, or the square of a fixed weight."""
    run.require_single_clients("outcomes of a round are those of single clients")
    aggregation = run.algorithm.aggregation
    if not run.algorithm.clock.is_synchronous:
        return np.asarray(run.surrogate.update_weights**2)
    probabilities, outcomes = aggregation.participation.outcomes(aggregation.weights(run.problem.weights))
    squares = (probabilities[:, None] * outcomes * outcomes).sum(axis=0)
    return np.asarray(squares)[None]


expected_square_weight = per_round(
    "expected_square_weight",
    r"\mathbb E[\omega_i^2(n)]",
    "E[w_i(n)^2] of each client in each update, summed over all outcomes of the weights",
    lambda run: place_on_rounds_and_clients(_compute_square_weights(run)),
    primitive="setting",
)

_TOTAL = local_work.server_step_size.symbol * weights.largest_weight_sum.symbol
spread_factor = define_in_numbers(
    "spread_factor",
    r"\kappa",
    "kappa = 1 + eta_g^2 rho beta + max(0, eta_g rho (alpha eta_g rho - 2)): sum_i q~_i E|g_i - eta_g sum_j w_j g_j|^2 "
    "is at most kappa times sum_i q~_i E|g_i|^2",
    1
    + local_work.server_step_size.symbol * _TOTAL * weight_excess.symbol
    + sp.Max(0, _TOTAL * (weight_pairing.symbol * _TOTAL - 2)),
    of=[local_work.server_step_size, weights.largest_weight_sum, weight_excess, weight_pairing],
)


def _select_fastest(run: Run) -> Fixed:
    """Return the law that always selects the m fastest clients, with m as in the run's law."""
    run.require_single_clients("the fastest are single clients")
    times = run.algorithm.clock.times
    count = min(run.algorithm.aggregation.participation.count(run.problem.clients), run.problem.clients)
    return Fixed(tuple(sorted(sorted(range(len(times)), key=times.__getitem__)[:count])))


def _compute_fastest_moments(run: Run) -> WeightMoments:
    """Return the moments of the weights when a round always selects the fastest clients."""
    return _select_fastest(run).moments(run.problem.weights)


fastest_pairing = constant(
    "fastest_pairing",
    r"\alpha",
    "alpha with E[w_i w_j] = alpha q_i q_j when a round always takes the fastest clients",
    lambda run: _compute_fastest_moments(run).pairing,
    primitive="setting",
)


def _measure_fastest_excess(run: Run) -> Any:
    """Return max of d_i - alpha q_i over the selected clients, with d_i = E[w_i^2] / q_i."""
    moments, selected = _compute_fastest_moments(run), list(_select_fastest(run).selected)
    weights = moments.squares[selected] / moments.mean[selected]
    return (weights - moments.pairing * moments.mean[selected]).max()


fastest_excess = constant(
    "fastest_excess",
    r"\beta",
    "max of d_i - alpha q_i over the selected clients when a round always takes the fastest ones",
    _measure_fastest_excess,
    primitive="setting",
)


def _measure_fastest_gap(run: Run) -> Any:
    """Return L(thetabar) - L* for the minimiser thetabar of the selected clients' average."""
    centred, weights = run.problem.about_optimum, _compute_fastest_moments(run).mean
    hessian, linear = sum_with_weights(weights, centred.hessians), sum_with_weights(weights, centred.linear)
    try:
        limit: Array = run.arithmetic.solve(hessian, linear)
    except InputError:
        raise refuse_test(run.arithmetic, "the mean of the selected clients' objectives has no minimiser") from None
    # In centred coordinates the federated optimum is 0, and L - L* is x'Hx/2.
    return limit @ run.problem.hessian @ limit / 2


fastest_gap = constant(
    "fastest_gap",
    r"\mathcal L(\bar\theta)-\mathcal L(\theta^*)",
    "L(thetabar) - L*, thetabar the minimiser of the mean of the fastest clients' objectives",
    _measure_fastest_gap,
    primitive="minimiser",
)


def _measure_fastest_gradient_sq(run: Run) -> Any:
    """Return the squared norm; in centred coordinates the gradient of a client at the optimum is -`linear`."""
    gradient = sum_with_weights(_compute_fastest_moments(run).mean, run.problem.about_optimum.linear)
    return gradient @ gradient


fastest_gradient = constant(
    "fastest_gradient",
    r"\|\frac1m\sum_{i\in S}\nabla\mathcal L_i(\theta^*)\|",
    "norm of the fastest clients' mean gradient at the federated optimum",
    _measure_fastest_gradient_sq,
    root=True,
    primitive="minimiser",
)
