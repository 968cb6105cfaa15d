"""Bounds of users that follow from other statements: on another quantity, with powers, by squares; and near misses."""

from __future__ import annotations

from typing import Any

import pytest
import sympy as sp
from chain_claims import NOISY, ROUNDS, STRONGLY, D, K, L, T, errors, eta, mu, sigma, tau, zeta

from fedtheory import Claim
from fedtheory import assumptions as a
from fedtheory import quantities as q
from fedtheory.kernel.expressions import Average, Expectation, Gradient, Value, norm_sq
from fedtheory.language.registry import find
from fedtheory.proofs import check_certificate
from fedtheory.search import Found, NotFound, find_proof
from fedtheory.search.restatements import search_smaller_powers

gap, M, Gamma, apart, noise, ell, beta, drift = sp.symbols("Delta M Gamma zeta_s sigma_s ell beta V", positive=True)
F, F_i, x, y, best, later = sp.symbols("F F_i x y x_s x_1", real=True)
x_i, mean, next_mean = sp.symbols("x_i xbar xbar_1", real=True)
NUMBERS = {
    eta: q.local_step_size,
    tau: q.local_steps,
    K: q.iterations,
    errors: q.average_suboptimality,
    T: q.rounds,
    M: q.clients,
    L: q.smoothness,
    mu: q.strong_convexity,
    sigma: q.noise_deviation,
    zeta: q.gradient_dissimilarity,
    D: q.initial_distance,
    gap: q.initial_gap,
    Gamma: q.optimal_value_gap,
    apart: q.dissimilarity_at_optimum,
    noise: q.noise_at_optimum,
    ell: q.noise_smoothness,
    beta: q.momentum,
    drift: q.max_drift,
}
VECTORS = {F: q.objective, F_i: q.client_objective, x: q.point, y: q.second_point, best: q.optimum}
PATH = {**VECTORS, x: q.centralised_model, later: q.next_centralised_model}
STEP = {**VECTORS, x_i: q.local_iterate, mean: q.average_iterate, next_mean: q.next_average_iterate}
ALONE = (*ROUNDS, a.one_client, a.full_gradients, a.smooth)
ONE_STEP = sp.Eq(tau, 1, evaluate=False)
SMALL = 8 * eta * L <= 1


def stated(left: Any, right: Any, assumptions: Any, conditions: Any, **more: Any) -> Claim:
    """Return a claim with the symbols of its sides and conditions; `more` are its place and vectors."""
    known = {**NUMBERS, **more.pop("where", {})}
    used = set().union(*(getattr(one, "free_symbols", set()) for one in (left, right, *conditions)))
    named = {symbol: quantity for symbol, quantity in known.items() if symbol in used}
    return Claim(
        id="mine:bound",
        lhs=left,
        rhs=right,
        where=named,
        assumptions=tuple(assumptions),
        conditions=tuple(conditions),
        **more,
    )


def strongly(left: Any, power: Any, added: Any = 0) -> Claim:
    """Return a bound for strongly convex clients, by a factor of the initial distance."""
    spread = 3 * eta * sigma**2 / (mu * M) + 70 * L * eta**2 * tau**2 * (zeta**2 + sigma**2) / mu
    return stated(left, power * D**2 + spread + added, (*NOISY, *STRONGLY, a.bounded_dissimilarity), [SMALL])


def norms(left: Any, right: Any, assumptions: Any, conditions: Any) -> Claim:
    """Return a bound on a norm along gradient descent on F."""
    return stated(sp.sqrt(norm_sq(left)), right, assumptions, conditions, place="path", where=PATH)


def momentum(limit: Any, noise: int) -> Claim:
    """Return a bound on SGD with momentum at the server, for steps below a limit, with a factor of the noise."""
    setting = (a.heavy_ball, a.same_step_size, a.full_participation, a.importance_weights, a.uniform_shares)
    factor = (1 - eta * mu / (2 - 2 * beta)) ** T
    bound = 2 * D**2 * factor + 4 * noise * eta * sigma**2 / (M * mu * (1 - beta))
    small = [eta <= (1 - beta) ** 2 * limit, beta < 1, tau <= 1]
    known = (*setting, a.server_step_of_one, a.unbiased_bounded_variance, *STRONGLY)
    return stated(q.final_distance_sq, bound, known, small)


def at_optimum(power: Any) -> Claim:
    """Return a bound for strongly convex clients by the noise and the dissimilarity at the optimum."""
    spread = 4 * eta * noise**2 / (mu * M) + 30 * L * eta**2 * tau**2 * (apart**2 + noise**2) / mu
    small = [40 * eta * tau * L <= 1, 40 * eta * tau * ell <= 1, 40 * eta * mu * tau**2 <= 1]
    return stated(q.final_distance_sq, power * D**2 + spread, (*ROUNDS, *STRONGLY, a.smooth_noise), small)


def lemma_of_li(drifts: int) -> Claim:
    """Return Lemma 1 of Li et al. 2020 with looser constants, and a multiple of the drift."""
    drift = Expectation(Average(norm_sq(x_i - mean)))
    now, then = (Expectation(norm_sq(one - best)) for one in (mean, next_mean))
    bound = (1 - eta * mu) * now + eta**2 * sigma**2 / M + 8 * L * eta**2 * Gamma + drifts * drift
    return stated(then, bound, (*NOISY, *STRONGLY), [4 * L * eta <= 1], place="step", where=STEP)


def gradients_of_clients(factor: int) -> Claim:
    """Return a bound on the clients' gradients by the dissimilarity at the optimum and a multiple of the error."""
    bound = 2 * apart**2 + factor * L * (Value(F, x) - Value(F, best))
    left = Average(norm_sq(Gradient(F_i, x)))
    return stated(left, bound, [a.convex_and_smooth], [], place="points", where=VECTORS)


SHRINKS = sp.sqrt(norm_sq(x - best))
SLOPE = sp.sqrt(norm_sq(Gradient(F, x)))
TRUE = {
    "gradients of rounds with one local step": stated(
        q.average_gradient_sq, 2 * gap / (eta * T), ALONE, [eta * L <= 1, ONE_STEP]
    ),
    "the last error by the last distance": stated(
        q.final_suboptimality,
        L / 2 * strongly(q.final_distance_sq, (1 - eta * mu) ** (tau * T)).relations[0].right,
        (*NOISY, *STRONGLY, a.bounded_dissimilarity),
        [SMALL],
    ),
    "an exponential": strongly(q.final_distance_sq, sp.exp(-eta * mu * tau * T)),
    "an exponential of half the rate": strongly(q.final_distance_sq, sp.exp(-eta * mu * tau * T / 2)),
    "a power larger than that of a known bound": at_optimum((1 - eta * mu) ** (tau * T)),
    "an exponential larger than the power of a known bound": at_optimum(sp.exp(-eta * mu * tau * T)),
    "distances of gradient descent": norms(later - best, (1 - eta * mu) * SHRINKS, STRONGLY, [eta * L <= 1]),
    "gradients of gradient descent": norms(Gradient(F, later), (1 - eta * mu) * SLOPE, STRONGLY, [eta * L <= 1]),
    "clients with one objective": stated(
        q.final_distance_sq,
        (1 - eta * mu) ** (tau * T) * D**2 + 2 * eta * sigma**2 / (mu * M) + 30 * L * eta**2 * tau * sigma**2 / mu,
        (*NOISY, *STRONGLY, a.one_type),
        [4 * eta * L <= 1],
    ),
    "full gradients of dissimilar clients": stated(
        q.final_distance_sq,
        (1 - eta * mu) ** (tau * T) * D**2 + 32 * L * eta**2 * tau**2 * zeta**2 / mu,
        (*ROUNDS, a.full_gradients, *STRONGLY, a.bounded_dissimilarity),
        [4 * eta * L <= 1],
    ),
    "a condition that follows by products": momentum(1 / (4 * L), 2),
    "a client alone does not drift": stated(q.max_drift, sp.S.Zero, ALONE, []),
    "values of one client": stated(
        q.final_suboptimality, (1 - eta * mu) ** T * gap, (*ALONE, *STRONGLY), [eta * L <= 1, ONE_STEP]
    ),
    "iterations for rounds": stated(
        q.average_suboptimality,
        D**2 / (eta * K) + 2 * eta * sigma**2 / M + 20 * L * eta**2 * tau * (sigma**2 + tau * zeta**2),
        (*NOISY, a.convex_and_smooth, a.bounded_dissimilarity),
        [4 * eta * L <= 1],
    ),
    "an error is not negative": stated(sp.S.Zero, q.average_suboptimality, (*ROUNDS, a.convex_and_smooth), []),
    "strong convexity in norms": stated(
        mu * sp.sqrt(norm_sq(x - y)),
        sp.sqrt(norm_sq(Gradient(F, x) - Gradient(F, y))),
        *(STRONGLY, []),
        place="points",
        where=VECTORS,
    ),
    "gradients by the dissimilarity at the optimum": gradients_of_clients(4),
    "the error by a product of norms": stated(
        Value(F, x) - Value(F, best),
        sp.sqrt(norm_sq(Gradient(F, x))) * sp.sqrt(norm_sq(x - best)),
        *([a.convex_and_smooth], []),
        place="points",
        where=VECTORS,
    ),
    "the gradient by the root of the error": stated(
        sp.sqrt(norm_sq(Gradient(F, x))),
        sp.sqrt(2 * L * (Value(F, x) - Value(F, best))),
        *([a.convex_and_smooth], []),
        place="points",
        where=VECTORS,
    ),
    "the heterogeneity of Li et al.": lemma_of_li(3),
    "the heterogeneity is not negative": stated(sp.S.Zero, Gamma, STRONGLY, [], place="points", where=VECTORS),
}
FALSE = {
    "values of one client at twice the rate": stated(
        q.final_suboptimality, (1 - eta * mu) ** (3 * T) * gap, (*ALONE, *STRONGLY), [eta * L <= 1, ONE_STEP]
    ),
    "clients with one objective, without the noise of local steps": stated(
        q.final_distance_sq,
        (1 - eta * mu) ** (tau * T) * D**2 + eta * sigma**2 / (90 * mu * M),
        (*NOISY, *STRONGLY, a.one_type),
        [4 * eta * L <= 1],
    ),
    "full gradients without dissimilarity": stated(
        q.final_distance_sq,
        (1 - eta * mu) ** (tau * T) * D**2,
        (*ROUNDS, a.full_gradients, *STRONGLY, a.bounded_dissimilarity),
        [4 * eta * L <= 1],
    ),
    "a condition that does not follow": momentum(1 / L, 2),
    "momentum without noise": momentum(1 / (4 * L), 0),
    "clients together drift": stated(drift, sp.S.Zero, (*ROUNDS, a.convex_and_smooth), []),
    "an error is not positive": stated(errors, sp.S.Zero, (*ROUNDS, a.convex_and_smooth), []),
    "gradients of rounds with some local steps": stated(
        q.average_gradient_sq, 2 * gap / (eta * T), ALONE, [eta * L <= 1]
    ),
    "half the gradients of rounds": stated(q.average_gradient_sq, gap / (2 * eta * T), ALONE, [eta * L <= 1, ONE_STEP]),
    "the last error by a quarter": stated(
        q.final_suboptimality, L / 4 * (1 - eta * mu) ** (2 * T) * D**2, (*ALONE, *STRONGLY), [eta * L <= 1, ONE_STEP]
    ),
    "an exponential that decreases too fast": strongly(q.final_distance_sq, sp.exp(-3 * eta * mu * tau * T)),
    "a power smaller than that of a known bound": at_optimum((1 - 3 * eta * mu) ** (tau * T)),
    "an exponential without steps": strongly(q.final_distance_sq, sp.exp(-tau * T)),
    "an exponential that is taken off": strongly(
        q.final_distance_sq, (1 - eta * mu) ** (tau * T), -(D**2) * sp.exp(-eta * mu * tau * T)
    ),
    "distances of gradient descent at a larger rate": norms(
        later - best, (1 - eta * L) * SHRINKS, STRONGLY, [eta * L <= 1]
    ),
    "gradients by a quarter of the error": gradients_of_clients(1),
    "the error by half a product of norms": stated(
        Value(F, x) - Value(F, best),
        sp.sqrt(norm_sq(Gradient(F, x))) * sp.sqrt(norm_sq(x - best)) / 3,
        *([a.convex_and_smooth], []),
        place="points",
        where=VECTORS,
    ),
    "strong convexity in norms, twice": stated(
        2 * mu * sp.sqrt(norm_sq(x - y)),
        sp.sqrt(norm_sq(Gradient(F, x) - Gradient(F, y))),
        *(STRONGLY, []),
        place="points",
        where=VECTORS,
    ),
    "a factor that may be negative": norms(later - best, (1 - 2 * eta * L) * SHRINKS, STRONGLY, [eta * L <= 1]),
    "the heterogeneity without the drift": lemma_of_li(0),
    "the heterogeneity is not positive": stated(Gamma, sp.S.Zero, STRONGLY, [], place="points", where=VECTORS),
}


SLOW = (
    "a condition that follows by products",
    "the heterogeneity of Li et al.",
    "a power larger than that of a known bound",
)
"""True bounds whose searches take seconds."""


@pytest.mark.parametrize(
    "claim",
    [pytest.param(claim, id=name, marks=[pytest.mark.long] if name in SLOW else []) for name, claim in TRUE.items()],
)
def test_true_bounds_are_proved_from_their_statements(claim: Claim) -> None:
    """The kernel accepts the found document again."""
    found = find_proof(claim)
    assert isinstance(found, Found), found
    assert check_certificate(claim, found.proof.document or {}).verdict == "proved"


@pytest.mark.long
@pytest.mark.parametrize("claim", FALSE.values(), ids=FALSE)
def test_false_bounds_are_not_proved(claim: Claim) -> None:
    assert isinstance(find_proof(claim), NotFound)


def test_the_fact_and_the_lemma_are_named() -> None:
    """A reduced proof lists the fact, and its document has the stronger statement as a lemma."""
    found = find_proof(TRUE["gradients of rounds with one local step"])
    assert isinstance(found, Found)
    assert "with one local step the gradients of the rounds are those of the steps" in found.uses
    lemmas = (found.proof.document or {})["lemmas"]
    assert lemmas[-1]["name"] == "stronger-statement"
    assert lemmas[-1]["statement"].startswith("average_local_gradient_sq <= ")


def test_values_of_minimisers_are_no_vectors_in_other_places() -> None:
    """Along gradient descent, the gap of the minimisers is a number that is not known."""
    claim = stated(Value(F, x), Value(F, x) + Gamma, STRONGLY, [], place="path", where=PATH)
    assert isinstance(find_proof(claim), NotFound)


@pytest.mark.parametrize("name", ["fraboni2022:eq-33.rate", "fraboni2022:time-model"])
def test_claims_that_are_no_single_bound_end_the_search(name: str) -> None:
    """Rates and chains of relations have no powers to compare."""
    claim = find(name)
    assert isinstance(search_smaller_powers(claim, lambda _: NotFound("never asked")), NotFound)
