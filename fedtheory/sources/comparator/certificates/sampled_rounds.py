"""Certificates where participants are drawn."""

from __future__ import annotations

from dataclasses import replace

import sympy as sp

from fedtheory.kernel import Term, assumption, cocoercivity, convexity, smoothness, square, strong_convexity
from fedtheory.kernel.expressions import Average, Gradient
from fedtheory.proofs import facts
from fedtheory.proofs.certificate import Certificate
from fedtheory.proofs.combination import Combination, Part
from fedtheory.proofs.comparators import DISSIMILARITY_AT_Y, NOISE_AT_Y, SMOOTH_NOISE, noise_at_y
from fedtheory.proofs.contraction import Contraction
from fedtheory.proofs.means import MeanCertificate
from fedtheory.sources.comparator.statements import sampled_rounds as drawn
from fedtheory.sources.comparator.statements import sampled_strong_convexity as strong
from fedtheory.sources.comparator.statements.notation import *
from fedtheory.sources.comparator.statements.strong_convexity import factor, weight

_ONE = sp.S.One
_SLOPE, _SLOPE_AT_Y = Gradient(F_i, x_i), Gradient(F_i, y)
_MEAN_SLOPE = Average(_SLOPE)
_CHANGE = _SLOPE - _SLOPE_AT_Y
_OTHER_CHANGES = _CHANGE - Average(_CHANGE)
_MISFIT_AT_Y = _SLOPE_AT_Y - Gradient(F, y)

_charged = drawn.potential.subs(k, k + 1)
_slope = drawn.spread_slope
_noise = drawn.batch_noise / 2 + drawn.spread_noise
_short_round = drawn.SHORT_ROUND
_most_noise = drawn.batch_noise / 2 + drawn.largest_noise

_STEP = [
    Term(_ONE, smoothness(F_i, xbar_next, x_i), averaged=True),
    Term(1 - _short_round.lhs, convexity(F_i, y, x_i), averaged=True),
    Term(sp.factor(4 * L * (drawn.largest_slope - _slope)), convexity(F_i, y, x_i), averaged=True),
    Term(sp.factor(4 * ell * (_most_noise - _noise)), convexity(F_i, y, x_i), averaged=True),
    Term(eta * (1 - L * eta) / 2, square(_MEAN_SLOPE)),
    # The clients drift apart by Young's inequality, their gradients change no more than the gaps say.
    Term(_charged / (tau + k), square((x_i - xbar) + (tau + k) * eta * (_SLOPE - _MEAN_SLOPE)), averaged=True),
    Term(_slope, square(_OTHER_CHANGES - _MISFIT_AT_Y), averaged=True),
    Term(2 * _slope, square(Average(_CHANGE))),
    Term(4 * L * _slope, cocoercivity(F_i, y, x_i), averaged=True),
    Term(2 * _slope, assumption(DISSIMILARITY_AT_Y)),
    # And so do the noises of one draw.
    Term(_noise, square(n_i - 2 * noise_at_y), averaged=True),
    Term(2 * _noise, assumption(SMOOTH_NOISE), averaged=True),
    Term(2 * _noise, assumption(NOISE_AT_Y)),
    # Clients of less than the largest importance, what a client's noise has in common with the mean, and rounding up.
    Term(eta * (1 + L * eta) * (p_max - p_i) / 2, square(n_i), averaged=True),
    Term(_charged * eta**2 * p_i, square(n_i), averaged=True),
    Term(sp.factor(drawn.spread_noise - _charged * eta**2), square(n_i), averaged=True),
]
# Strongly convex clients: as above with y = x*, and other weights.
_STRONG_CHANGE = _SLOPE - Gradient(F_i, x_star)
_next_potential = strong.potential.subs(k, k + 1)
_paid = strong.PAID.lhs / 2
_IN_UNITS_OF_F = [
    Term(_ONE, smoothness(F_i, xbar_next, x_i), averaged=True),
    Term(_ONE, strong_convexity(F, xbar_next, x_star)),
    Term(_ONE / 2, strong_convexity(F_i, x_star, x_i), averaged=True),
    Term(_ONE / 2 - _paid, convexity(F_i, x_star, x_i), averaged=True),
    Term(eta * (1 - L * eta) / 2, square(_MEAN_SLOPE)),
    Term(
        _next_potential * 4 / (5 * (tau + k)),
        square((x_i - xbar) + 5 * (tau + k) * eta * (_SLOPE - _MEAN_SLOPE) / 4),
        averaged=True,
    ),
    Term(strong.most_slope, square(_STRONG_CHANGE - Average(_STRONG_CHANGE) - Gradient(F_i, x_star)), averaged=True),
    Term(2 * strong.most_slope, square(Average(_STRONG_CHANGE))),
    Term(4 * L * strong.most_slope, cocoercivity(F_i, x_star, x_i), averaged=True),
    Term(2 * strong.most_slope, assumption(DISSIMILARITY_AT_Y)),
    Term(strong.most_noise / 4, square(4 * n_i - 5 * noise_at_y), averaged=True),
    Term(5 * strong.most_noise, assumption(SMOOTH_NOISE), averaged=True),
    Term(5 * strong.most_noise / 4, assumption(NOISE_AT_Y)),
    # The distances contract: the average's, and those from it.
    Term((1 - 8 * eta * mu) * mu / 12, square(xbar - x_star)),
    Term(mu / 4, square(x_i - xbar), averaged=True),
    Term(_next_potential * (3 - 40 * tau * eta * mu) / (15 * (tau + k)), square(x_i - xbar), averaged=True),
    Term(_next_potential * 4 * eta * mu * (tau - 1 - k) / (3 * (tau + k)), square(x_i - xbar), averaged=True),
    Term(L * (3 - 40 * eta * mu) / 54, square(x_i - xbar), averaged=True),
    # What is charged too much at a step.
    Term(eta * (1 + L * eta) * (p_max - p_i) / 2, square(n_i), averaged=True),
    Term(_next_potential * eta**2 * p_i, square(n_i), averaged=True),
    Term(sp.factor(strong.most_noise - strong.batch_share - _next_potential * eta**2), square(n_i), averaged=True),
    Term(
        sp.factor(strong.most_slope - _next_potential * eta**2 * (5 * (tau + k) + 4) / 4),
        square(_SLOPE - _MEAN_SLOPE),
        averaged=True,
    ),
]
_STRONG_STEP = [replace(term, coefficient=2 * eta * term.coefficient) for term in _IN_UNITS_OF_F]

_SHARE = 1 / (2 * eta * tau * T)

CERTIFICATES = [
    Certificate(claim="comparator:sampled.strongly-convex.one-step", links=[_STRONG_STEP]),
    Contraction(
        claim="comparator:sampled.last-model",
        step="comparator:sampled.strongly-convex.one-step",
        factor=factor,
        weight=weight,
        potential=strong.drift_potential,
        offset=2 * eta * strong.floor,
    ),
    Certificate(claim="comparator:sampled.one-step", links=[_STEP]),
    MeanCertificate(
        claim="comparator:sampled.all-steps",
        step="comparator:sampled.one-step",
        span="run",
        potential=drawn.potential,
    ),
    Combination(
        claim="comparator:sampled.average-error",
        links=[
            [
                Part(_ONE, "comparator:sampled.all-steps"),
                Part(-_SHARE, facts.TELESCOPED_WITH_PARTICIPANTS),
                Part(_SHARE, facts.FINAL_COMPARATOR_DISTANCE),
            ]
        ],
    ),
]
