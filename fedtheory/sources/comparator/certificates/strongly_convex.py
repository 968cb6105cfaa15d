"""Certificates for strongly convex clients with client sampling: the last model, and discounted averages."""

from __future__ import annotations

from collections.abc import Sequence

import sympy as sp

from fedtheory.kernel import Term, convexity, square, strong_convexity
from fedtheory.kernel.expressions import Expr, Gradient
from fedtheory.proofs.certificate import Certificate
from fedtheory.proofs.contraction import Contraction
from fedtheory.sources.comparator.certificates.step_terms import (
    DRIFT,
    GRADIENT,
    MEAN_GRADIENT,
    bound_gradients,
    bound_local_step,
    bound_noise,
    list_excess_noise,
    scale_terms,
)
from fedtheory.sources.comparator.context.discounted import ExponentialAverage
from fedtheory.sources.comparator.statements import discounted_averages as averages
from fedtheory.sources.comparator.statements import sampled_strong_convexity as last
from fedtheory.sources.comparator.statements.largest_costs import LargestCosts, noise_in_average
from fedtheory.sources.comparator.statements.notation import *
from fedtheory.sources.comparator.statements.strong_convexity import factor, weight


def _bound_contracting_step(costs: LargestCosts, point: Expr, rest: Sequence[Term]) -> list[Term]:
    """Return the terms of a step: half of the convexity gaps contracts, the other half bounds the costs."""
    noise, gradients, next_potential = costs.noise_cost, costs.gradient_cost, costs.potential.subs(k, k + 1)
    moved = (x_i - xbar) + 5 * (tau + k) * eta * (GRADIENT - MEAN_GRADIENT) / 4
    excess = sp.factor(gradients - next_potential * eta**2 * (5 * (tau + k) + 4) / 4)
    gaps = [
        Term(sp.S.One / 2, strong_convexity(F_i, point, x_i), averaged=True),
        Term((1 - costs.gaps_used) / 2, convexity(F_i, point, x_i), averaged=True),
    ]
    parts = [
        Term(next_potential * 4 / (5 * (tau + k)), square(moved), averaged=True),
        *bound_gradients(gradients, point, Gradient(F_i, point) - Gradient(F, point)),
        *bound_noise(noise, 4),
        Term(mu / 4, DRIFT, averaged=True),
        *list_excess_noise(noise, noise_in_average, next_potential),
        Term(excess, square(GRADIENT - MEAN_GRADIENT), averaged=True),
        *rest,
    ]
    return scale_terms(2 * eta, bound_local_step(gaps, parts))


def _bound_last_step() -> list[Term]:
    """Return the terms of the last step, with the squared distance of the average multiplied by 1 + eta mu."""
    next_potential = last.COSTS.potential.subs(k, k + 1)
    rest = [
        Term(sp.S.One, strong_convexity(F, xbar_next, x_star)),
        Term((1 - 8 * eta * mu) * mu / 12, square(xbar - x_star)),
        Term(next_potential * (3 - 40 * tau * eta * mu) / (15 * (tau + k)), DRIFT, averaged=True),
        Term(next_potential * 4 * eta * mu * (tau - 1 - k) / (3 * (tau + k)), DRIFT, averaged=True),
        Term(L * (3 - 40 * eta * mu) / 54, DRIFT, averaged=True),
    ]
    return _bound_contracting_step(last.COSTS, x_star, rest)


def _bound_average_step(point: Expr) -> list[Term]:
    """Return the terms of a step that also bounds the error of the next average."""
    next_potential = averages.COSTS.potential.subs(k, k + 1)
    rest = [
        Term(next_potential * (1 - 5 * tau * eta * mu) / (5 * (tau + k)), DRIFT, averaged=True),
        Term(next_potential * eta * mu * (tau - 1 - k) / (2 * (tau + k)), DRIFT, averaged=True),
        Term(L * (1 - 5 * eta * mu) / 18, DRIFT, averaged=True),
    ]
    return _bound_contracting_step(averages.COSTS, point, rest)


def _build_discounted_average(claim: str, step: str, target: averages.ReferencePoint) -> ExponentialAverage:
    return ExponentialAverage(
        claim=claim,
        step=step,
        gain=2 * eta,
        factor=averages.factor,
        potential=averages.COSTS.drift_potential,
        offset=2 * eta * target.floor,
    )


CERTIFICATES = [
    Certificate(claim="comparator:sampled.strongly-convex.one-step", links=[_bound_last_step()]),
    Contraction(
        claim="comparator:sampled.last-model",
        step="comparator:sampled.strongly-convex.one-step",
        factor=factor,
        weight=weight,
        potential=last.COSTS.drift_potential,
        offset=2 * eta * last.floor,
    ),
    Certificate(claim="comparator:forgetting.one-step", links=[_bound_average_step(y)]),
    _build_discounted_average("comparator:forgetting.mean-error", "comparator:forgetting.one-step", averages.ANY),
    Certificate(claim="comparator:forgetting.at-optimum.one-step", links=[_bound_average_step(x_star)]),
    _build_discounted_average(
        "comparator:forgetting.at-optimum", "comparator:forgetting.at-optimum.one-step", averages.BEST
    ),
]
