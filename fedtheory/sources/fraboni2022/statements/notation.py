"""The source's notation, with the meaning of each symbol."""

from __future__ import annotations

import sympy as sp

from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.statements import Notation, Statements

WHERE = Notation()
M = WHERE.add(q.clients, positive=True, integer=True)
N = WHERE.add(q.rounds, "N", positive=True, integer=True)
K = WHERE.add(q.local_steps, "K", positive=True, integer=True)
eta_l = WHERE.add(q.local_step_size, "eta_l", positive=True)
eta_g = WHERE.add(q.server_step_size, "eta_g", positive=True)
L = WHERE.add(q.smoothness, positive=True)
T = WHERE.add(q.clock_time, positive=True)
alpha = WHERE.add(q.weight_pairing, "alpha", nonnegative=True)
beta = WHERE.add(q.weight_excess, "beta", nonnegative=True)
tau = WHERE.add(q.largest_staleness, "tau", nonnegative=True)
W = WHERE.add(q.window, nonnegative=True)
rho = WHERE.add(q.largest_weight_sum, "rho", nonnegative=True)
beta_S = WHERE.add(q.reporting_excess, nonnegative=True)
p_i = WHERE.add(q.importance, nonnegative=True)
d_i = WHERE.add(q.aggregation_weight, nonnegative=True)
q_i = WHERE.add(q.mean_weight, nonnegative=True)
q_in = WHERE.add(q.expected_weight, nonnegative=True)
q_n = WHERE.add(q.weight_sum, nonnegative=True)
qt_in = WHERE.add(q.weight_share, nonnegative=True)
qt_i = WHERE.add(q.mean_weight_share, nonnegative=True)
Sigma = WHERE.add(q.surrogate_noise, nonnegative=True)
Sigma_star = WHERE.add(q.optimum_noise, r"\Sigma_*", nonnegative=True)
Sigma_1 = WHERE.add(q.mean_round_optimum_noise, nonnegative=True)
Sigma_2 = WHERE.add(q.mean_round_optimum_mixed_noise, nonnegative=True)
sigma_1 = WHERE.add(q.round_optimum_noise, nonnegative=True)
sigma_2 = WHERE.add(q.round_optimum_mixed_noise, nonnegative=True)
R_L = WHERE.add(q.residual, real=True)
theta0_distance = WHERE.add(q.surrogate_initial_distance, nonnegative=True)
Q = WHERE.add(q.step_length_sq, nonnegative=True)
Q_past = WHERE.add(q.past_step_lengths_sq, nonnegative=True)
phi = WHERE.add(q.client_spread, nonnegative=True)
S = WHERE.add(q.mean_square_gradient, nonnegative=True)
R = WHERE.add(q.square_mean_gradient, nonnegative=True)
D_x = WHERE.add(q.alignment, real=True)
Z = WHERE.add(q.round_gap, real=True)
Xi = WHERE.add(q.surrogate_gap, real=True)
Delta = WHERE.add(q.progress, real=True)
Q_bar = WHERE.add(q.mean_step_length_sq, nonnegative=True)
Z_bar = WHERE.add(q.mean_round_gap, real=True)
Xi_bar = WHERE.add(q.mean_surrogate_gap, real=True)

tilde_eta = eta_g * eta_l
"""The effective learning rate."""
D = 6 * eta_l**2 * (K - 1) ** 2 * L**2
nu = 16 * rho * L

MEANS = r"\frac1N\sum_{n=0}^{N-1}\frac1K\sum_{k=0}^{K-1}"
"""LaTeX of the average over updates and local steps, as published."""

SMALL_STEP = sp.Le(eta_l, 1 / (48 * K * L) * sp.Min(1, 1 / (3 * rho**2 * eta_g * (tau + 1))))
"""The step size of Theorem 1, eq. (98)."""

SCHEME = (a.aggregation_scheme,)
"""Scheme (6) with K local steps of size eta_l: any clock, any weights."""
ASSUMPTIONS = (
    a.aggregation_scheme,
    a.convex_and_smooth,
    a.unbiased_gradients,
    a.finite_answering_time,
    a.weight_covariance,
)
"""Assumptions 1 to 5; quadratics are convex."""

claim = Statements("fraboni2022", WHERE)
