"""Certificates for strongly convex clients with client sampling: the last model, and discounted averages."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import sympy as sp

from fedtheory.kernel import Term, assumption, cocoercivity, convexity, smoothness, square, strong_convexity
from fedtheory.kernel.expressions import Average, Expr, Gradient
from fedtheory.proofs.certificate import Certificate
from fedtheory.proofs.comparators import DISSIMILARITY_AT_Y, NOISE_AT_Y, SMOOTH_NOISE, noise_at_y
from fedtheory.proofs.contraction import Contraction, ExponentialAverage
from fedtheory.sources.comparator.statements import forgetting_means as means
from fedtheory.sources.comparator.statements import sampled_strong_convexity as last
from fedtheory.sources.comparator.statements.charges import Charges, batch_share
from fedtheory.sources.comparator.statements.notation import *
from fedtheory.sources.comparator.statements.strong_convexity import factor, weight

_ONE = sp.S.One
_SLOPE = Gradient(F_i, x_i)
_MEAN_SLOPE = Average(_SLOPE)
_APART = square(x_i - xbar)


def _bound_common_terms(charges: Charges, point: Expr) -> Iterator[Term]:
    """Yield terms in units of F: half of the gaps contracts, the other half pays for the costs."""
    noise, slope, next_potential = charges.noise, charges.slope, charges.potential.subs(k, k + 1)
    change = _SLOPE - Gradient(F_i, point)
    misfit = Gradient(F_i, point) - Gradient(F, point)
    moved = (x_i - xbar) + 5 * (tau + k) * eta * (_SLOPE - _MEAN_SLOPE) / 4
    yield Term(_ONE, smoothness(F_i, xbar_next, x_i), averaged=True)
    yield Term(_ONE / 2, strong_convexity(F_i, point, x_i), averaged=True)
    yield Term((1 - charges.spent) / 2, convexity(F_i, point, x_i), averaged=True)
    yield Term(eta * (1 - L * eta) / 2, square(_MEAN_SLOPE))
    yield Term(next_potential * 4 / (5 * (tau + k)), square(moved), averaged=True)
    yield Term(slope, square(change - Average(change) - misfit), averaged=True)
    yield Term(2 * slope, square(Average(change)))
    yield Term(4 * L * slope, cocoercivity(F_i, point, x_i), averaged=True)
    yield Term(2 * slope, assumption(DISSIMILARITY_AT_Y))
    yield Term(noise / 4, square(4 * n_i - 5 * noise_at_y), averaged=True)
    yield Term(5 * noise, assumption(SMOOTH_NOISE), averaged=True)
    yield Term(5 * noise / 4, assumption(NOISE_AT_Y))
    yield Term(mu / 4, _APART, averaged=True)
    # Excess of the costs at a step.
    yield Term(eta * (1 + L * eta) * (p_max - p_i) / 2, square(n_i), averaged=True)
    yield Term(next_potential * eta**2 * p_i, square(n_i), averaged=True)
    yield Term(sp.factor(noise - batch_share - next_potential * eta**2), square(n_i), averaged=True)
    too_much = sp.factor(slope - next_potential * eta**2 * (5 * (tau + k) + 4) / 4)
    yield Term(too_much, square(_SLOPE - _MEAN_SLOPE), averaged=True)


def _bound_last_step() -> list[Term]:
    """Return the terms of the last step, with the squared distance of the average multiplied by 1 + eta mu."""
    next_potential = last.CHARGES.potential.subs(k, k + 1)
    in_units_of_f = [
        *_bound_common_terms(last.CHARGES, x_star),
        Term(_ONE, strong_convexity(F, xbar_next, x_star)),
        Term((1 - 8 * eta * mu) * mu / 12, square(xbar - x_star)),
        Term(next_potential * (3 - 40 * tau * eta * mu) / (15 * (tau + k)), _APART, averaged=True),
        Term(next_potential * 4 * eta * mu * (tau - 1 - k) / (3 * (tau + k)), _APART, averaged=True),
        Term(L * (3 - 40 * eta * mu) / 54, _APART, averaged=True),
    ]
    return [replace(term, coefficient=2 * eta * term.coefficient) for term in in_units_of_f]


def _bound_mean_step(point: Expr) -> list[Term]:
    """Return the terms with the error of the next average in addition to its distance."""
    next_potential = means.CHARGES.potential.subs(k, k + 1)
    in_units_of_f = [
        *_bound_common_terms(means.CHARGES, point),
        Term(next_potential * (1 - 5 * tau * eta * mu) / (5 * (tau + k)), _APART, averaged=True),
        Term(next_potential * eta * mu * (tau - 1 - k) / (2 * (tau + k)), _APART, averaged=True),
        Term(L * (1 - 5 * eta * mu) / 18, _APART, averaged=True),
    ]
    return [replace(term, coefficient=2 * eta * term.coefficient) for term in in_units_of_f]


def _build_discounted_average(claim: str, step: str, target: means.Target) -> ExponentialAverage:
    return ExponentialAverage(
        claim=claim,
        step=step,
        gain=2 * eta,
        factor=means.factor,
        potential=means.CHARGES.drift_potential,
        offset=2 * eta * target.floor,
    )


CERTIFICATES = [
    Certificate(claim="comparator:sampled.strongly-convex.one-step", links=[_bound_last_step()]),
    Contraction(
        claim="comparator:sampled.last-model",
        step="comparator:sampled.strongly-convex.one-step",
        factor=factor,
        weight=weight,
        potential=last.CHARGES.drift_potential,
        offset=2 * eta * last.floor,
    ),
    Certificate(claim="comparator:forgetting.one-step", links=[_bound_mean_step(y)]),
    _build_discounted_average("comparator:forgetting.mean-error", "comparator:forgetting.one-step", means.ANY),
    Certificate(claim="comparator:forgetting.at-optimum.one-step", links=[_bound_mean_step(x_star)]),
    _build_discounted_average(
        "comparator:forgetting.at-optimum", "comparator:forgetting.at-optimum.one-step", means.BEST
    ),
]
