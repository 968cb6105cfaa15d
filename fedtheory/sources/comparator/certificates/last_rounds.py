"""Certificates of the bound on the last round of a long run."""

from __future__ import annotations

import sympy as sp

from fedtheory.kernel import Term, convexity, square, strong_convexity
from fedtheory.kernel.expressions import Gradient
from fedtheory.proofs.certificate import Certificate
from fedtheory.sources.comparator.certificates.step_terms import (
    DRIFT,
    GRADIENT,
    MEAN_GRADIENT,
    bound_gradients,
    bound_local_step,
    bound_next_drift,
    bound_noise,
    list_excess_noise,
    scale_terms,
)
from fedtheory.sources.comparator.context.coupling import LastRound
from fedtheory.sources.comparator.statements import last_rounds as last
from fedtheory.sources.comparator.statements.notation import *


def bound_contracting_step(costs: last.StepCosts) -> list[Term]:
    """Return terms in units of F: half of the convexity gaps contracts, the other half bounds the costs."""
    noise, gradients, ratio = costs.noise_cost, costs.gradient_cost, last.growth * last.shifted
    next_potential = costs.potential.subs(k, k + 1)
    used = 2 * (13 * ell * noise + 9 * L * gradients)
    gaps = [
        Term(sp.S.One / 2, strong_convexity(F_i, x_star, x_i), averaged=True),
        Term((1 - costs.gaps_used) / 2, convexity(F_i, x_star, x_i), averaged=True),
        Term(sp.factor(costs.gaps_used / 2 - used), convexity(F_i, x_star, x_i), averaged=True),
    ]
    excess = sp.factor(gradients - next_potential * eta**2 * (1 + ratio))
    parts = [
        bound_next_drift(next_potential, ratio),
        *bound_gradients(gradients, x_star, Gradient(F_i, x_star), 8),
        *bound_noise(noise, 12),
        *list_excess_noise(noise, costs.noise_in_average, next_potential),
        Term(excess, square(GRADIENT - MEAN_GRADIENT), averaged=True),
        # The distances of the clients contract as well.
        Term(mu / 4, DRIFT, averaged=True),
        Term(next_potential * (1 - 9 * tau * eta * mu) / (12 * last.shifted), DRIFT, averaged=True),
        Term(next_potential / (132 * last.shifted), DRIFT, averaged=True),
        Term(next_potential * eta * mu * (tau - 1 - k) / (2 * last.shifted), DRIFT, averaged=True),
        Term(costs.drift_cost * (2 - 9 * eta * mu) / 32, DRIFT, averaged=True),
    ]
    return bound_local_step(gaps, parts)


CERTIFICATES = [
    Certificate(
        claim="comparator:last-round.one-step",
        links=[scale_terms(last.gain, bound_contracting_step(last.COSTS))],
    ),
    LastRound(
        claim="comparator:last-round.error",
        step="comparator:last-round.one-step",
        gain=last.gain,
        factor=last.factor,
        potential=last.COSTS.drift_potential,
        offset=last.gain * last.COSTS.step_floor,
        share=sp.S.One / 24,
    ),
]
