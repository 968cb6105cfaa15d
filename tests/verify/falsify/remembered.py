"""Bounds after well-known papers, as a reader remembers them: some right, some not quite."""

from __future__ import annotations

import sympy as sp
from claim_symbols import WHERE, D, L, M, T, eta, sigma, tau, zeta

from fedtheory import Claim, assumptions
from fedtheory import quantities as q

mu, G, B, m, gap = sp.symbols("mu G B m Delta", positive=True)
SYMBOLS = WHERE | {
    mu: q.strong_convexity,
    G: q.gradient_bound,
    B: q.mean_dissimilarity,
    m: q.participants,
    gap: q.initial_gap,
}
ONE_STEP = sp.Eq(tau, 1)
DESCENT = 2 * gap / (eta * T)
CONTRACTION, NOISE_BALL = (1 - eta * mu) ** T * D**2, eta * sigma**2 / (mu * M)


def _claim(name: str, lhs: q.RunQuantity, rhs: sp.Expr, *conditions: sp.Expr, about: tuple = ()) -> Claim:
    return Claim(
        id=f"remembered:{name}", lhs=lhs, rhs=rhs, where=SYMBOLS, conditions=list(conditions), assumptions=list(about)
    )


TRUE = [
    _claim(
        "minibatch-convex",
        q.average_suboptimality,
        D**2 / (2 * eta * T) + eta * sigma**2 / M,
        eta <= 1 / (4 * L),
        ONE_STEP,
    ),
    _claim("minibatch-smooth", q.average_gradient_sq, DESCENT + L * eta * sigma**2 / M, eta <= 1 / L, ONE_STEP),
    _claim("minibatch-strong", q.final_distance_sq, CONTRACTION + NOISE_BALL, eta <= 1 / L, ONE_STEP, mu > 0),
    _claim(
        "local-alone",
        q.final_distance_sq,
        (1 - eta * mu) ** (tau * T) * D**2 + eta * sigma**2 / mu,
        eta <= 1 / L,
        sp.Eq(M, 1),
    ),
    _claim("drift-of-bounded-gradients", q.average_round_drift, eta**2 * tau**2 * G**2),
    _claim(
        "scaffold-alone",
        q.final_distance_sq,
        (1 - eta * mu) ** (tau * T) * D**2 + eta * sigma**2 / mu,
        eta <= 1 / L,
        sp.Eq(M, 1),
        about=(assumptions.scaffold,),
    ),
]
FALSE = [
    _claim(
        "noise-of-a-whole-round",
        q.average_suboptimality,
        D**2 / (2 * eta * tau * T) + eta * sigma**2 / (M * tau) + 4 * L * eta**2 * tau * (sigma**2 + tau * zeta**2),
        eta <= 1 / (4 * L),
    ),
    _claim(
        "minibatch-squared-speedup",
        q.average_suboptimality,
        D**2 / (2 * eta * T) + eta * sigma**2 / M**2,
        eta <= 1 / (4 * L),
        ONE_STEP,
    ),
    _claim(
        "minibatch-too-fast",
        q.average_suboptimality,
        D**2 / (eta * T**2) + eta * sigma**2 / M,
        eta <= 1 / (4 * L),
        ONE_STEP,
    ),
    _claim(
        "descent-noise-squared-step",
        q.average_gradient_sq,
        DESCENT + L**2 * eta**2 * sigma**2 / M,
        eta <= 1 / L,
        ONE_STEP,
    ),
    _claim(
        "descent-of-every-local-step",
        q.average_gradient_sq,
        2 * gap / (eta * tau * T) + L * eta * sigma**2 / M,
        eta <= 1 / (4 * L),
    ),
    _claim("noise-ball-of-a-third", q.final_distance_sq, CONTRACTION + NOISE_BALL / 3, eta <= 1 / L, ONE_STEP, mu > 0),
    _claim(
        "noise-ball-without-curvature",
        q.final_distance_sq,
        CONTRACTION + eta * sigma**2 / (L * M),
        eta <= 1 / L,
        ONE_STEP,
        mu > 0,
    ),
    _claim(
        "local-forgets-differences",
        q.final_distance_sq,
        (1 - eta * mu) ** (tau * T) * D**2 + NOISE_BALL,
        eta <= 1 / L,
        mu > 0,
    ),
    _claim(
        "local-full-gradients-converge",
        q.final_suboptimality,
        (1 - eta * mu) ** (tau * T) * gap,
        eta <= 1 / (4 * L),
        mu > 0,
        about=(assumptions.full_gradients,),
    ),
    _claim("largest-drift-as-the-mean", q.max_drift, eta**2 * tau**2 * G**2),
    _claim(
        "drift-grows-with-one-power",
        q.max_drift,
        8 * eta**2 * tau * B**2 + 4 * tau * eta**2 * sigma**2,
        eta <= 1 / (4 * L),
    ),
    _claim(
        "scaffold-from-the-first-round",
        q.final_distance_sq,
        CONTRACTION,
        eta * tau <= 1 / (4 * L),
        mu > 0,
        about=(assumptions.scaffold, assumptions.full_gradients),
    ),
    _claim(
        "dsgd-as-the-server",
        q.final_distance_sq,
        CONTRACTION + NOISE_BALL,
        eta <= 1 / L,
        mu > 0,
        about=(assumptions.dsgd,),
    ),
    _claim(
        "sampling-is-only-noise",
        q.final_distance_sq,
        CONTRACTION + eta * sigma**2 / (mu * m),
        eta <= 1 / L,
        ONE_STEP,
        mu > 0,
        about=(assumptions.uniform_sampling,),
    ),
    _claim(
        "participants-divide-the-noise",
        q.average_suboptimality,
        D**2 / (eta * tau * T)
        + 2 * eta * sigma**2 / m
        + 20 * tau**2 * eta**2 * L * zeta**2
        + 4 * (tau - 1) * eta**2 * L * sigma**2,
        eta <= 1 / (8 * L),
    ),
    _claim(
        "drift-of-bounded-gradients-with-one-power",
        q.average_suboptimality,
        D**2 / (2 * eta * tau * T) + eta * sigma**2 / M + 4 * L * eta**2 * tau * G**2,
        eta <= 1 / (4 * L),
    ),
]
