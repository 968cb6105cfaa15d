"""The symbols of J. Liu, ECE 8101 *Lecture Note 3-1: Federated Learning* (2022), with their meanings."""

from __future__ import annotations

import sympy as sp

from fedtheory.kernel.expressions import Average, Expectation, Gradient, norm_sq
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.quantities import Quantity
from fedtheory.language.statements import Statements

N, K, T, s, L, sigma, spread, zeta, b, k = sp.symbols("N K T s L sigma sigma_G zeta b k", positive=True)
G, G_run = sp.symbols(r"G G_{\mathrm{run}}", positive=True)
eps = sp.Symbol("varepsilon", positive=True)
server_step = sp.Symbol("s_{server}", positive=True)

x_i, x_i_next, xbar, xbar_next, ybar, y_next = sp.symbols(
    r"x_i^{t-1} x_i^{t} \bar{x}^{t-1} \bar{x}^{t} \bar{y} \bar{x}^{t+1}", real=True
)
x_star, x_i_star = sp.symbols(r"x^* x_i^*", real=True)
g_i = sp.Symbol(r"g_i^{t}", real=True)
x, y = sp.symbols("x y", real=True)
f, f_i = sp.symbols("f f_i", real=True)

error = sp.Symbol(r"\frac1T\sum_{t=0}^{T-1}\mathbb E\|\nabla f(\bar x^t)\|^2", nonnegative=True)
mean_drift = sp.Symbol(r"\frac1T\sum_{t=0}^{T-1}\frac1N\sum_{i=1}^N\mathbb E\|x_i^t-\bar x^t\|^2", nonnegative=True)
"""Average drift over the T local steps of the run."""
gap = sp.Symbol(r"(f(\bar{x}^0)-f^*)", nonnegative=True)
descent = sp.Symbol(r"(f(\bar{x}^0)-\mathbb{E}f(\bar{x}^T))", real=True)
Gamma = q.optimal_value_gap.symbol
server_load, ring_load = q.parameter_server_load.symbol, q.ring_worker_load.symbol
restarted, restarting_first = sp.symbols(r"\Delta_{\mathrm{loop}} \Delta_{\mathrm{repaired}}", nonnegative=True)
loop_error = sp.Symbol(r"\frac1T\sum_{t=1}^T\mathbb E\|\nabla f(\bar x^{t-1}_{\mathrm{loop}})\|^2", nonnegative=True)
loop_drift = sp.Symbol(r"\max_{t,i}\mathbb E\|\bar x^t_{\mathrm{loop}}-x^t_{i,\mathrm{loop}}\|^2", nonnegative=True)
G_loop, sigma_loop = sp.symbols(r"G_{\mathrm{loop}} \sigma_{\mathrm{loop}}", positive=True)
growth_0, growth_1, growth_2 = sp.symbols("G_{B=0} G_{B=1} G_{B=2}", nonnegative=True)

NOTATION: dict[sp.Symbol, Quantity] = {
    N: q.clients,
    K: q.local_steps,
    T: q.iterations,
    k: q.local_step_index,
    s: q.local_step_size,
    server_step: q.server_step_size,
    L: q.smoothness,
    sigma: q.noise_deviation,
    spread: q.mean_dissimilarity,
    zeta: q.gradient_dissimilarity,
    G: q.second_moment,
    G_run: q.visited_second_moment,
    b: q.model_size,
    error: q.average_local_gradient_sq,
    mean_drift: q.average_round_drift,
    gap: q.initial_gap,
    descent: q.total_descent,
    x_i: q.local_iterate,
    x_i_next: q.next_local_iterate,
    xbar: q.average_iterate,
    xbar_next: q.next_average_iterate,
    ybar: q.server_model,
    y_next: q.next_server_model,
    x_star: q.optimum,
    x_i_star: q.client_optimum,
    g_i: q.stochastic_gradient,
    x: q.point,
    y: q.second_point,
    f: q.objective,
    f_i: q.client_objective,
    restarted: q.restarted_deviation,
    restarting_first: q.restarting_first_deviation,
    loop_error: q.loop_gradient_sq,
    loop_drift: q.loop_consensus_error,
    G_loop: q.loop_second_moment,
    sigma_loop: q.loop_noise_deviation,
    growth_0: q.gradient_growth(0),
    growth_1: q.gradient_growth(1),
    growth_2: q.gradient_growth(2),
    **{
        quantity.symbol: quantity
        for quantity in (
            q.max_drift,
            q.optimal_value_gap,
            q.parameter_server_load,
            q.ring_worker_load,
        )
    },
}

ALGORITHM = (a.same_local_work, a.unit_server_step, a.uniform_shares, a.full_participation)
"""FedAvg with M = N: full participation, the server averages."""
ASSUMPTIONS = (*ALGORITHM, a.smooth, a.unbiased_bounded_variance, a.bounded_second_moment)
"""The stated assumptions: smoothness, bounded variance and second moments, unbiasedness."""

SMALL_STEP = s <= 1 / L
FEW_LOCAL_STEPS = K**4 * N**3 <= T
"""K <= T^(1/4) / N^(3/4), without roots."""
T_0 = k + 1
"""t - t_0, the number of local steps of the round up to the present one."""

client_gradients = Average(Gradient(f_i, x_i))
"""(1/N) sum_i grad f_i(x_i^{t-1})."""
mean_gradient_sq = Expectation(norm_sq(client_gradients))
gradient_sq = Expectation(norm_sq(Gradient(f, xbar)))
drift_bound = 4 * s**2 * K**2 * G**2

theorem_bound = 2 * gap / (s * T) + 4 * s**2 * K**2 * G**2 * L**2 + L * s * sigma**2 / N

theorem_bound_by_drift = 2 * descent / (s * T) + L**2 * mean_drift + L * s * sigma**2 / N
"""Theorem 1 before the drift is bounded."""

claim = Statements("liu2022", NOTATION)
