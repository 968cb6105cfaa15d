"""The symbols of the bounds for any comparator, with their meanings."""

from __future__ import annotations

import sympy as sp

from fedtheory.kernel.expressions import Average, Expectation, Value, norm_sq
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.quantities import Quantity
from fedtheory.language.statements import Statements

M, T, tau, eta, L = sp.symbols("M T tau eta L", positive=True)
K = sp.Symbol("K", integer=True, positive=True)
ell, sigma_y, zeta_y, D_y = sp.symbols("ell sigma_y zeta_y D_y", nonnegative=True)
mu, sigma_star, zeta_star, D = sp.symbols("mu sigma_opt zeta_opt D", nonnegative=True)
p_i, p_max, rho = sp.symbols("p_i p_max rho", nonnegative=True)
k = sp.Symbol("k", integer=True, nonnegative=True)

x_i, x_i_next, xbar, xbar_next = sp.symbols(
    r"x_i^{(t\,k)} x_i^{(t\,k+1)} \bar{x}^{(t\,k)} \bar{x}^{(t\,k+1)}", real=True
)
y, n_i, x_star = sp.symbols("y n_i x^*", real=True)
F, F_i = sp.symbols("F F_i", real=True)
client_drift, next_client_drift = Average(norm_sq(x_i - xbar)), Average(norm_sq(x_i_next - xbar_next))
step_progress = Expectation(norm_sq(xbar - y) - norm_sq(xbar_next - y)) / (2 * eta)
"""Decrease of the squared distance from y in a step, over 2 eta."""
step_error = Expectation(Value(F, xbar_next) - Value(F, y))

average_error, comparator_gap = q.average_suboptimality.symbol, q.comparator_suboptimality.symbol
progress, final_distance = q.total_comparator_progress.symbol, q.final_comparator_distance_sq.symbol
discounted_error = q.discounted_suboptimality.symbol
last_error = q.last_round_suboptimality.symbol
last_model_error = q.final_suboptimality.symbol
mean_drift, final_error = q.average_round_drift.symbol, q.final_distance_sq.symbol

_COMMON: dict[sp.Symbol, Quantity] = {
    M: q.clients,
    p_i: q.importance,
    p_max: q.largest_importance,
    rho: q.sampling_variance,
    T: q.rounds,
    K: q.iterations,
    tau: q.local_steps,
    eta: q.local_step_size,
    k: q.local_step_index,
    L: q.smoothness,
    ell: q.noise_smoothness,
    x_i: q.local_iterate,
    x_i_next: q.next_local_iterate,
    xbar: q.average_iterate,
    xbar_next: q.next_average_iterate,
    n_i: q.gradient_noise,
    F: q.objective,
    F_i: q.client_objective,
    discounted_error: q.discounted_suboptimality,
    last_error: q.last_round_suboptimality,
    mu: q.strong_convexity,
}
AT_COMPARATOR: dict[sp.Symbol, Quantity] = {
    **_COMMON,
    y: q.comparator,
    sigma_y: q.comparator_noise,
    zeta_y: q.comparator_dissimilarity,
    D_y: q.comparator_distance,
    average_error: q.average_suboptimality,
    comparator_gap: q.comparator_suboptimality,
    progress: q.total_comparator_progress,
    final_distance: q.final_comparator_distance_sq,
    mean_drift: q.average_round_drift,
}
AT_OPTIMUM: dict[sp.Symbol, Quantity] = {
    **_COMMON,
    x_star: q.optimum,
    sigma_star: q.noise_at_optimum,
    zeta_star: q.dissimilarity_at_optimum,
    D: q.initial_distance,
    final_error: q.final_distance_sq,
    last_model_error: q.final_suboptimality,
}

_WORK, _CLIENTS = (a.same_local_work, a.unit_server_step), (a.convex_and_smooth, a.smooth_noise)
WEIGHTED_SETTING = (*_WORK, a.full_participation, *_CLIENTS)
SAMPLED_SETTING = (*_WORK, a.averaged_participants, *_CLIENTS)

SETTING = (*WEIGHTED_SETTING, a.uniform_shares)

claim = Statements("comparator", AT_COMPARATOR)
claim_at_optimum = Statements("comparator", AT_OPTIMUM)
