"""Certificates of the bounds in which each client has its own curvature."""

from __future__ import annotations

from collections.abc import Iterator

import sympy as sp

from fedtheory.kernel import Term, assumption, convexity, one, smoothness, square, weighted
from fedtheory.kernel.expressions import Average, Gradient
from fedtheory.proofs.comparators import (
    CURVED_DISSIMILARITY_AT_Y,
    CURVED_NOISE_AT_Y,
    NOISE_AT_Y,
    SMOOTH_NOISE,
    noise_at_y,
)
from fedtheory.sources.comparator.certificates.averages import certify_average
from fedtheory.sources.comparator.certificates.step_terms import (
    GRADIENT,
    MEAN_GRADIENT,
    bound_next_drift,
    bound_noise,
)
from fedtheory.sources.comparator.statements import client_curvatures as curved
from fedtheory.sources.comparator.statements.full_rounds import remaining_cost
from fedtheory.sources.comparator.statements.notation import *

_ONE = sp.S.One
_noise = p_max * eta * (1 + eta * curved.L_bar) / 2
_rest_of_step = 1 - eta * curved.L_bar
_EXCESS = Term(eta * (1 + eta * curved.L_bar) * (p_max - p_i) / 2, square(n_i), averaged=True)
"""Excess for clients below the largest weight."""

_STEP = [
    Term(_ONE, smoothness(F_i, xbar_next, x_i), averaged=True),
    Term(1 - 4 * _noise * ell, convexity(F_i, y, x_i), averaged=True),
    # The remaining part of the common step bounds the sum of the differences.
    Term(
        eta / (2 * _rest_of_step),
        square(_rest_of_step * MEAN_GRADIENT - Average(curved.L_i * (x_i - xbar))),
    ),
    *bound_noise(_noise),
    _EXCESS,
]

_CHANGE = GRADIENT - Gradient(F_i, y)
_OTHER_CHANGES = _CHANGE - Average(_CHANGE)
_DEVIATION_AT_Y = Gradient(F_i, y) - Gradient(F, y)
_BEYOND_Y = y + _CHANGE / L
"""A step from y along the change of the gradient; the value of F_i there bounds this change."""

_next_potential = curved.potential.subs(k, k + 1)
_gradient_cost = curved.growth * eta**2 * remaining_cost / 4
"""Coefficient of the squared deviations of the clients' gradients, each times L_i."""
_noise_in_drift = eta**2 * _next_potential
"""Coefficient of the squared noise in the drift of the clients, each times L_i."""
_largest_gradient_cost, _largest_noise = (curved.growth * eta**2 * (tau - 1) * (tau + 2) / part for part in (4, 8))


def _bound_step_of_round() -> Iterator[Term]:
    """Yield the terms of one local step, with a bound on the client drift that it causes."""
    yield Term(_ONE, smoothness(F_i, xbar_next, x_i), averaged=True)
    # The sum of the clients' differences is bounded by the differences.
    yield Term(eta / (2 * _rest_of_step), square(_rest_of_step * MEAN_GRADIENT - Average(curved.L_i * (x_i - xbar))))
    yield Term(eta / (2 * _rest_of_step), weighted(curved.L_i, _ONE, x_i - xbar))
    yield bound_next_drift(_next_potential * curved.L_i, k + 1)
    yield from _bound_gradients()
    yield from _bound_noises()
    yield from _split_gaps()


def _bound_gradients() -> Iterator[Term]:
    """Yield the bound on the changes of the gradients by the convexity gaps."""
    yield Term(_gradient_cost * curved.L_i, square(_OTHER_CHANGES - _DEVIATION_AT_Y), averaged=True)
    yield Term(2 * _gradient_cost, assumption(CURVED_DISSIMILARITY_AT_Y))
    yield Term(2 * _gradient_cost * (L - curved.L_i), square(_OTHER_CHANGES), averaged=True)
    yield Term(2 * _gradient_cost * L, square(Average(_CHANGE)))
    yield Term(4 * _gradient_cost * L**2, smoothness(F_i, _BEYOND_Y, y), averaged=True)
    yield Term(4 * _gradient_cost * L**2, convexity(F_i, _BEYOND_Y, x_i), averaged=True)
    yield Term(2 * _gradient_cost * (L - curved.L_i), square(_CHANGE), averaged=True)


def _bound_noises() -> Iterator[Term]:
    """Yield the bound on the noise by that of the same samples at y; a client's noise is a part of the average."""
    for cost in (_noise, _noise_in_drift * p_max * curved.L_bar, _noise_in_drift * curved.L_i):
        yield Term(cost, square(n_i - 2 * noise_at_y), averaged=True)
        yield Term(2 * cost, assumption(SMOOTH_NOISE), averaged=True)
    yield Term(2 * _noise, assumption(NOISE_AT_Y))
    yield Term(2 * _noise_in_drift * p_max * curved.L_bar, assumption(NOISE_AT_Y))
    yield Term(2 * _noise_in_drift, assumption(CURVED_NOISE_AT_Y))
    yield Term(_noise_in_drift * curved.L_bar * (p_max - p_i), square(n_i), averaged=True)
    yield Term(2 * _noise_in_drift * curved.L_i * p_i, square(n_i), averaged=True)
    yield _EXCESS
    rest = curved.growth * eta**2 * (tau - 1 - k) * tau * k / (4 * (k + 2))
    yield Term(rest * curved.spread_noise, one())


def _split_gaps() -> Iterator[Term]:
    """Yield the unused convexity gaps: of the condition, of later steps, of clients with smaller curvatures."""
    yield Term(1 - curved.SHORT_ROUND.lhs, convexity(F_i, y, x_i), averaged=True)
    yield Term(sp.factor(4 * L**2 * (_largest_gradient_cost - _gradient_cost)), convexity(F_i, y, x_i), averaged=True)
    of_later_steps = 4 * ell * sp.factor(_largest_noise - _noise_in_drift) * (L + p_max * curved.L_bar)
    yield Term(of_later_steps, convexity(F_i, y, x_i), averaged=True)
    yield Term(4 * ell * _noise_in_drift * (L - curved.L_i), convexity(F_i, y, x_i), averaged=True)


CERTIFICATES = [
    *certify_average("comparator:curvatures", _STEP),
    *certify_average(
        "comparator:curvatures.rounds",
        [*_bound_step_of_round()],
        average="comparator:curvatures.rounds",
        potential=curved.L_i * curved.potential,
    ),
]
