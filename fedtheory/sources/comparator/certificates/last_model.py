"""Certificates of the bound on the last model of a long run."""

from __future__ import annotations

import sympy as sp

from fedtheory.kernel import Term, convexity, lipschitz_gradient, smoothness, square
from fedtheory.kernel.expressions import Average, Gradient
from fedtheory.proofs.certificate import Certificate
from fedtheory.sources.comparator.certificates.last_rounds import bound_contracting_step
from fedtheory.sources.comparator.certificates.step_terms import DRIFT, GRADIENT, MEAN_GRADIENT, scale_terms
from fedtheory.sources.comparator.context.coupling import LastIterate
from fedtheory.sources.comparator.statements import last_model as last
from fedtheory.sources.comparator.statements.last_rounds import factor, gain
from fedtheory.sources.comparator.statements.notation import *

_CHANGE = GRADIENT - Gradient(F_i, xbar)
_remaining = factor * last.accumulated
"""Number of accumulated errors that remain after a contracting step."""
_removed = (1 - factor) * k + (1 - last.kept_fraction) * factor * k
"""Number of accumulated errors that the step removes."""

_DESCENT = [
    Term(_remaining, smoothness(F, xbar_next, xbar)),
    Term(_remaining * eta / 2, square(Gradient(F, xbar))),
    Term(_remaining * eta * (1 - L * eta) / 2, square(MEAN_GRADIENT)),
    Term(_remaining * eta / 2, square(_CHANGE - Average(_CHANGE)), averaged=True),
    Term(_remaining * eta / 2, lipschitz_gradient(F_i, x_i, xbar), averaged=True),
    Term(1 - (last.accumulated.subs(k, k + 1) - _remaining), convexity(F, xbar_next, x_star)),
    # Excess of the bound, which has the largest number of errors of a round at every step.
    *(Term(rest * L**2 * eta / 2, DRIFT, averaged=True) for rest in (tau - 1 - k, sp.S.One, _removed)),
    *(Term(rest * L * eta**2 * p_i / 2, square(n_i), averaged=True) for rest in (tau - 1 - k, _removed)),
]
"""A step adds to each accumulated error at most the cost of noise and client drift."""


CERTIFICATES = [
    Certificate(
        claim="comparator:last-model.one-step",
        links=[scale_terms(gain, [*bound_contracting_step(last.COSTS), *_DESCENT])],
    ),
    LastIterate(
        claim="comparator:last-model.error",
        step="comparator:last-model.one-step",
        kept=gain * last.accumulated,
        factor=factor,
        potential=last.COSTS.drift_potential,
        offset=gain * last.COSTS.step_floor,
        share=sp.S.One / 24,
    ),
]
