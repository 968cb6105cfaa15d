"""Constants at the optimum and at the start are related to those of the whole region, and full gradients have none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
import sympy as sp

from fedtheory import assumptions as a
from fedtheory import quantities as q
from fedtheory.kernel import Term, assumption
from fedtheory.kernel.expressions import Average, Expectation, Gradient, Value, inner, norm_sq
from fedtheory.language.claim import Claim
from fedtheory.proofs import Certificate, check_certificate, facts
from fedtheory.proofs.combination import Combination
from fedtheory.proofs.comparators import NOISE_AT_Y, SMOOTH_NOISE
from fedtheory.proofs.parts import Part

sigma, s_opt, zeta, z_mean, z_opt, Delta, D = sp.symbols("sigma s_opt zeta z_m z_opt Delta D", nonnegative=True)
L, mu, ell, eta = sp.symbols("L mu ell eta", positive=True)
local, mean, y, F, F_i = sp.symbols("x_i xbar y F F_i", real=True)
WHERE: dict[Any, Any] = {
    **{sigma: q.noise_deviation, s_opt: q.noise_at_optimum, zeta: q.gradient_dissimilarity, Delta: q.initial_gap},
    **{z_mean: q.mean_dissimilarity, z_opt: q.dissimilarity_at_optimum, D: q.initial_distance, L: q.smoothness},
    **{mu: q.strong_convexity, ell: q.noise_smoothness, eta: q.local_step_size, local: q.local_iterate},
    **{y: q.comparator, mean: q.average_iterate, F: q.objective, F_i: q.client_objective},
}


def _claim(left: Any, right: Any, assumptions: Sequence[a.Assumption], **stated: Any) -> Claim:
    used = sp.sympify(left).free_symbols | sp.sympify(right).free_symbols
    where = {symbol: quantity for symbol, quantity in WHERE.items() if symbol in used}
    return Claim(id="mine:constants", lhs=left, rhs=right, where=where, assumptions=tuple(assumptions), **stated)


CONVEX, SMOOTH, CURVED = (a.convex_and_smooth,), (a.smooth,), (a.strongly_convex_clients,)
NOISY, BOUNDED, ON_AVERAGE = (
    (a.unbiased_bounded_variance,),
    (a.bounded_dissimilarity,),
    (a.bounded_mean_dissimilarity, a.uniform_shares),
)
CASES: dict[str, tuple[Any, Any, facts.Fact, Sequence[a.Assumption], str]] = {
    "noise": (s_opt, sigma, facts.NOISE_AT_OPTIMUM, NOISY, "proved"),
    "half of the noise": (s_opt, sigma / 2, facts.NOISE_AT_OPTIMUM, NOISY, "broken"),
    "noise, reversed": (sigma, s_opt, facts.NOISE_AT_OPTIMUM, NOISY, "broken"),
    "noise of any variance": (s_opt, sigma, facts.NOISE_AT_OPTIMUM, CONVEX, "broken"),
    "dissimilarity": (z_opt, zeta, facts.DISSIMILARITY_AT_OPTIMUM, BOUNDED, "proved"),
    "half of the dissimilarity": (z_opt, zeta / 2, facts.DISSIMILARITY_AT_OPTIMUM, BOUNDED, "broken"),
    "dissimilarity without a bound": (z_opt, zeta, facts.DISSIMILARITY_AT_OPTIMUM, CONVEX, "broken"),
    "average": (z_opt, z_mean, facts.MEAN_DISSIMILARITY_AT_OPTIMUM, ON_AVERAGE, "proved"),
    "average, unequal weights": (z_opt, z_mean, facts.MEAN_DISSIMILARITY_AT_OPTIMUM, ON_AVERAGE[:1], "broken"),
    "average, reversed": (z_mean, z_opt, facts.MEAN_DISSIMILARITY_AT_OPTIMUM, ON_AVERAGE, "broken"),
    "gap": (Delta, L * D**2 / 2, facts.FIRST_GAP, SMOOTH, "proved"),
    "gap, convex": (Delta, L * D**2 / 2, facts.FIRST_GAP, CONVEX, "proved"),
    "a quarter of the gap": (Delta, L * D**2 / 4, facts.FIRST_GAP, SMOOTH, "broken"),
    "gap without smoothness": (Delta, L * D**2 / 2, facts.FIRST_GAP, NOISY, "broken"),
    "distance": (mu * D**2 / 2, Delta, facts.FIRST_DISTANCE, CURVED, "proved"),
    "twice the distance": (mu * D**2, Delta, facts.FIRST_DISTANCE, CURVED, "broken"),
    "distance, convex": (mu * D**2 / 2, Delta, facts.FIRST_DISTANCE, CONVEX, "broken"),
}


@pytest.mark.parametrize(("left", "right", "fact", "assumptions", "expected"), CASES.values(), ids=CASES)
def test_constants_of_the_region_bound_those_at_one_point(
    left: Any, right: Any, fact: facts.Fact, assumptions: Sequence[a.Assumption], expected: str
) -> None:
    """Each of the facts needs its assumptions and its constant; random runs test that they hold."""
    claim = _claim(left, right, assumptions)
    certificate = Combination(claim=claim.id, links=[[Part(sp.S.One, fact)]])
    assert check_certificate(claim, certificate).verdict == expected


GAP = Value(F_i, y) - Value(F_i, local) - inner(Gradient(F_i, local), y - local)
STEP = (a.same_local_work, a.unit_server_step, a.full_participation, a.uniform_shares)


def _check_smooth_noise(left: Any, factor: Any, assumptions: Sequence[a.Assumption]) -> str:
    """Check that a number is at most zero, by smooth noise with a factor."""
    claim = _claim(left, 0 * Expectation(Average(GAP)), (*STEP, *assumptions), place="step")
    terms = [Term(sp.sympify(factor), assumption(SMOOTH_NOISE), averaged=True)]
    return check_certificate(claim, Certificate(claim=claim.id, links=[terms])).verdict


@pytest.mark.parametrize(
    ("left", "factor", "assumptions", "expected"),
    [
        (-2 * ell * Expectation(Average(GAP)), 1, (a.smooth_noise, a.full_gradients, a.smooth), "proved"),
        (-2 * ell * Expectation(Average(GAP)), 1, (a.full_gradients, a.smooth), "broken"),
        (-Expectation(Average(GAP)), 1 / (2 * ell), (a.smooth_noise, a.full_gradients, a.smooth), "broken"),
        (-Expectation(Average(GAP)), 1, (a.full_gradients, a.smooth), "broken"),
        (-2 * ell * Expectation(Average(GAP)), 1, (a.smooth,), "broken"),
    ],
    ids=["stated", "not stated", "divided", "no constant", "noise"],
)
def test_full_gradients_say_nothing_about_curvature(
    left: Any, factor: Any, assumptions: Sequence[a.Assumption], expected: str
) -> None:
    """Noise of full gradients is smooth with the constant zero, which makes no objective convex."""
    assert _check_smooth_noise(left, factor, assumptions) == expected


@pytest.mark.parametrize(("assumptions", "expected"), [((a.full_gradients,), "proved"), ((), "broken")])
def test_noise_at_the_comparator_is_zero_for_full_gradients_alone(assumptions: Any, expected: str) -> None:
    """Its expectation is at most zero without noise, and at most an unnamed constant otherwise."""
    drift = Expectation(Average(norm_sq(local - y)))
    claim = _claim(drift, drift, (*STEP, *assumptions), place="step")
    terms = [Term(sp.S.One, assumption(NOISE_AT_Y))]
    assert check_certificate(claim, Certificate(claim=claim.id, links=[terms])).verdict == expected
