"""Certificates of the bounds with client sampling."""

from __future__ import annotations

import sympy as sp

from fedtheory.kernel import Term, convexity
from fedtheory.kernel.expressions import Gradient
from fedtheory.proofs import facts
from fedtheory.sources.comparator.certificates.averages import certify_average
from fedtheory.sources.comparator.certificates.step_terms import (
    bound_gradients,
    bound_local_step,
    bound_next_drift,
    bound_noise,
    list_excess_noise,
)
from fedtheory.sources.comparator.statements import sampled_rounds as sampled
from fedtheory.sources.comparator.statements.notation import *

_next_potential = sampled.potential.subs(k, k + 1)
_noise_in_average = sampled.batch_noise / 2
_noise_cost = _noise_in_average + sampled.noise_cost
_GAPS = [
    Term(part, convexity(F_i, y, x_i), averaged=True)
    for part in (
        1 - sampled.SHORT_ROUND.lhs,
        sp.factor(4 * L * (sampled.largest_gradient_cost - sampled.gradient_cost)),
        sp.factor(4 * ell * (_noise_in_average + sampled.largest_noise_cost - _noise_cost)),
    )
]
_PARTS = [
    bound_next_drift(_next_potential, tau + k),
    *bound_gradients(sampled.gradient_cost, y, Gradient(F_i, y) - Gradient(F, y)),
    *bound_noise(_noise_cost),
    *list_excess_noise(_noise_cost, _noise_in_average, _next_potential),
]

CERTIFICATES = certify_average(
    "comparator:sampled",
    bound_local_step(_GAPS, _PARTS),
    potential=sampled.potential,
    telescoped=facts.TELESCOPED_WITH_PARTICIPANTS,
)
