"""Terms that the certificates of local steps have in common.

Young's inequality with a ratio c: |a|^2 <= (1 + c) |a - b|^2 + (1 + 1/c) |b|^2.
"""

from __future__ import annotations

from collections.abc import Iterable

import sympy as sp

from fedtheory.kernel import Term, assumption, cocoercivity, smoothness, square
from fedtheory.kernel.expressions import Average, Expr, Gradient
from fedtheory.proofs.comparators import DISSIMILARITY_AT_Y, NOISE_AT_Y, SMOOTH_NOISE, noise_at_y
from fedtheory.sources.comparator.statements.notation import *

GRADIENT = Gradient(F_i, x_i)
MEAN_GRADIENT = Average(GRADIENT)
DRIFT = square(x_i - xbar)


def bound_local_step(gaps: Iterable[Term], parts: Iterable[Term]) -> list[Term]:
    """Return the terms of one local step of smooth clients.

    `gaps` are the terms of convexity; `parts` bound drift, gradients and noise.
    """
    return [
        Term(sp.S.One, smoothness(F_i, xbar_next, x_i), averaged=True),
        *gaps,
        Term(eta * (1 - L * eta) / 2, square(MEAN_GRADIENT)),
        *parts,
    ]


def bound_next_drift(coefficient: Expr, ratio: Expr) -> Term:
    """Bound a multiple of the next drift by the drift and the deviation of the gradients, by Young's inequality."""
    moved = (x_i - xbar) + ratio * eta * (GRADIENT - MEAN_GRADIENT)
    return Term(coefficient / ratio, square(moved), averaged=True)


def bound_gradients(coefficient: Expr, point: Expr, deviation: Expr, ratio: int = 1) -> list[Term]:
    """Bound the deviations of the gradients from their average, by Young's inequality with that at a point.

    The convexity gaps bound the changes of the gradients; `deviation` is that of the gradients at the point.
    """
    change = GRADIENT - Gradient(F_i, point)
    return [
        Term(coefficient / ratio, square(ratio * (change - Average(change)) - deviation), averaged=True),
        Term((1 + ratio) * coefficient, square(Average(change))),
        Term(2 * (1 + ratio) * L * coefficient, cocoercivity(F_i, point, x_i), averaged=True),
        Term((1 + sp.Rational(1, ratio)) * coefficient, assumption(DISSIMILARITY_AT_Y)),
    ]


def bound_noise(coefficient: Expr, ratio: int = 1) -> list[Term]:
    """Bound the squared noise by Young's inequality with the noise of the same samples at y.

    The convexity gaps bound the difference of the two.
    """
    return [
        Term(coefficient / ratio, square(ratio * n_i - (1 + ratio) * noise_at_y), averaged=True),
        Term((1 + ratio) * coefficient, assumption(SMOOTH_NOISE), averaged=True),
        Term((1 + sp.Rational(1, ratio)) * coefficient, assumption(NOISE_AT_Y)),
    ]


def list_excess_noise(coefficient: Expr, in_average: Expr, next_potential: Expr) -> list[Term]:
    """Return terms with the squared noise that a coefficient covers beyond the noise of a step.

    A client with less than the largest weight has less noise in the average, and a client's noise is a part of the
    average.
    """
    return [
        Term(in_average * (p_max - p_i) / p_max, square(n_i), averaged=True),
        Term(next_potential * eta**2 * p_i, square(n_i), averaged=True),
        Term(sp.factor(coefficient - in_average - next_potential * eta**2), square(n_i), averaged=True),
    ]


def scale_terms(factor: Expr, terms: Iterable[Term]) -> list[Term]:
    """Multiply the coefficients of terms by a factor."""
    return [Term(factor * term.coefficient, term.reason, term.averaged, term.summed) for term in terms]
