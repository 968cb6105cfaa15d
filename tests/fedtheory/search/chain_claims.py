"""User-defined bounds on whole runs with loose constants, and similar false ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sympy as sp

from fedtheory import Claim
from fedtheory import assumptions as a
from fedtheory import quantities as q
from fedtheory.language.targets import resolve

NAMES = "eta tau T K M zeta sigma L D mu G Delta ell sigma_opt zeta_opt zeta_m"
eta, tau, T, K, M, zeta, sigma, L, D, mu, G, Delta, ell, s_opt, z_opt, z_mean = sp.symbols(NAMES, positive=True)
rho, p_max = sp.symbols("rho p_max", positive=True)
errors, last = sp.symbols("e_a d_T", nonnegative=True)
WHERE = {
    eta: q.local_step_size,
    tau: q.local_steps,
    T: q.rounds,
    K: q.iterations,
    M: q.clients,
    zeta: q.gradient_dissimilarity,
    sigma: q.noise_deviation,
    L: q.smoothness,
    D: q.initial_distance,
    mu: q.strong_convexity,
    G: q.second_moment,
    Delta: q.initial_gap,
    ell: q.noise_smoothness,
    s_opt: q.noise_at_optimum,
    z_opt: q.dissimilarity_at_optimum,
    z_mean: q.mean_dissimilarity,
    errors: q.average_suboptimality,
    last: q.final_distance_sq,
    rho: q.sampling_variance,
    p_max: q.largest_importance,
}
ROUNDS = (a.same_local_work, a.unit_server_step, a.full_participation, a.uniform_shares)
NOISY = (*ROUNDS, a.unbiased_bounded_variance)
CONVEX, SMOOTH = (a.convex_and_smooth,), (a.smooth,)
STRONGLY = (a.convex_and_smooth, a.strongly_convex_clients)
ERROR, GRADIENT, DISTANCE = q.average_suboptimality, q.average_local_gradient_sq, q.final_distance_sq
START, SLOPE = D**2 / (eta * tau * T), 4 * Delta / (eta * tau * T)


def bound(lhs: Any, rhs: Any, assumptions: Sequence[Any], conditions: Sequence[Any]) -> Claim:
    """A bound on a run, as a user-defined file would state it."""
    sides = [side for side in (lhs, sp.sympify(rhs)) if isinstance(side, sp.Expr)]
    used: set[Any] = set().union(*(each.free_symbols for each in (*sides, *conditions)))
    where = {symbol: quantity for symbol, quantity in WHERE.items() if symbol in used}
    stated = {"lhs": lhs, "rhs": rhs, "where": where, "assumptions": assumptions, "conditions": conditions}
    return resolve(Claim(id="mine:chain", **stated))


_MEDIUM = [eta <= 1 / (4 * L)]
_SMALL = [eta <= 1 / (8 * tau * L)]
_SMALL_NOISE = [eta <= 1 / (20 * tau * L), 20 * tau * eta * ell <= 1]
_BOUNDED = (a.bounded_dissimilarity,)
_MEAN = (a.bounded_mean_dissimilarity,)
_MOMENT = (a.bounded_second_moment,)
_QUIET = (*ROUNDS, *CONVEX, a.full_gradients, *_BOUNDED)
_AT_OPTIMUM = (*ROUNDS, *CONVEX, a.smooth_noise)
_DRIFT = 4 * L * eta**2 * tau**2
_SAMPLED = (a.same_local_work, a.unit_server_step, a.averaged_participants, *CONVEX, a.smooth_noise)
_WEIGHTED = (a.same_local_work, a.unit_server_step, a.full_participation, *CONVEX, a.smooth_noise)
_SAMPLED_STEPS = [
    *_MEDIUM,
    4 * L * eta * tau * (3 * L * eta * tau + rho) + 4 * ell * eta * (3 * L * eta * tau + rho + p_max) <= 1,
]
_DIVIDED = [eta <= 1 / (8 * L * tau), eta <= 1 / (16 * ell * tau)]
_COST = 4 * eta * (L * eta * tau + rho)
_ALONE = (*ROUNDS, a.one_client)
_QUIET_ALONE = (*_ALONE, a.full_gradients)
_ONE_STEP = sp.Eq(tau, 1, evaluate=False)
_CURVED_DRIFT = 8 * L**2 * eta**2 * tau
_GAINED = 2 * eta * tau * T * errors
_LASTING = 16 * L * eta**2 * tau / mu
TRUE = {
    "last distance with errors": bound(
        last + _GAINED / 2, D**2 + 2 * eta**2 * tau * T * sigma**2, (*NOISY, *CONVEX, a.one_client), _MEDIUM
    ),
    "errors with last distance": bound(_GAINED, D**2 - last, (*_QUIET_ALONE, *CONVEX), [eta <= 1 / L]),
    "one client": bound(ERROR, START + 2 * eta * sigma**2, (*NOISY, *CONVEX, a.one_client), _MEDIUM),
    "one step": bound(ERROR, START * tau + 2 * eta * sigma**2 / M, (*NOISY, *CONVEX), [*_MEDIUM, _ONE_STEP]),
    "gradient descent": bound(ERROR, D**2 / (eta * T), (*_QUIET_ALONE, *CONVEX), [*_MEDIUM, _ONE_STEP]),
    "gradient descent, smooth": bound(
        GRADIENT, 4 * Delta / (eta * T), (*_QUIET_ALONE, *SMOOTH), [eta <= 1 / L, _ONE_STEP]
    ),
    "convex": bound(
        ERROR,
        START + 2 * eta * sigma**2 / M + _DRIFT * (zeta**2 + sigma**2),
        (*NOISY, *CONVEX, *_BOUNDED),
        _MEDIUM,
    ),
    "convex, second moments": bound(
        ERROR, START + 2 * eta * sigma**2 / M + _DRIFT * G**2, (*NOISY, *CONVEX, *_MOMENT), _MEDIUM
    ),
    "convex, full gradients": bound(ERROR, START + _DRIFT * zeta**2, _QUIET, _MEDIUM),
    "convex, noise at the optimum": bound(
        ERROR, START + 4 * eta * s_opt**2 / M + _DRIFT * (z_opt**2 + s_opt**2), _AT_OPTIMUM, _SMALL_NOISE
    ),
    "convex, noise at the optimum, bounds that divide by its constant": bound(
        ERROR, START + 4 * eta * s_opt**2 / M + _DRIFT * (z_opt**2 + s_opt**2), _AT_OPTIMUM, _DIVIDED
    ),
    "convex, client weights, noise at the optimum": bound(
        ERROR,
        START + 4 * eta * p_max * s_opt**2 + _DRIFT * (z_opt**2 + s_opt**2),
        _WEIGHTED,
        [_DIVIDED[0], 16 * eta * ell * (tau + p_max) <= 1],
    ),
    "convex, sampled clients, noise at the optimum": bound(
        ERROR, START + _COST * (tau * z_opt**2 + s_opt**2) + 3 * eta * p_max * s_opt**2, _SAMPLED, _SAMPLED_STEPS
    ),
    "smooth": bound(
        GRADIENT,
        SLOPE + 2 * L * eta * sigma**2 / M + _CURVED_DRIFT * (tau * z_mean**2 + sigma**2),
        (*NOISY, *SMOOTH, *_MEAN),
        _SMALL,
    ),
    "smooth, each client's dissimilarity": bound(
        GRADIENT,
        SLOPE + 2 * L * eta * sigma**2 / M + _CURVED_DRIFT * (tau * zeta**2 + sigma**2),
        (*NOISY, *SMOOTH, *_BOUNDED),
        _SMALL,
    ),
    "smooth, second moments": bound(
        GRADIENT, SLOPE + 2 * L * eta * sigma**2 / M + _CURVED_DRIFT * tau * G**2, (*NOISY, *SMOOTH, *_MOMENT), _SMALL
    ),
    "strongly convex": bound(
        DISTANCE,
        (1 - eta * mu / 2) ** K * D**2 + 8 * eta * sigma**2 / (mu * M) + _LASTING * (tau * zeta**2 + sigma**2),
        (*NOISY, *STRONGLY, *_BOUNDED),
        _SMALL,
    ),
    "strongly convex, second moments": bound(
        DISTANCE,
        (1 - eta * mu) ** K * D**2 + 2 * eta * sigma**2 / (mu * M) + _LASTING * tau * G**2,
        (*NOISY, *STRONGLY, *_MOMENT),
        _MEDIUM,
    ),
}
FALSE = {
    "smooth, too small a dissimilarity": bound(
        GRADIENT,
        SLOPE + 2 * L * eta * sigma**2 / M + _CURVED_DRIFT * (zeta**2 + sigma**2),
        (*NOISY, *SMOOTH, *_BOUNDED),
        _SMALL,
    ),
    "several clients do not drift": bound(ERROR, START + 2 * eta * sigma**2, (*NOISY, *CONVEX), _MEDIUM),
    "several steps do not drift": bound(
        ERROR, START + 2 * eta * sigma**2 / M, (*NOISY, *CONVEX), [*_MEDIUM, sp.Le(tau, 2, evaluate=False)]
    ),
    "one step without noise": bound(ERROR, START * tau, (*NOISY, *CONVEX), [*_MEDIUM, _ONE_STEP]),
    "too fast a gradient descent": bound(
        GRADIENT, Delta / (2 * eta * T), (*_QUIET_ALONE, *SMOOTH), [eta <= 1 / L, _ONE_STEP]
    ),
    "too fast a contraction": bound(
        DISTANCE,
        (1 - 3 * eta * mu) ** K * D**2 + 2 * eta * sigma**2 / (mu * M) + _LASTING * tau * G**2,
        (*NOISY, *STRONGLY, *_MOMENT),
        _MEDIUM,
    ),
    "strongly convex without drift": bound(
        DISTANCE,
        (1 - eta * mu) ** K * D**2 + 2 * eta * sigma**2 / (mu * M) + _LASTING * sigma**2,
        (*NOISY, *STRONGLY, *_BOUNDED),
        _SMALL,
    ),
    "strongly convex with less noise": bound(
        DISTANCE,
        (1 - eta * mu) ** K * D**2 + 2 * eta * sigma**2 / (mu * M**2) + _LASTING * tau * G**2,
        (*NOISY, *STRONGLY, *_MOMENT),
        _MEDIUM,
    ),
    "strongly convex with no start": bound(
        DISTANCE,
        (1 - eta * mu) ** K * D + 2 * eta * sigma**2 / (mu * M) + _LASTING * tau * G**2,
        (*NOISY, *STRONGLY, *_MOMENT),
        _MEDIUM,
    ),
    "noise falls with the square of the clients": bound(
        ERROR, START + 2 * eta * sigma**2 / M**2 + _DRIFT * zeta**2, (*NOISY, *CONVEX, *_BOUNDED), _MEDIUM
    ),
    "no drift": bound(ERROR, START + 2 * eta * sigma**2 / M, (*NOISY, *CONVEX, *_MOMENT), _MEDIUM),
    "too small a drift": bound(
        ERROR, START + 2 * eta * sigma**2 / M + _DRIFT * G**2 / tau**2, (*NOISY, *CONVEX, *_MOMENT), _MEDIUM
    ),
    "no dissimilarity": bound(ERROR, START, _QUIET, _MEDIUM),
    "drift of a higher power": bound(ERROR, START + L**2 * eta**3 * zeta**2, _QUIET, _MEDIUM),
    "no noise at the optimum": bound(ERROR, START + _DRIFT * (z_opt**2 + s_opt**2 / tau), _AT_OPTIMUM, _SMALL_NOISE),
    "no dissimilarity at the optimum": bound(
        ERROR, START + 4 * eta * s_opt**2 / M + _DRIFT * s_opt**2, _AT_OPTIMUM, _SMALL_NOISE
    ),
    "sampled clients without the variance of sampling": bound(
        ERROR,
        START + _DRIFT * z_opt**2 + 4 * eta**2 * L * tau * s_opt**2 + 3 * eta * p_max * s_opt**2,
        _SAMPLED,
        _SAMPLED_STEPS,
    ),
    "sampled clients without noise": bound(ERROR, START + _COST * tau * z_opt**2, _SAMPLED, _SAMPLED_STEPS),
    "client weights, squared": bound(
        ERROR, START + _DRIFT * z_opt**2 + eta * p_max**2 * s_opt**2 / 8, _WEIGHTED, [*_DIVIDED, p_max <= 1]
    ),
    "too large a step": bound(
        ERROR, START + 2 * eta * sigma**2 / M + _DRIFT * G**2, (*NOISY, *CONVEX, *_MOMENT), [eta <= 4 / L]
    ),
    "smooth without noise": bound(GRADIENT, SLOPE + _CURVED_DRIFT * tau * z_mean**2, (*NOISY, *SMOOTH, *_MEAN), _SMALL),
    "smooth, too short a start": bound(
        GRADIENT,
        SLOPE / tau + 2 * L * eta * sigma**2 / M + _CURVED_DRIFT * tau * G**2,
        (*NOISY, *SMOOTH, *_MOMENT),
        _SMALL,
    ),
}
FALSE_TOGETHER = {
    "noise falls with the length": bound(
        last + _GAINED, D**2 + eta**2 * T * sigma**2 / 10, (*NOISY, *CONVEX, a.one_client), _MEDIUM
    ),
    "too many errors": bound(3 * _GAINED, D**2 - last, (*_QUIET_ALONE, *CONVEX), [eta <= 1 / L]),
}
