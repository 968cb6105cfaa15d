"""Certificates with client sampling."""

from __future__ import annotations

import sympy as sp

from fedtheory.kernel import Term, assumption, cocoercivity, convexity, smoothness, square
from fedtheory.kernel.expressions import Average, Gradient
from fedtheory.proofs import facts
from fedtheory.proofs.certificate import Certificate
from fedtheory.proofs.combination import Combination
from fedtheory.proofs.comparators import DISSIMILARITY_AT_Y, NOISE_AT_Y, SMOOTH_NOISE, noise_at_y
from fedtheory.proofs.means import MeanCertificate
from fedtheory.proofs.parts import Part
from fedtheory.sources.comparator.statements import sampled_rounds as drawn
from fedtheory.sources.comparator.statements.notation import *

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
    # Client drift is bounded by Young's inequality, and changes of gradients by the gaps.
    Term(_charged / (tau + k), square((x_i - xbar) + (tau + k) * eta * (_SLOPE - _MEAN_SLOPE)), averaged=True),
    Term(_slope, square(_OTHER_CHANGES - _MISFIT_AT_Y), averaged=True),
    Term(2 * _slope, square(Average(_CHANGE))),
    Term(4 * L * _slope, cocoercivity(F_i, y, x_i), averaged=True),
    Term(2 * _slope, assumption(DISSIMILARITY_AT_Y)),
    # Differences of the noise of one draw are bounded in the same way.
    Term(_noise, square(n_i - 2 * noise_at_y), averaged=True),
    Term(2 * _noise, assumption(SMOOTH_NOISE), averaged=True),
    Term(2 * _noise, assumption(NOISE_AT_Y)),
    # Excess for clients below the largest weight, for the common part of a client's noise and the average, and for
    # rounding.
    Term(eta * (1 + L * eta) * (p_max - p_i) / 2, square(n_i), averaged=True),
    Term(_charged * eta**2 * p_i, square(n_i), averaged=True),
    Term(sp.factor(drawn.spread_noise - _charged * eta**2), square(n_i), averaged=True),
]
_SHARE = 1 / (2 * eta * tau * T)

CERTIFICATES = [
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
