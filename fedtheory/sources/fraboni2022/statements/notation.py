"""The source's notation, with the meaning of each symbol."""

from __future__ import annotations

import sympy as sp

from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.statements import Statements

M, N, K = sp.symbols("M N K", positive=True, integer=True)
eta_l, eta_g, L, T = sp.symbols("eta_l eta_g L T", positive=True)
alpha, beta, tau, W, rho = sp.symbols("alpha beta tau W rho", nonnegative=True)
beta_S = sp.Symbol(r"\beta_S", nonnegative=True)
p_i, d_i, q_i = sp.symbols("p_i d_i q_i", nonnegative=True)
q_in = sp.Symbol("q_i(n)", nonnegative=True)
q_n = sp.Symbol("q(n)", nonnegative=True)
qt_in = sp.Symbol(r"\tilde q_i(n)", nonnegative=True)
qt_i = sp.Symbol(r"\tilde q_i", nonnegative=True)
Sigma = sp.Symbol(r"\Sigma", nonnegative=True)
Sigma_star = sp.Symbol(r"\Sigma_*", nonnegative=True)
Sigma_1 = sp.Symbol(r"\Sigma_1(N)", nonnegative=True)
Sigma_2 = sp.Symbol(r"\Sigma_2(N)", nonnegative=True)
sigma_1 = sp.Symbol(r"\sigma_1(n)", nonnegative=True)
sigma_2 = sp.Symbol(r"\sigma_2(n)", nonnegative=True)
R_L = sp.Symbol(r"R(\{\mathcal L^n\})", real=True)
theta0_distance = sp.Symbol(r"\|\theta^0-\bar\theta\|", nonnegative=True)
Q = sp.Symbol("Q(n)", nonnegative=True)
Q_past = sp.Symbol(r"\sum_{s=1}^\tau Q(n-s)", nonnegative=True)
phi = sp.Symbol(r"\phi(n)", nonnegative=True)
S = sp.Symbol("S(n)", nonnegative=True)
R = sp.Symbol("R(n)", nonnegative=True)
D_x = sp.Symbol(r"D(\bar\theta,n)", real=True)
Z = sp.Symbol("Z(n)", real=True)
Xi = sp.Symbol(r"\Xi(n)", real=True)
Delta = sp.Symbol(r"\Delta(n)", real=True)
Q_bar = sp.Symbol(r"\bar Q(N)", nonnegative=True)
Z_bar = sp.Symbol(r"\bar Z(N)", real=True)
Xi_bar = sp.Symbol(r"\bar\Xi(N)", real=True)

tilde_eta = eta_g * eta_l
"""The effective learning rate."""
D = 6 * eta_l**2 * (K - 1) ** 2 * L**2
nu = 16 * rho * L

WHERE = {
    M: q.clients,
    N: q.rounds,
    K: q.local_steps,
    eta_l: q.local_step_size,
    eta_g: q.server_step_size,
    L: q.smoothness,
    T: q.clock_time,
    alpha: q.weight_pairing,
    beta: q.weight_excess,
    beta_S: q.reporting_excess,
    tau: q.largest_staleness,
    W: q.window,
    rho: q.largest_weight_sum,
    p_i: q.importance,
    d_i: q.aggregation_weight,
    q_i: q.mean_weight,
    q_in: q.expected_weight,
    q_n: q.weight_sum,
    qt_in: q.weight_share,
    qt_i: q.mean_weight_share,
    Sigma: q.surrogate_noise,
    Sigma_star: q.optimum_noise,
    Sigma_1: q.mean_round_optimum_noise,
    Sigma_2: q.mean_round_optimum_mixed_noise,
    sigma_1: q.round_optimum_noise,
    sigma_2: q.round_optimum_mixed_noise,
    R_L: q.residual,
    theta0_distance: q.surrogate_initial_distance,
    Q: q.step_length_sq,
    Q_past: q.past_step_lengths_sq,
    phi: q.client_spread,
    S: q.mean_square_gradient,
    R: q.square_mean_gradient,
    D_x: q.alignment,
    Z: q.round_gap,
    Xi: q.surrogate_gap,
    Delta: q.progress,
    Q_bar: q.mean_step_length_sq,
    Z_bar: q.mean_round_gap,
    Xi_bar: q.mean_surrogate_gap,
}

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
