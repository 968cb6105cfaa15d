"""Order of stationary errors in the step size, from their series expansions."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from flint import fmpq

from fedtheory.arithmetic import Array
from fedtheory.engine.run import Run
from fedtheory.engine.small_steps import expand_moments
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.language.quantities.quantity import Quantity

_TERMS = 6
"""Number of coefficients that are computed; if all of them vanish, the order is unknown."""


def find_leading_term(claim: Claim, run: Run) -> tuple[fmpq, Fraction] | None:
    """Find c > 0 and p: the quantity of a rate behaves like c h^p if a rational run's step sizes are scaled by h.

    Returns None if it is no stationary error with a known expansion; raises `NotApplicable` if there is no
    small-step-size limit.
    """
    assert claim.rate is not None
    expand = _EXPANSIONS.get(claim.notation.get(claim.rate.measured))
    if expand is None:
        return None
    coefficients = expand(run, expand_moments(run, fmpq(1), _TERMS))
    return next(((leading, Fraction(power)) for power, leading in enumerate(coefficients) if leading), None)


def _expand_distance_sq(_run: Run, moments: list[Array]) -> list[Any]:
    return [moment[1:, 1:].trace() for moment in moments]


def _expand_suboptimality(run: Run, moments: list[Array]) -> list[Any]:
    hessian = run.problem.about_optimum.hessian
    return [(hessian * moment[1:, 1:]).sum() / 2 for moment in moments]


def _expand_mean_distance_sq(_run: Run, moments: list[Array]) -> list[Any]:
    """Return the coefficients of the squared norm of a vector series."""
    means = [moment[1:, 0] for moment in moments]
    return [sum((means[k] @ means[power - k] for k in range(power + 1)), fmpq(0)) for power in range(len(means))]


_EXPANSIONS: dict[Quantity | None, Callable[[Run, list[Array]], list[Any]]] = {
    q.limiting_distance_sq: _expand_distance_sq,
    q.limiting_model_suboptimality: _expand_suboptimality,
    q.limiting_mean_distance_sq: _expand_mean_distance_sq,
}
"""Functions that return the coefficients of a stationary error from those of the stationary second moment."""
