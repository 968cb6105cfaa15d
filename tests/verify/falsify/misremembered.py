"""Bounds with their assumptions spelled out: true ones, and the rest of them in a careless quotation.

In `remembered` the reader supposes the setting; here every assumption is named: a bound is false by its own words.
"""

from __future__ import annotations

from collections.abc import Sequence

import sympy as sp
from claim_symbols import WHERE, D, L, M, T, eta, sigma, tau, zeta

from fedtheory import Claim, Rate, norm_sq
from fedtheory import assumptions as a
from fedtheory import quantities as q
from fedtheory.kernel.expressions import Gradient, inner

K, m, mu, p, ell = sp.symbols("K m mu p ell", positive=True)
G, beta, rho, omega, prox, gap = sp.symbols("G beta rho omega m_p Delta", nonnegative=True)
spread, noise_opt, zeta_opt, grad_opt, last = sp.symbols("z s_* zeta_* G_* d_T", nonnegative=True)
variance, speeds = sp.symbols("v r", nonnegative=True)
x, y, F = sp.symbols("x y F", real=True)

SYMBOLS = WHERE | {
    K: q.iterations,
    m: q.participants,
    mu: q.strong_convexity,
    ell: q.noise_smoothness,
    p: q.communication_probability,
    G: q.second_moment,
    beta: q.momentum,
    rho: q.mixing_contraction,
    omega: q.compression_variance,
    prox: q.proximal_weight,
    gap: q.initial_gap,
    spread: q.mean_dissimilarity,
    noise_opt: q.noise_at_optimum,
    zeta_opt: q.dissimilarity_at_optimum,
    grad_opt: q.optimum_gradient,
    last: q.final_distance_sq,
    variance: q.sampling_variance,
    speeds: q.speed_ratio_above,
}
POINTS: dict[sp.Symbol, q.Quantity] = {F: q.objective, x: q.point, y: q.second_point, L: q.smoothness}

LOCAL = (a.same_local_work, a.unit_server_step, a.full_participation, a.uniform_shares)
SYNCHRONOUS = (a.same_local_work, a.full_participation, a.importance_weights, a.server_step_of_one)
CONVEX, CURVED = (a.convex_and_smooth,), (a.convex_and_smooth, a.strongly_convex_clients)
NOISY, ALIKE = (a.unbiased_bounded_variance,), (a.bounded_dissimilarity,)
HEAVY_BALL = (a.heavy_ball, *CURVED, *NOISY, a.same_step_size, a.uniform_shares, *SYNCHRONOUS)
ONE_STEP, QUARTER, WHOLE = tau <= 1, eta <= 1 / (4 * L), eta <= 1 / L
STILL = (1 - beta) ** 2 / (2 * (1 + beta) * L)

START = D**2 / (2 * T * eta * tau)
DRIFT = 18 * tau**2 * eta**2 * zeta**2 + 4 * tau * eta**2 * sigma**2
FORGOTTEN, FLOOR = (1 - eta * mu) ** K * D**2, eta * sigma**2 / (mu * M)
CONTROLLED = (1 - eta * tau * mu / 2) ** T
SKIPPED = sp.Max(1 - eta * mu, 1 - p**2)
SQUEEZED = (1 - eta * mu) ** 2 + 2 * omega * eta**2 * L**2 / M


def _bound(
    name: str,
    lhs: q.RunQuantity,
    rhs: sp.Expr,
    conditions: Sequence[sp.Expr] = (),
    assumptions: Sequence[a.Assumption] = (),
) -> Claim:
    return Claim(
        id=f"misremembered:{name}",
        lhs=lhs,
        rhs=rhs,
        where=SYMBOLS,
        conditions=list(conditions),
        assumptions=list(assumptions),
    )


def _settles(name: str, *assumptions: a.Assumption) -> Claim:
    """Return the claim that the expected model tends to the optimum."""
    return Claim(
        id=f"misremembered:{name}",
        lhs=q.limiting_mean_distance_sq,
        relation="==",
        rhs=sp.S.Zero,
        where=SYMBOLS,
        assumptions=assumptions,
    )


_LOCAL_STEPS = [
    _bound("drift-without-square-of-steps", q.max_drift, DRIFT.subs(zeta, 0) + 18 * tau * eta**2 * zeta**2, [QUARTER]),
    _bound("drift-without-square-of-step-size", q.max_drift, DRIFT / eta, [QUARTER]),
    _bound(
        "drift-in-one-power-of-steps",
        q.max_drift,
        4 * tau * eta**2 * sigma**2 + 18 * tau * eta**2 * zeta**2,
        [QUARTER],
        (*LOCAL, *CONVEX, *NOISY, *ALIKE),
    ),
    _bound(
        "drift-of-bounded-moments-in-one-power",
        q.max_drift,
        4 * G**2 * tau * eta**2,
        (),
        (*LOCAL, a.smooth, *NOISY, a.bounded_second_moment),
    ),
    _bound(
        "noise-divided-by-steps",
        q.average_suboptimality,
        START + eta * sigma**2 / (M * tau) + L * DRIFT,
        [QUARTER],
        (*LOCAL, *CONVEX, *NOISY, *ALIKE),
    ),
    _bound(
        "no-dissimilarity",
        q.average_suboptimality,
        START + eta * sigma**2 / M + 4 * tau * eta**2 * L * sigma**2,
        [QUARTER],
        (*LOCAL, *CONVEX, *NOISY),
    ),
    _bound(
        "dissimilarity-in-one-power-of-steps",
        q.average_suboptimality,
        START + eta * sigma**2 / M + 18 * tau * eta**2 * L * zeta**2 + 4 * tau * eta**2 * L * sigma**2,
        [QUARTER],
        (*LOCAL, *CONVEX, *NOISY, *ALIKE),
    ),
    _bound(
        "dissimilarity-over-clients",
        q.average_suboptimality,
        START + eta * sigma**2 / M + 18 * L * tau**2 * eta**2 * spread**2 / M + 4 * tau * L * eta**2 * sigma**2,
        [QUARTER],
        (*LOCAL, *CONVEX, *NOISY, a.bounded_mean_dissimilarity),
    ),
    _bound(
        "start-of-descent-less-two-percent",
        q.average_suboptimality,
        sp.Rational(49, 50) * START,
        [WHOLE],
        (*LOCAL, *CONVEX, a.one_type, a.full_gradients),
    ),
    _bound(
        "deviation-for-variance",
        q.average_suboptimality,
        START + eta * sigma / M + L * DRIFT,
        [QUARTER],
        (*LOCAL, *CONVEX, *NOISY, *ALIKE),
    ),
    _bound(
        "steps-counted-twice",
        q.average_suboptimality,
        D**2 / (2 * K * eta * tau) + eta * sigma**2 / M + L * DRIFT,
        [QUARTER],
        (*LOCAL, *CONVEX, *NOISY, *ALIKE),
    ),
    _bound(
        "half-of-the-start",
        q.average_suboptimality,
        START / 2 + eta * sigma**2 / M + L * DRIFT,
        [QUARTER],
        (*LOCAL, *CONVEX, *NOISY, *ALIKE),
    ),
    _bound(
        "gradients-without-drift",
        q.average_local_gradient_sq,
        2 * gap / (eta * K) + L * eta * sigma**2 / M,
        [WHOLE],
        (*LOCAL, a.smooth, *NOISY, a.bounded_second_moment),
    ),
]
_NO_CONDITION = [
    _bound(
        "any-step-descends",
        q.final_suboptimality,
        D**2 / (2 * eta * T),
        (),
        (*LOCAL, *CONVEX, a.full_gradients),
    ),
    _bound(
        "any-step-averages",
        q.average_suboptimality,
        START + eta * sigma**2 / M + L * DRIFT,
        (),
        (*LOCAL, *CONVEX, *NOISY, *ALIKE),
    ),
    _bound(
        "any-step-contracts",
        q.final_distance_sq,
        FORGOTTEN + FLOOR + 8 * eta**2 * tau**2 * L * zeta**2 / mu,
        (),
        (*LOCAL, *CURVED, *NOISY, *ALIKE),
    ),
    _bound("any-step-drifts-little", q.max_drift, DRIFT, (), (*LOCAL, *CONVEX, *NOISY, *ALIKE)),
]
_ONLY_SMOOTH = [
    Claim(
        id="misremembered:cocoercive-if-smooth",
        lhs=norm_sq(Gradient(F, x) - Gradient(F, y)),
        rhs=L * inner(Gradient(F, x) - Gradient(F, y), x - y),
        where=POINTS,
        place="points",
        assumptions=(a.smooth,),
    ),
    _bound(
        "sublinear-if-smooth",
        q.final_suboptimality,
        D**2 / (2 * eta * T),
        [WHOLE, ONE_STEP],
        (*LOCAL, a.smooth, a.full_gradients),
    ),
]
_STRONGLY_CONVEX = [
    _bound(
        "quarter-of-the-floor", q.final_distance_sq, FORGOTTEN + FLOOR / 4, [WHOLE, ONE_STEP], (*LOCAL, *CURVED, *NOISY)
    ),
    _bound(
        "thousand-times-the-floor-over-square-of-clients",
        q.final_distance_sq,
        FORGOTTEN + 1000 * FLOOR / M,
        [WHOLE, ONE_STEP],
        (*LOCAL, *CURVED, *NOISY),
    ),
    _bound(
        "floor-over-smoothness",
        q.final_distance_sq,
        FORGOTTEN + 4 * FLOOR * mu / L,
        [WHOLE, ONE_STEP],
        (*LOCAL, *CURVED, *NOISY),
    ),
    _bound(
        "noise-at-the-optimum-alone",
        q.final_distance_sq,
        FORGOTTEN + 2 * eta * noise_opt**2 / (mu * M),
        [WHOLE, ONE_STEP],
        (*LOCAL, *CURVED, a.smooth_noise),
    ),
    _bound(
        "server-step-of-any-size",
        q.final_distance_sq,
        (1 - eta * mu) ** T * D**2 + FLOOR,
        [WHOLE, ONE_STEP],
        (a.same_local_work, a.update_rule, a.full_participation, a.uniform_shares, *CURVED, *NOISY),
    ),
]
_PARTICIPATION = [
    _bound(
        "participants-as-the-only-noise",
        q.final_distance_sq,
        (1 - eta * mu / 2) ** K * D**2 + 2 * eta * noise_opt**2 / (mu * m) + 8 * tau**2 * eta**2 * L * zeta_opt**2 / mu,
        [eta <= 1 / (8 * L * tau)],
        (a.same_local_work, a.unit_server_step, a.uniform_sampling, a.uniform_shares, *CURVED, *NOISY),
    ),
    Claim(
        id="misremembered:finite-population",
        lhs=q.sampling_variance,
        relation="==",
        rhs=(M - m) / (m * M),
        where=SYMBOLS,
        assumptions=(a.uniform_sampling, a.uniform_shares, a.several_clients),
    ),
    _bound(
        "controls-of-absent-clients",
        q.final_distance_sq,
        CONTROLLED * (D**2 + sp.Rational(2, 3) * eta**2 * tau**2 * grad_opt**2),
        [eta * tau <= 1 / (4 * L)],
        (a.scaffold, *CURVED, a.full_gradients, a.same_local_work, a.uniform_sampling, a.server_step_of_one),
    ),
    _bound("staleness-as-the-ratio-of-speeds", q.largest_staleness, speeds, (), (a.asynchronous,)),
]
_OTHER_ALGORITHMS = [
    _bound(
        "controls-right-from-the-start",
        q.final_distance_sq,
        CONTROLLED * D**2,
        [eta * tau <= 1 / (4 * L)],
        (a.scaffold, *CURVED, a.full_gradients, *SYNCHRONOUS),
    ),
    _bound(
        "proximal-steps-as-a-cure",
        q.final_distance_sq,
        (1 - eta * mu / 2) ** K * D**2,
        [eta <= 1 / (L + prox)],
        (a.fedprox, a.full_gradients, *CURVED, *SYNCHRONOUS),
    ),
    _bound(
        "rare-communication-for-free",
        q.final_distance_sq,
        (1 - eta * mu) ** T * (D**2 + eta**2 / p**2 * grad_opt**2),
        [WHOLE],
        (a.scaffnew, *CURVED, a.same_step_size, a.full_gradients),
    ),
    _bound(
        "rare-communication-without-controls",
        q.final_distance_sq,
        SKIPPED**T * D**2,
        [WHOLE],
        (a.scaffnew, *CURVED, a.same_step_size, a.full_gradients),
    ),
    _bound(
        "any-graph-as-a-server",
        q.final_distance_sq,
        (1 - eta * mu) ** (2 * T) * D**2 + eta**2 * sigma**2 / (M * (1 - (1 - eta * mu) ** 2)),
        [WHOLE],
        (a.dsgd, a.strongly_convex_clients, *NOISY, a.same_step_size, a.uniform_shares),
    ),
    _bound(
        "compression-of-unlike-gradients",
        q.final_distance_sq,
        SQUEEZED**T * D**2 + eta**2 * (1 + omega) * sigma**2 / (M * (1 - SQUEEZED)),
        [WHOLE, ONE_STEP, SQUEEZED < 1],
        (
            a.compressed,
            a.strongly_convex_clients,
            *NOISY,
            a.same_step_size,
            a.full_participation,
            a.uniform_shares,
            a.server_step_of_one,
        ),
    ),
    _settles("unequal-work-corrected", a.fednova, a.full_participation, a.strongly_convex_clients),
    _settles(
        "momentum-as-a-cure", a.server_momentum, a.full_participation, a.same_step_size, a.strongly_convex_clients
    ),
    _settles("proximal-term-as-a-cure", a.fedprox, a.full_participation, a.same_step_size, a.strongly_convex_clients),
]
_MOMENTUM = [
    _bound(
        "momentum-without-its-factor",
        q.final_distance_sq,
        D**2 * (1 - eta * mu) ** T + FLOOR,
        [eta <= STILL, beta < 1, ONE_STEP],
        (a.heavy_ball, a.full_participation, a.same_step_size, a.uniform_shares, a.importance_weights),
    ),
    _bound(
        "momentum-squared-contraction",
        q.final_distance_sq,
        (1 + beta**2) * ((1 - eta * mu / (2 * (1 - beta))) ** (2 * T) * D**2 + 4 * FLOOR / (1 - beta)),
        [eta <= (1 - beta) / L, beta < 1, ONE_STEP],
        HEAVY_BALL,
    ),
    _bound(
        "momentum-with-local-steps",
        q.final_distance_sq,
        (1 + beta**2) * ((1 - eta * tau * mu / (2 * (1 - beta))) ** T * D**2 + 4 * FLOOR / (1 - beta)),
        [eta * tau <= STILL, beta < 1],
        HEAVY_BALL,
    ),
]
_RATES = [
    Claim(
        id="misremembered:noise-vanishes-at-a-constant-step",
        where=SYMBOLS,
        conditions=[QUARTER],
        assumptions=(*LOCAL, *CONVEX, *NOISY),
        rate=Rate(q.average_suboptimality, 1 / T, T),
    ),
    Claim(
        id="misremembered:cubed-bias",
        where=SYMBOLS,
        conditions=[QUARTER],
        assumptions=(*LOCAL, *CURVED, a.full_gradients),
        rate=Rate(q.final_distance_sq, eta**3, eta),
    ),
]
FALSE = [
    *_LOCAL_STEPS,
    *_NO_CONDITION,
    *_ONLY_SMOOTH,
    *_STRONGLY_CONVEX,
    *_PARTICIPATION,
    *_OTHER_ALGORITHMS,
    *_MOMENTUM,
    *_RATES,
]
TRUE = [
    _bound("drift", q.max_drift, DRIFT, [QUARTER], (*LOCAL, *CONVEX, *NOISY, *ALIKE)),
    _bound(
        "rare-communication",
        q.final_distance_sq,
        SKIPPED**T * (D**2 + eta**2 / p**2 * grad_opt**2) + eta**2 * sigma**2 / (1 - SKIPPED),
        [WHOLE],
        (a.scaffnew, *CURVED, *NOISY, a.same_step_size),
    ),
    _bound(
        "consensus",
        q.final_consensus_distance_sq,
        4 * rho**2 * eta**2 / (1 - rho**2) * ((1 + rho**2) / (1 - rho**2) * zeta**2 + sigma**2),
        [WHOLE, rho < 1],
        (a.dsgd, *CONVEX, *NOISY, a.same_step_size, a.uniform_shares, *ALIKE),
    ),
    _bound("value-from-distance", q.final_suboptimality, L / 2 * last, (), CONVEX),
    _bound("mean-of-dissimilarities", q.mean_dissimilarity, zeta, (), ALIKE),
    _bound("noise-at-the-optimum", q.noise_at_optimum, sigma, (), NOISY),
    _bound("dissimilarity-at-the-optimum", q.dissimilarity_at_optimum, zeta, (), ALIKE),
]
