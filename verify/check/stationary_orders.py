"""The power of a step size that stationary errors behave like as steps vanish, from their expansions in the step."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from flint import fmpq

from fedtheory.arithmetic import Array
from fedtheory.engine.run import Run
from fedtheory.engine.small_steps import moment_expansion
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.language.quantities.quantity import Quantity

_TERMS = 6
"""Coefficients that are looked at; where all of them vanish nothing is said."""


def find_leading_term(claim: Claim, run: Run) -> tuple[fmpq, Fraction] | None:
    """c and p where what a rate measures is like c h^p, c > 0, for steps h times those of a rational run.

    None where it is no stationary error with a known expansion; `NotApplicable` where small steps have no limit.
    """
    assert claim.rate is not None
    expand = _EXPANSIONS.get(claim.notation.get(claim.rate.measured))
    if expand is None:
        return None
    coefficients = expand(run, moment_expansion(run, fmpq(1), _TERMS))
    return next(((leading, Fraction(power)) for power, leading in enumerate(coefficients) if leading), None)


def _distance_sq(_run: Run, moments: list[Array]) -> list[Any]:
    return [moment[1:, 1:].trace() for moment in moments]


def _suboptimality(run: Run, moments: list[Array]) -> list[Any]:
    hessian = run.problem.about_optimum.hessian
    return [(hessian * moment[1:, 1:]).sum() / 2 for moment in moments]


def _mean_distance_sq(_run: Run, moments: list[Array]) -> list[Any]:
    """The coefficients of the square of a series of vectors."""
    means = [moment[1:, 0] for moment in moments]
    return [sum((means[k] @ means[power - k] for k in range(power + 1)), fmpq(0)) for power in range(len(means))]


_EXPANSIONS: dict[Quantity | None, Callable[[Run, list[Array]], list[Any]]] = {
    q.limiting_distance_sq: _distance_sq,
    q.limiting_model_suboptimality: _suboptimality,
    q.limiting_mean_distance_sq: _mean_distance_sq,
}
"""Stationary errors with their coefficients, from those of the stationary second moment."""
