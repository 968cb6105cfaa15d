"""Certificates of the bounds for full participation."""

from __future__ import annotations

from collections.abc import Sequence

import sympy as sp

from fedtheory.kernel import Term, assumption, convexity, one, smoothness, square, strong_convexity
from fedtheory.kernel.expressions import Gradient
from fedtheory.proofs.certificate import Certificate
from fedtheory.proofs.comparators import NOISE_AT_Y, SMOOTH_NOISE, noise_at_y
from fedtheory.proofs.contraction import Contraction
from fedtheory.sources.comparator.certificates.averages import certify_average
from fedtheory.sources.comparator.certificates.step_terms import (
    DRIFT,
    MEAN_GRADIENT,
    bound_gradients,
    bound_local_step,
    bound_next_drift,
    bound_noise,
    scale_terms,
)
from fedtheory.sources.comparator.statements import strong_convexity as strong
from fedtheory.sources.comparator.statements.full_rounds import (
    EQUAL_WEIGHTS,
    UNEQUAL_WEIGHTS,
    NoiseFractions,
    potential,
    remaining_cost,
)
from fedtheory.sources.comparator.statements.notation import *

_ONE = sp.S.One
_next_potential = potential.subs(k, k + 1)
_gradient_cost = L * eta**2 * remaining_cost / 4
"""Coefficient of the squared deviations of the clients' gradients."""


def _bound_step(noise: NoiseFractions, excess: Sequence[Term] = ()) -> list[Term]:
    """Return the terms of one local step; `excess` is the excess of the fractions of the noise."""
    noise_cost = noise.in_average * eta * (1 + L * eta) / 2 + noise.in_drift * eta**2 * _next_potential
    # Fraction of the gaps that bounds noise and gradients at step k; at most the fraction in the condition.
    used, available = 4 * ell * noise_cost + 4 * L * _gradient_cost, noise.short_round.lhs
    rest = noise.in_drift * L * eta**2 * (tau - 1 - k) * tau * k * sigma_y**2 / (4 * (k + 2))
    gaps = (Term(part, convexity(F_i, y, x_i), averaged=True) for part in (1 - available, sp.factor(available - used)))
    return bound_local_step(
        gaps,
        [
            bound_next_drift(_next_potential, k + 1),
            *bound_gradients(_gradient_cost, y, Gradient(F_i, y) - Gradient(F, y)),
            *bound_noise(noise_cost),
            Term(rest, one()),
            *excess,
        ],
    )


_EXCESS = [
    Term(eta * (1 + L * eta) * (p_max - p_i) / 2, square(n_i), averaged=True),
    Term(_next_potential * eta**2 * p_i, square(n_i), averaged=True),
]
"""Excess for clients below the largest weight, and for the common part of a client's noise and the average."""

_noise_in_average = eta * (1 + L * eta) / (2 * M)


def _bound_step_with_drift(ratio: int) -> list[Term]:
    """Return the terms of one local step with the given drift; Young's inequality with a ratio bounds the noise."""
    at_iterate, at_y = 1 + ratio, 1 + sp.Rational(1, ratio)
    return [
        Term(_ONE, smoothness(F_i, xbar_next, x_i), averaged=True),
        Term(1 - 2 * at_iterate * ell * _noise_in_average, convexity(F_i, y, x_i), averaged=True),
        Term(eta * (1 - L * eta) / 2, square(MEAN_GRADIENT)),
        Term(ratio * _noise_in_average, square(n_i - at_y * noise_at_y), averaged=True),
        Term(at_iterate * _noise_in_average, assumption(SMOOTH_NOISE), averaged=True),
        Term(at_y * _noise_in_average, assumption(NOISE_AT_Y)),
    ]


# Strongly convex clients: the same with y = x*, twice the potential, and other coefficients of the noise.
_strong_noise_cost = eta * (1 + L * eta) / (2 * M) + 2 * (1 - 1 / M) * eta**2 * _next_potential
_strong_gradient_cost = 2 * _gradient_cost
_strong_used = 10 * ell * _strong_noise_cost + 4 * L * _strong_gradient_cost
_strong_available = strong.GAPS_SUFFICE.lhs
_growth = tau * (tau + 1)
_rest_of_floor = sp.factor(
    strong.floor - 5 * _strong_noise_cost * sigma_star**2 / 4 - 2 * _strong_gradient_cost * zeta_star**2
)
_GAPS = [
    Term(_ONE, strong_convexity(F, xbar_next, x_star)),
    Term(_ONE / 2, strong_convexity(F_i, x_star, x_i), averaged=True),
    Term((1 - _strong_available) / 2, convexity(F_i, x_star, x_i), averaged=True),
    Term(sp.factor(_strong_available / 2 - _strong_used), convexity(F_i, x_star, x_i), averaged=True),
]
_PARTS = [
    bound_next_drift(2 * _next_potential, k + 1),
    *bound_gradients(_strong_gradient_cost, x_star, Gradient(F_i, x_star)),
    *bound_noise(_strong_noise_cost, 4),
    # The distance of the average from the optimum, and of the clients from the average, contract.
    Term((1 - 8 * eta * mu) * mu / 12, square(xbar - x_star)),
    Term((3 - 4 * _growth * eta * mu) * L / 6, DRIFT, averaged=True),
    Term(mu / 4, DRIFT, averaged=True),
    Term(sp.factor(2 * L * eta * mu * _growth / 3 - 8 * eta * mu * potential / 3), DRIFT, averaged=True),
    Term(_rest_of_floor, one()),
]
_STRONG_STEP = scale_terms(2 * eta, bound_local_step(_GAPS, _PARTS))

CERTIFICATES = [
    *certify_average("comparator:", _bound_step(EQUAL_WEIGHTS), potential=potential),
    *certify_average("comparator:shares", _bound_step(UNEQUAL_WEIGHTS, _EXCESS), potential=potential),
    *certify_average("comparator:drift", _bound_step_with_drift(1)),
    *certify_average("comparator:drift.less-noise", _bound_step_with_drift(4), average="comparator:drift.less-noise"),
    Certificate(claim="comparator:strongly-convex.one-step", links=[_STRONG_STEP]),
    Contraction(
        claim="comparator:strongly-convex.last-model",
        step="comparator:strongly-convex.one-step",
        factor=strong.factor,
        weight=strong.weight,
        potential=strong.drift_potential,
        offset=2 * eta * strong.floor,
    ),
]
