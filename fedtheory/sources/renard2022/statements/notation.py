"""The symbols of T. Renard, *Notes on Federated Optimization* (2022), with their meanings."""

from __future__ import annotations

import sympy as sp

from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.quantities import Quantity
from fedtheory.language.statements import Statements

M, T, tau, eta, L, sigma, zeta, D = sp.symbols("M T tau eta L sigma zeta D", positive=True)
lam = sp.Symbol("lambda", positive=True)

x_i, x_i_next, xbar, xbar_next, x_t, x_star = sp.symbols(
    r"x_i^{(t\,k)} x_i^{(t\,k+1)} \bar{x}^{(t\,k)} \bar{x}^{(t\,k+1)} x^{(t)} x^*", real=True
)
x_i_end, x_t_next = sp.symbols(r"x_i^{(t\,\tau)} x^{(t+1)}", real=True)
k = sp.Symbol("k", integer=True, nonnegative=True)
g_i, deviation, one = sp.symbols(r"g_i(x_i^{(t\,k)}) \left(\nabla\ F_i-g_i\right) \mathbf{1}", real=True)
x, y, z = sp.symbols("x y z", real=True)
F, F_i = sp.symbols("F F_i", real=True)

lambda_min = sp.Symbol(r"\lambda_{\min}(\nabla^2F)", real=True)
average_error, limiting_error, round_error = (
    q.average_suboptimality.symbol,
    q.limiting_suboptimality.symbol,
    q.round_suboptimality.symbol,
)
distance_before, distance_after = q.server_distance_sq.symbol, q.next_server_distance_sq.symbol
final_distance, progress = q.final_distance_sq.symbol, q.total_progress.symbol
drift, round_drift, mean_drift = q.max_drift.symbol, q.round_drift.symbol, q.average_round_drift.symbol

NOTATION: dict[sp.Symbol, Quantity] = {
    M: q.clients,
    T: q.rounds,
    tau: q.local_steps,
    eta: q.local_step_size,
    L: q.smoothness,
    sigma: q.noise_deviation,
    zeta: q.gradient_dissimilarity,
    D: q.initial_distance,
    lambda_min: q.smallest_curvature,
    x_i: q.local_iterate,
    x_i_next: q.next_local_iterate,
    xbar: q.average_iterate,
    xbar_next: q.next_average_iterate,
    x_t: q.server_model,
    x_t_next: q.next_server_model,
    x_i_end: q.local_result,
    k: q.local_step_index,
    x_star: q.optimum,
    g_i: q.stochastic_gradient,
    deviation: q.gradient_deviation,
    one: q.unit_vector,
    x: q.point,
    y: q.second_point,
    z: q.third_point,
    F: q.objective,
    F_i: q.client_objective,
    **{
        quantity.symbol: quantity
        for quantity in (
            q.average_suboptimality,
            q.limiting_suboptimality,
            q.round_suboptimality,
            q.server_distance_sq,
            q.next_server_distance_sq,
            q.final_distance_sq,
            q.total_progress,
            q.max_drift,
            q.round_drift,
            q.average_round_drift,
        )
    },
}

SETTING = (a.same_local_work, a.unit_server_step, a.uniform_shares, a.full_participation, a.convex_and_smooth)
"""Assumptions 1-5."""
ALL_ASSUMPTIONS = (*SETTING, a.unbiased_bounded_variance, a.bounded_dissimilarity)
"""Assumptions 1-7."""
NOISE_ASSUMPTIONS = (*SETTING, a.unbiased_bounded_variance)
"""Assumptions 1-6, for statements without the dissimilarity."""

SMALL_STEP = eta <= 1 / (4 * L)
"""Condition on the step size in the notes."""
HALF_STEP, UNIT_STEP, DOUBLE_STEP = eta <= 1 / (2 * L), eta <= 1 / L, eta <= 2 / L
"""Weaker conditions of tightened statements."""

claim = Statements("renard2022", NOTATION)
