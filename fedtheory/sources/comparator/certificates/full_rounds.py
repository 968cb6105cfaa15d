"""Certificates for full participation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import sympy as sp

from fedtheory.kernel import Term, assumption, cocoercivity, convexity, one, smoothness, square, strong_convexity
from fedtheory.kernel.expressions import Average, Gradient
from fedtheory.proofs import facts
from fedtheory.proofs.certificate import Certificate
from fedtheory.proofs.combination import Combination
from fedtheory.proofs.comparators import DISSIMILARITY_AT_Y, NOISE_AT_Y, SMOOTH_NOISE, noise_at_y
from fedtheory.proofs.contraction import Contraction
from fedtheory.proofs.means import MeanCertificate
from fedtheory.proofs.parts import Part
from fedtheory.sources.comparator.statements import strong_convexity as strong
from fedtheory.sources.comparator.statements.full_rounds import EQUAL, UNEQUAL, Shares, left_to_pay, potential
from fedtheory.sources.comparator.statements.notation import *

_ONE = sp.S.One
_SLOPE, _SLOPE_AT_Y = Gradient(F_i, x_i), Gradient(F_i, y)
_MEAN_SLOPE = Average(_SLOPE)
_CHANGE = _SLOPE - _SLOPE_AT_Y
_OTHER_CHANGES = _CHANGE - Average(_CHANGE)
_MISFIT_AT_Y = _SLOPE_AT_Y - Gradient(F, y)

_next_potential = potential.subs(k, k + 1)
_slope_weight = L * eta**2 * left_to_pay / 4
"""Coefficient of the squared gradients of the clients' deviations."""


def _bound_step(shares: Shares, spared: Sequence[Term] = ()) -> list[Term]:
    """Return the terms of one local step; `spared` covers the excess in the shares of the noise."""
    noise_weight = shares.of_mean * eta * (1 + L * eta) / 2 + shares.of_spread * eta**2 * _next_potential
    # Part of the gaps that pays for noise and gradients at step k; at most the part in the condition.
    spent, budget = 4 * ell * noise_weight + 4 * L * _slope_weight, shares.short_round.lhs
    more = shares.of_spread * L * eta**2 * (tau - 1 - k) * tau * k * sigma_y**2 / (4 * (k + 2))
    return [
        Term(_ONE, smoothness(F_i, xbar_next, x_i), averaged=True),
        Term(1 - budget, convexity(F_i, y, x_i), averaged=True),
        Term(sp.factor(budget - spent), convexity(F_i, y, x_i), averaged=True),
        Term(eta * (1 - L * eta) / 2, square(_MEAN_SLOPE)),
        # Client drift is bounded by Young's inequality, and changes of gradients by the gaps.
        Term(_next_potential / (k + 1), square((x_i - xbar) + (k + 1) * eta * (_SLOPE - _MEAN_SLOPE)), averaged=True),
        Term(_slope_weight, square(_OTHER_CHANGES - _MISFIT_AT_Y), averaged=True),
        Term(2 * _slope_weight, square(Average(_CHANGE))),
        Term(4 * L * _slope_weight, cocoercivity(F_i, y, x_i), averaged=True),
        Term(2 * _slope_weight, assumption(DISSIMILARITY_AT_Y)),
        # Differences of the noise of one draw are bounded in the same way.
        Term(noise_weight, square(n_i - 2 * noise_at_y), averaged=True),
        Term(2 * noise_weight, assumption(SMOOTH_NOISE), averaged=True),
        Term(2 * noise_weight, assumption(NOISE_AT_Y)),
        Term(more, one()),
        *spared,
    ]


_SPARED = [
    Term(eta * (1 + L * eta) * (p_max - p_i) / 2, square(n_i), averaged=True),
    Term(_next_potential * eta**2 * p_i, square(n_i), averaged=True),
]
"""Excess for clients below the largest weight, and for the common part of a client's noise and the average."""

_batch_weight = eta * (1 + L * eta) / (2 * M)


def _bound_step_with_drift(weight: int) -> list[Term]:
    """Return the terms of one local step with the given drift; Young's inequality with a weight bounds the noise at
    x_i.
    """
    for_gaps, at_y = 1 + weight, 1 + sp.Rational(1, weight)
    return [
        Term(_ONE, smoothness(F_i, xbar_next, x_i), averaged=True),
        Term(1 - 2 * for_gaps * ell * _batch_weight, convexity(F_i, y, x_i), averaged=True),
        Term(eta * (1 - L * eta) / 2, square(_MEAN_SLOPE)),
        Term(weight * _batch_weight, square(n_i - at_y * noise_at_y), averaged=True),
        Term(for_gaps * _batch_weight, assumption(SMOOTH_NOISE), averaged=True),
        Term(at_y * _batch_weight, assumption(NOISE_AT_Y)),
    ]


# Strongly convex clients: the same with y = x*, twice the potential, and other weights for the noise.
_STRONG_MISFIT = Gradient(F_i, x_star)
_STRONG_CHANGE = _SLOPE - _STRONG_MISFIT
_strong_noise_weight = eta * (1 + L * eta) / (2 * M) + 2 * (1 - 1 / M) * eta**2 * _next_potential
_strong_slope_weight = 2 * _slope_weight
_strong_spent = 10 * ell * _strong_noise_weight + 4 * L * _strong_slope_weight
_strong_budget = strong.PAID.lhs
_growth = tau * (tau + 1)
_left_of_noise = sp.factor(
    strong.floor - 5 * _strong_noise_weight * sigma_star**2 / 4 - 2 * _strong_slope_weight * zeta_star**2
)
_IN_UNITS_OF_F = [
    Term(_ONE, smoothness(F_i, xbar_next, x_i), averaged=True),
    Term(_ONE, strong_convexity(F, xbar_next, x_star)),
    Term(_ONE / 2, strong_convexity(F_i, x_star, x_i), averaged=True),
    Term((1 - _strong_budget) / 2, convexity(F_i, x_star, x_i), averaged=True),
    Term(sp.factor(_strong_budget / 2 - _strong_spent), convexity(F_i, x_star, x_i), averaged=True),
    Term(eta * (1 - L * eta) / 2, square(_MEAN_SLOPE)),
    Term(2 * _next_potential / (k + 1), square((x_i - xbar) + (k + 1) * eta * (_SLOPE - _MEAN_SLOPE)), averaged=True),
    Term(_strong_slope_weight, square(_STRONG_CHANGE - Average(_STRONG_CHANGE) - _STRONG_MISFIT), averaged=True),
    Term(2 * _strong_slope_weight, square(Average(_STRONG_CHANGE))),
    Term(4 * L * _strong_slope_weight, cocoercivity(F_i, x_star, x_i), averaged=True),
    Term(2 * _strong_slope_weight, assumption(DISSIMILARITY_AT_Y)),
    Term(_strong_noise_weight / 4, square(4 * n_i - 5 * noise_at_y), averaged=True),
    Term(5 * _strong_noise_weight, assumption(SMOOTH_NOISE), averaged=True),
    Term(5 * _strong_noise_weight / 4, assumption(NOISE_AT_Y)),
    # The distance of the average from y, and of the clients from the average, contract.
    Term((1 - 8 * eta * mu) * mu / 12, square(xbar - x_star)),
    Term((3 - 4 * _growth * eta * mu) * L / 6, square(x_i - xbar), averaged=True),
    Term(mu / 4, square(x_i - xbar), averaged=True),
    Term(sp.factor(2 * L * eta * mu * _growth / 3 - 8 * eta * mu * potential / 3), square(x_i - xbar), averaged=True),
    Term(_left_of_noise, one()),
]
_STRONG_STEP = [replace(term, coefficient=2 * eta * term.coefficient) for term in _IN_UNITS_OF_F]

_SHARE = 1 / (2 * eta * tau * T)


def sum_distances(all_steps: str) -> list[Part]:
    """Sum over all local steps: the distance from y telescopes, and is non-negative at the end."""
    return [
        Part(_ONE, all_steps),
        Part(-_SHARE, facts.TELESCOPED_FROM_COMPARATOR),
        Part(_SHARE, facts.FINAL_COMPARATOR_DISTANCE),
    ]


CERTIFICATES = [
    Certificate(claim="comparator:one-step", links=[_bound_step(EQUAL)]),
    MeanCertificate(claim="comparator:all-steps", step="comparator:one-step", span="run", potential=potential),
    Certificate(claim="comparator:shares.one-step", links=[_bound_step(UNEQUAL, _SPARED)]),
    MeanCertificate(
        claim="comparator:shares.all-steps", step="comparator:shares.one-step", span="run", potential=potential
    ),
    Combination(claim="comparator:shares.average-error", links=[sum_distances("comparator:shares.all-steps")]),
    Certificate(claim="comparator:drift.one-step", links=[_bound_step_with_drift(1)]),
    MeanCertificate(claim="comparator:drift.all-steps", step="comparator:drift.one-step", span="run"),
    Combination(claim="comparator:drift.average-error", links=[sum_distances("comparator:drift.all-steps")]),
    Certificate(claim="comparator:drift.less-noise.one-step", links=[_bound_step_with_drift(4)]),
    MeanCertificate(
        claim="comparator:drift.less-noise.all-steps", step="comparator:drift.less-noise.one-step", span="run"
    ),
    Combination(claim="comparator:drift.less-noise", links=[sum_distances("comparator:drift.less-noise.all-steps")]),
    Certificate(claim="comparator:strongly-convex.one-step", links=[_STRONG_STEP]),
    Contraction(
        claim="comparator:strongly-convex.last-model",
        step="comparator:strongly-convex.one-step",
        factor=strong.factor,
        weight=strong.weight,
        potential=strong.drift_potential,
        offset=2 * eta * strong.floor,
    ),
    Combination(claim="comparator:average-error", links=[sum_distances("comparator:all-steps")]),
]
