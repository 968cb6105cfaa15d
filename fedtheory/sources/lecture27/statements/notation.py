"""The symbols of Lecture 27, with their meanings.

The step index x = t - (k-1) tau of the notes runs from 0 to tau - 1 for the present iterates, and from 1 to tau for the
next ones.
"""

from __future__ import annotations

import sympy as sp

from fedtheory.kernel.expressions import Expr, norm_sq
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.quantities import Quantity
from fedtheory.language.statements import Statements

K, T, tau, eta, beta, rho, delta, omega = sp.symbols("K T tau eta beta rho delta omega", positive=True)
epsilon = sp.Symbol("epsilon", nonnegative=True)
delta_i = sp.Symbol("delta_i", nonnegative=True)
x = sp.Symbol("x", integer=True, nonnegative=True)
n, z = sp.symbols("n z", integer=True, nonnegative=True)
c, b = sp.symbols("c b", nonnegative=True)
beta_mean, rho_mean, lambda_min = (sp.Symbol(name, real=True) for name in (r"\beta_F", r"\rho_F", r"\lambda_{\min}(F)"))

w_i, w_i_next = sp.Symbol(r"\tilde w_i(t)"), sp.Symbol(r"\tilde w_i(t+1)")
w_t, w_t_next = sp.Symbol("w(t)"), sp.Symbol("w(t+1)")
w_start, w_end, w_i_end = sp.Symbol(r"w((k-1)\tau)"), sp.Symbol(r"w(k\tau)"), sp.Symbol(r"w_i(k\tau)")
v, v_next, w_star = sp.Symbol("v_{[k]}(t)"), sp.Symbol("v_{[k]}(t+1)"), sp.Symbol("w^*")
w, w_other = sp.Symbol("w"), sp.Symbol(r"w^\prime")
F, F_i = sp.symbols("F F_i")

theta_start, theta_end, theta_next_start, theta_last, theta_first, final_gap, best_gap = (
    sp.Symbol(symbol, nonnegative=True)
    for symbol in (
        q.interval_start_gap.latex,
        q.interval_end_gap.latex,
        q.next_interval_start_gap.latex,
        q.last_interval_gap.latex,
        r"\theta_{[1]}(0)",
        "(F(w(T))-F(w^*))",
        "(F(w^f)-F(w^*))",
    )
)
summed_progress = q.reciprocal_progress.symbol

NOTATION: dict[sp.Symbol, Quantity] = {
    K: q.rounds,
    T: q.iterations,
    tau: q.local_steps,
    eta: q.local_step_size,
    beta: q.smoothness,
    rho: q.lipschitz,
    delta: q.mean_divergence,
    delta_i: q.client_dissimilarity,
    omega: q.nearest_start,
    epsilon: q.smallest_gap,
    x: q.local_step_index,
    beta_mean: q.objective_smoothness,
    rho_mean: q.objective_lipschitz,
    lambda_min: q.smallest_curvature,
    w_i: q.local_iterate,
    w_i_next: q.next_local_iterate,
    w_t: q.average_iterate,
    w_t_next: q.next_average_iterate,
    w_start: q.server_model,
    w_end: q.next_server_model,
    w_i_end: q.local_result,
    v: q.centralised_model,
    v_next: q.next_centralised_model,
    w_star: q.optimum,
    w: q.point,
    w_other: q.second_point,
    F: q.objective,
    F_i: q.client_objective,
    theta_start: q.interval_start_gap,
    theta_end: q.interval_end_gap,
    theta_next_start: q.next_interval_start_gap,
    theta_last: q.last_interval_gap,
    theta_first: q.initial_gap,
    final_gap: q.final_suboptimality,
    best_gap: q.best_aggregated_suboptimality,
    summed_progress: q.reciprocal_progress,
}

DISTRIBUTED_GD = (a.full_gradients, a.same_local_work, a.unit_server_step, a.full_participation)
"""Assumptions of the algorithm on page 1: full gradients, and w is the average of all w_i with weights D_i / D."""
CONVEX_GD = (*DISTRIBUTED_GD, a.convex_and_smooth)
"""Assumptions 1 and 2."""
ASSUMPTIONS = (*CONVEX_GD, a.lipschitz_losses)
"""Assumptions 1-3."""
WITH_DIVERGENCE = (*ASSUMPTIONS, a.bounded_dissimilarity)
"""Assumptions 1-3, and finite delta_i."""

SMALL_STEP, LONG_STEP = eta <= 1 / beta, eta <= 2 / beta


def growth(steps: Expr) -> Expr:
    """Return g_i without its factor delta_i."""
    return ((eta * beta + 1) ** steps - 1) / beta


def per_divergence(steps: Expr) -> Expr:
    """Return h without its factor delta: a rational number, so that h(0) = h(1) = 0 exactly."""
    return growth(steps) - eta * steps


def g(steps: Expr) -> Expr:
    """Return g_i of the proof of Theorem 1."""
    return delta_i * growth(steps)


def h(steps: Expr) -> Expr:
    """Return h of Theorem 1."""
    return delta * per_divergence(steps)


def norm(vector: Expr) -> Expr:
    """Return the norm of a vector."""
    return sp.sqrt(norm_sq(vector))


def restrict_to_start(value: Expr) -> Expr:
    """Return the value at the first local step of an interval, and zero at the others, by 0^0 = 1."""
    return sp.Integer(0) ** x * value


claim = Statements("lecture27", NOTATION)
