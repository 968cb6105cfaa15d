"""Certificates for the last models of long runs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import sympy as sp

from fedtheory.kernel import Term, convexity, lipschitz_gradient, smoothness, square
from fedtheory.kernel.expressions import Average, Gradient
from fedtheory.proofs.certificate import Certificate
from fedtheory.proofs.coupling import LastIterate
from fedtheory.sources.comparator.certificates.last_rounds import in_units_of_f
from fedtheory.sources.comparator.statements import last_model as last
from fedtheory.sources.comparator.statements.last_rounds import factor, gain
from fedtheory.sources.comparator.statements.notation import *

_SLOPE, _SLOPE_AT_MEAN = Gradient(F_i, x_i), Gradient(F_i, xbar)
_CHANGE = _SLOPE - _SLOPE_AT_MEAN
_APART = square(x_i - xbar)
_still = factor * last.kept
"""Part of the accumulated errors that remains after a contracting step."""
_lost = (1 - factor) * k + (1 - last.whole) * factor * k
"""Part of the accumulated errors that the step removes."""


def _bound_descent() -> Iterator[Term]:
    """Yield terms: a step adds to each accumulated error at most the cost of noise and client drift."""
    yield Term(_still, smoothness(F, xbar_next, xbar))
    yield Term(_still * eta / 2, square(Gradient(F, xbar)))
    yield Term(_still * eta * (1 - L * eta) / 2, square(Average(_SLOPE)))
    yield Term(_still * eta / 2, square(_CHANGE - Average(_CHANGE)), averaged=True)
    yield Term(_still * eta / 2, lipschitz_gradient(F_i, x_i, xbar), averaged=True)
    yield Term(1 - (last.kept.subs(k, k + 1) - _still), convexity(F, xbar_next, x_star))
    # Excess of the bound, which charges all errors of a round at every step.
    for left in (tau - 1 - k, sp.S.One, _lost):
        yield Term(left * L**2 * eta / 2, _APART, averaged=True)
    for left in (tau - 1 - k, _lost):
        yield Term(left * L * eta**2 * p_i / 2, square(n_i), averaged=True)


CERTIFICATES = [
    Certificate(
        claim="comparator:last-model.one-step",
        links=[
            [
                replace(term, coefficient=gain * term.coefficient)
                for term in (*in_units_of_f(last.COSTS), *_bound_descent())
            ]
        ],
    ),
    LastIterate(
        claim="comparator:last-model.error",
        step="comparator:last-model.one-step",
        kept=gain * last.kept,
        factor=factor,
        potential=last.COSTS.drift_potential,
        offset=gain * last.COSTS.step_floor,
        share=sp.S.One / 24,
    ),
]
