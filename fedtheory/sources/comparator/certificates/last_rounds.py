"""Certificates for the last rounds of long runs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import sympy as sp

from fedtheory.kernel import Term, assumption, cocoercivity, convexity, smoothness, square, strong_convexity
from fedtheory.kernel.expressions import Average, Gradient
from fedtheory.proofs.certificate import Certificate
from fedtheory.proofs.comparators import DISSIMILARITY_AT_Y, NOISE_AT_Y, SMOOTH_NOISE, noise_at_y
from fedtheory.proofs.coupling import LastRound
from fedtheory.sources.comparator.statements import last_rounds as last
from fedtheory.sources.comparator.statements.notation import *

_ONE = sp.S.One
_SLOPE, _AT_OPTIMUM = Gradient(F_i, x_i), Gradient(F_i, x_star)
_MEAN_SLOPE = Average(_SLOPE)
_CHANGE = _SLOPE - _AT_OPTIMUM
_APART = square(x_i - xbar)


def in_units_of_f(costs: last.Costs) -> Iterator[Term]:
    """Yield terms in units of F: half of the gaps contracts, the other half pays for the costs."""
    noise, slope, weight = costs.noise, costs.slope, last.growth * last.shifted
    next_potential = costs.potential.subs(k, k + 1)
    yield Term(_ONE, smoothness(F_i, xbar_next, x_i), averaged=True)
    yield Term(_ONE / 2, strong_convexity(F_i, x_star, x_i), averaged=True)
    yield Term((1 - costs.spent) / 2, convexity(F_i, x_star, x_i), averaged=True)
    spared = sp.factor(costs.spent / 2 - 2 * (13 * ell * noise + 9 * L * slope))
    yield Term(spared, convexity(F_i, x_star, x_i), averaged=True)
    yield Term(eta * (1 - L * eta) / 2, square(_MEAN_SLOPE))
    # Client drift is bounded by Young's inequality, and changes of gradients by the gaps.
    moved = (x_i - xbar) + weight * eta * (_SLOPE - _MEAN_SLOPE)
    yield Term(next_potential / weight, square(moved), averaged=True)
    yield Term(slope / 8, square(8 * (_CHANGE - Average(_CHANGE)) - _AT_OPTIMUM), averaged=True)
    yield Term(9 * slope, square(Average(_CHANGE)))
    yield Term(18 * L * slope, cocoercivity(F_i, x_star, x_i), averaged=True)
    yield Term(9 * slope / 8, assumption(DISSIMILARITY_AT_Y))
    # Differences of the noise of one draw are bounded in the same way.
    yield Term(noise / 12, square(12 * n_i - 13 * noise_at_y), averaged=True)
    yield Term(13 * noise, assumption(SMOOTH_NOISE), averaged=True)
    yield Term(13 * noise / 12, assumption(NOISE_AT_Y))
    # Excess of the costs at a step.
    yield Term(costs.batch_share * (p_max - p_i) / p_max, square(n_i), averaged=True)
    yield Term(next_potential * eta**2 * p_i, square(n_i), averaged=True)
    yield Term(sp.factor(noise - costs.batch_share - next_potential * eta**2), square(n_i), averaged=True)
    too_much = sp.factor(slope - next_potential * eta**2 * (1 + weight))
    yield Term(too_much, square(_SLOPE - _MEAN_SLOPE), averaged=True)
    # The distances of the clients contract as well.
    yield Term(mu / 4, _APART, averaged=True)
    yield Term(next_potential * (1 - 9 * tau * eta * mu) / (12 * last.shifted), _APART, averaged=True)
    yield Term(next_potential / (132 * last.shifted), _APART, averaged=True)
    yield Term(next_potential * eta * mu * (tau - 1 - k) / (2 * last.shifted), _APART, averaged=True)
    yield Term(costs.drift * (2 - 9 * eta * mu) / 32, _APART, averaged=True)


CERTIFICATES = [
    Certificate(
        claim="comparator:last-round.one-step",
        links=[[replace(term, coefficient=last.gain * term.coefficient) for term in in_units_of_f(last.COSTS)]],
    ),
    LastRound(
        claim="comparator:last-round.error",
        step="comparator:last-round.one-step",
        gain=last.gain,
        factor=last.factor,
        potential=last.COSTS.drift_potential,
        offset=last.gain * last.COSTS.step_floor,
        share=_ONE / 24,
    ),
]
