"""The symbols of S. Vlaski and A. H. Sayed, chapter 5 "Federated Learning" (2023), with their meanings."""

from __future__ import annotations

import sympy as sp

from fedtheory.kernel.expressions import Average, Expectation, Expr, Gradient, LocalSum, Selected, norm_sq
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.quantities import Quantity
from fedtheory.language.statements import Statements

K, L, mu, nu, delta = sp.symbols("K L mu nu delta", positive=True)
E_k, mu_k, nu_k, delta_k, hat_delta_k = sp.symbols(r"E_k mu_k nu_k delta_k \hat\delta_k", positive=True)
beta_k, sigma_k, spread_k = sp.symbols(r"beta_k sigma_k \|w^o_k-w^o\|", nonnegative=True)
step = sp.Symbol(r"\mu", positive=True)
"""A step size that is independent of the run: "any mu > 0"."""
alpha = sp.Symbol("alpha", positive=True)
e = sp.Symbol("e", nonnegative=True)

w, w_next, w_o, w_o_k = sp.symbols(r"w_{i-1} w_i w^o w^o_k", real=True)
phi, phi_next, psi = sp.symbols(r"\phi_{k\,e-1} \phi_{k\,e} \psi_{k\,i}", real=True)
g, g_w = sp.symbols(r"\widehat{\nabla\ J_k}(\phi_{k\,e-1}) \widehat{\nabla\ J_k}(w_{i-1})", real=True)
J, J_k = sp.symbols("J J_k", real=True)
takes_part = sp.Symbol(r"\mathbb{1}_{k\,i}", real=True)
x = sp.Symbol("w", real=True)
leading = q.leading_limiting_distance_sq.symbol

NOTATION: dict[sp.Symbol, Quantity] = {
    K: q.clients,
    L: q.participants,
    mu: q.effective_step_size,
    nu: q.smallest_curvature,
    delta: q.objective_smoothness,
    E_k: q.client_local_steps,
    mu_k: q.client_step_size,
    nu_k: q.client_strong_convexity,
    delta_k: q.client_smoothness,
    hat_delta_k: q.mean_square_smoothness,
    beta_k: q.relative_noise,
    sigma_k: q.absolute_noise,
    spread_k: q.client_optimum_distance,
    e: q.local_step_index,
    w: q.server_model,
    w_next: q.next_server_model,
    w_o: q.optimum,
    w_o_k: q.client_optimum,
    phi: q.local_iterate,
    phi_next: q.next_local_iterate,
    psi: q.local_result,
    g: q.stochastic_gradient,
    g_w: q.gradient_at_server_model,
    J: q.objective,
    J_k: q.client_objective,
    takes_part: q.participates,
    x: q.point,
    leading: q.leading_limiting_distance_sq,
}

ALGORITHM = (a.uniform_sampling, a.unit_server_step, a.uniform_shares)
"""Recursions (5.9)-(5.11)."""
NORMALISED = (*ALGORITHM, a.normalised_steps)
"""With the local step sizes of (5.26), which the chapter assumes from there on."""
SEVERAL = (*NORMALISED, a.several_clients)
"""Condition that there are two clients, for the factor 1/(K - 1)."""
SAMPLED = (*ALGORITHM, a.several_clients)
"""Assumptions of the chapter for any local step sizes."""
CONVEX = (*SEVERAL, a.strongly_convex_clients)
"""The assumptions of Theorem 5.1; the constants beta_k, sigma_k and hat delta_k are those of the run."""
COMMON_STEP = (*ALGORITHM, a.same_step_size)
"""Setting without normalisation: mu_k is equal for all agents."""

SIZES = (sp.Rational(1, 2), sp.Integer(3))
"""Values that are tried for "any mu > 0"."""
ALPHAS = (sp.Rational(1, 4), sp.Rational(1, 2), sp.Rational(9, 10))
"""Values that are tried for "all 0 < alpha < 1"."""

grad, grad_k = Gradient(J, w), Gradient(J_k, w)
batch_gradient = LocalSum(g_w) / E_k
"""(5.15)."""
d_k = LocalSum(g - g_w) / E_k
"""(5.16)."""
d = Selected(mu_k * E_k * d_k)
"""(5.20), as published: the step sizes are included."""
error_sq = norm_sq(w_o - w)
next_error_sq = norm_sq(w_o - w_next)


def federated_gradient(size: Expr) -> Expr:
    """Return (5.19) for a common step size."""
    return Selected(mu_k / size * E_k * batch_gradient)


def total(of_client: Expr) -> Expr:
    """Return the sum over the K agents."""
    return K * Average(of_client)


def variance(vector: Expr) -> Expr:
    """Return E|v - E v|^2 given the round's model."""
    return Expectation(norm_sq(vector - Expectation(vector)))


def relative_noise() -> Expr:
    """Return beta_fed^2 of (5.39)."""
    return Average(2 * beta_k**2 / E_k) / L + SAMPLING * Average(2 * delta**2 + 4 * delta_k**2)


def absolute_noise() -> Expr:
    """Return sigma_fed^2 of (5.40)."""
    noise = Average(2 * beta_k**2 / E_k * spread_k**2 + sigma_k**2 / E_k) / L
    return noise + SAMPLING * Average(4 * delta_k**2 * spread_k**2)


def local_rate(size: Expr = mu_k) -> Expr:
    """Return lambda_k of (5.50), which as published has the local step size mu_k in its last term."""
    return 1 - 2 * mu / E_k * nu_k + size**2 / E_k**2 * (delta_k**2 + beta_k**2)


def global_rate(size: Expr = mu) -> Expr:
    """Return lambda of (5.60), at a step size."""
    return 1 - 2 * size * nu + size**2 * (delta**2 + relative_noise())


SAMPLING = (K - L) / (L * (K - 1))
"""Factor of client sampling: 1/(KL) (K - L)/(K - 1) times a sum over agents is this factor times their average."""
beta_fed_sq, sigma_fed_sq = relative_noise(), absolute_noise()
rate = global_rate()

claim = Statements("vlaski2023", NOTATION)
