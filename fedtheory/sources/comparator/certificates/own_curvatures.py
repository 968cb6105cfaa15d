"""Certificates for clients of unequal curvatures."""

from __future__ import annotations

from collections.abc import Iterator

import sympy as sp

from fedtheory.kernel import Term, assumption, convexity, one, smoothness, square, weighted
from fedtheory.kernel.expressions import Average, Gradient
from fedtheory.proofs.certificate import Certificate
from fedtheory.proofs.combination import Combination
from fedtheory.proofs.comparators import (
    CURVED_DISSIMILARITY_AT_Y,
    CURVED_NOISE_AT_Y,
    NOISE_AT_Y,
    SMOOTH_NOISE,
    noise_at_y,
)
from fedtheory.proofs.means import MeanCertificate
from fedtheory.sources.comparator.certificates.full_rounds import sum_distances
from fedtheory.sources.comparator.statements import own_curvatures as own
from fedtheory.sources.comparator.statements.full_rounds import left_to_pay
from fedtheory.sources.comparator.statements.notation import *

_ONE = sp.S.One
_MEAN_SLOPE = Average(Gradient(F_i, x_i))
_noise = p_max * eta * (1 + eta * own.L_bar) / 2
_left_of_step = 1 - eta * own.L_bar
_SPARED = Term(eta * (1 + eta * own.L_bar) * (p_max - p_i) / 2, square(n_i), averaged=True)
"""Excess for clients below the largest weight."""

_STEP = [
    Term(_ONE, smoothness(F_i, xbar_next, x_i), averaged=True),
    Term(1 - 4 * _noise * ell, convexity(F_i, y, x_i), averaged=True),
    # The remaining part of the common step pays for the sum of the differences.
    Term(
        eta / (2 * _left_of_step),
        square(_left_of_step * _MEAN_SLOPE - Average(own.L_i * (x_i - xbar))),
    ),
    Term(_noise, square(n_i - 2 * noise_at_y), averaged=True),
    Term(2 * _noise, assumption(SMOOTH_NOISE), averaged=True),
    Term(2 * _noise, assumption(NOISE_AT_Y)),
    _SPARED,
]

_SLOPE, _SLOPE_AT_Y = Gradient(F_i, x_i), Gradient(F_i, y)
_CHANGE = _SLOPE - _SLOPE_AT_Y
_OTHER_CHANGES = _CHANGE - Average(_CHANGE)
_MISFIT_AT_Y = _SLOPE_AT_Y - Gradient(F, y)
_BEYOND_Y = y + _CHANGE / L
"""A step from y along the change of the gradient; the value of F_i there bounds this change."""

_next_potential = own.potential.subs(k, k + 1)
_slope = own.growth * eta**2 * left_to_pay / 4
"""Coefficient of the squared gradients of the clients' deviations, each times L_i."""
_spread = eta**2 * _next_potential
"""Coefficient of the squared noise of the clients' deviations, each times L_i."""
_largest_slope, _largest_spread = (own.growth * eta**2 * (tau - 1) * (tau + 2) / part for part in (4, 8))


def _bound_step_of_round() -> Iterator[Term]:
    """Yield the terms of one local step, with a bound on the client drift that it causes."""
    yield Term(_ONE, smoothness(F_i, xbar_next, x_i), averaged=True)
    # The sum of the clients' differences is bounded by the differences.
    yield Term(eta / (2 * _left_of_step), square(_left_of_step * _MEAN_SLOPE - Average(own.L_i * (x_i - xbar))))
    yield Term(eta / (2 * _left_of_step), weighted(own.L_i, _ONE, x_i - xbar))
    moved = (x_i - xbar) + (k + 1) * eta * (_SLOPE - _MEAN_SLOPE)
    yield Term(_next_potential * own.L_i / (k + 1), square(moved), averaged=True)
    yield from _bound_gradients()
    yield from _bound_noises()
    yield from _split_gaps()


def _bound_gradients() -> Iterator[Term]:
    """Yield the bound on changes of gradients by the gaps."""
    yield Term(_slope * own.L_i, square(_OTHER_CHANGES - _MISFIT_AT_Y), averaged=True)
    yield Term(2 * _slope, assumption(CURVED_DISSIMILARITY_AT_Y))
    yield Term(2 * _slope * (L - own.L_i), square(_OTHER_CHANGES), averaged=True)
    yield Term(2 * _slope * L, square(Average(_CHANGE)))
    yield Term(4 * _slope * L**2, smoothness(F_i, _BEYOND_Y, y), averaged=True)
    yield Term(4 * _slope * L**2, convexity(F_i, _BEYOND_Y, x_i), averaged=True)
    yield Term(2 * _slope * (L - own.L_i), square(_CHANGE), averaged=True)


def _bound_noises() -> Iterator[Term]:
    """Yield the bound on differences of the noise of one draw; a client's noise and the average have a common part."""
    for share in (_noise, _spread * p_max * own.L_bar, _spread * own.L_i):
        yield Term(share, square(n_i - 2 * noise_at_y), averaged=True)
        yield Term(2 * share, assumption(SMOOTH_NOISE), averaged=True)
    yield Term(2 * _noise, assumption(NOISE_AT_Y))
    yield Term(2 * _spread * p_max * own.L_bar, assumption(NOISE_AT_Y))
    yield Term(2 * _spread, assumption(CURVED_NOISE_AT_Y))
    yield Term(_spread * own.L_bar * (p_max - p_i), square(n_i), averaged=True)
    yield Term(2 * _spread * own.L_i * p_i, square(n_i), averaged=True)
    yield _SPARED
    too_much = own.growth * eta**2 * (tau - 1 - k) * tau * k / (4 * (k + 2))
    yield Term(too_much * own.spread_noise, one())


def _split_gaps() -> Iterator[Term]:
    """Split the remainder: slack of the condition, of later steps, of clients with smaller curvatures."""
    yield Term(1 - own.SHORT_ROUND.lhs, convexity(F_i, y, x_i), averaged=True)
    yield Term(sp.factor(4 * L**2 * (_largest_slope - _slope)), convexity(F_i, y, x_i), averaged=True)
    later = 4 * ell * sp.factor(_largest_spread - _spread) * (L + p_max * own.L_bar)
    yield Term(later, convexity(F_i, y, x_i), averaged=True)
    yield Term(4 * ell * _spread * (L - own.L_i), convexity(F_i, y, x_i), averaged=True)


CERTIFICATES = [
    Certificate(claim="comparator:curvatures.one-step", links=[_STEP]),
    MeanCertificate(claim="comparator:curvatures.all-steps", step="comparator:curvatures.one-step", span="run"),
    Combination(claim="comparator:curvatures.average-error", links=[sum_distances("comparator:curvatures.all-steps")]),
    Certificate(claim="comparator:curvatures.rounds.one-step", links=[[*_bound_step_of_round()]]),
    MeanCertificate(
        claim="comparator:curvatures.rounds.all-steps",
        step="comparator:curvatures.rounds.one-step",
        span="run",
        potential=own.L_i * own.potential,
    ),
    Combination(claim="comparator:curvatures.rounds", links=[sum_distances("comparator:curvatures.rounds.all-steps")]),
]
