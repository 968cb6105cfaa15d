"""Small step sizes: the stationary moments of a run as power series in a common step-size factor.

Clients take steps of size ``eta_i = mu r_i`` with fixed ratios r_i; the run
itself has ``mu = unit``.  The recursion of moments only adds and multiplies,
so it is evaluated on the polynomials ``mu r_i`` in place of numbers.  To first order
in mu a round changes the mean m and the second moment S of x^n - x* by

    m -> m - mu (Q m - q),    S -> S - mu (Q S + S Q - q m' - m q'),
    Q = eta_g sum_i E[w_i] r_i K_i H_i,    q = -eta_g sum_i E[w_i] r_i K_i grad F_i(x*).

Each further coefficient of the stationary moments therefore solves a linear and
a Lyapunov equation in Q; their right sides are coefficients of one round applied to the
known part of the series.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from flint import fmpq, fmpq_mat, fmpq_poly

from fedtheory.arithmetic import RATIONAL, Array, Number, refuse_test, sum_with_weights
from fedtheory.arithmetic.symmetric_pairs import fill_symmetric, select_pairs
from fedtheory.engine.moments.local import embed_covariances
from fedtheory.engine.moments.recursion import Recursion
from fedtheory.engine.moments.stationary import LARGEST_EXACT, build_symmetric_operator
from fedtheory.engine.run import Run
from fedtheory.errors import NotApplicable, Unresolved
from fedtheory.federation import Algorithm, LocalWork

_FLAT = "the average objective that small steps descend has a direction without curvature above 0: no unique limit"


def expand_moments(run: Run, unit: Number, terms: int) -> list[Array]:
    """Coefficients of ``mu^0 .. mu^terms``, (d+1, d+1) each, of the stationary second moment, in rationals.

    The layout is that of the moments of a run: the first column holds those of E[x^n - x*].
    Raises `NotApplicable` in floats, in many dimensions, and without a unique limit.
    """
    recursion = _build_polynomial_recursion(run, unit)
    first_order = _FirstOrder(_select_coefficient(recursion.round_map, 1))
    unit_moment = RATIONAL.zeros(*recursion.round_map.shape)
    unit_moment[0, 0] = fmpq(1)
    series, coefficients = _make_monomials(unit_moment, 0), []
    for power in range(terms + 1):
        after = recursion.propagate_round(series, recursion.round_noise(series))
        found = first_order.solve(_select_coefficient(after - series, power + 1))
        series = series + _make_monomials(found, power)
        coefficients.append(found)
    coefficients[0] = coefficients[0] + unit_moment
    return coefficients


@dataclass(frozen=True, eq=False)
class _FirstOrder:
    """Effect of a round to first order in mu, as linear equations for the small-step-size limit."""

    slope: Array
    """Coefficient of mu in the expected round map, (d+1, d+1): the rows (0, 0) and (q, -Q)."""

    @cached_property
    def _inverse(self) -> Array:
        """Invert ``S -> Q S + S Q`` on packed symmetric matrices."""
        curvature = -self.slope[1:, 1:]
        operator = build_symmetric_operator(lambda s: curvature @ s + s @ curvature, RATIONAL.identity(len(curvature)))
        return np.array(fmpq_mat(operator.tolist()).inv().tolist(), dtype=object)

    def solve(self, right: Array) -> Array:
        """Return the moment N (d+1, d+1), zero in its corner, with ``-(slope N + N slope') = right``."""
        mean = RATIONAL.solve_regular(-self.slope[1:, 1:], right[1:, 0])
        cross = np.outer(self.slope[1:, 0], mean)
        solved = embed_covariances(
            fill_symmetric(self._inverse @ select_pairs(right[1:, 1:] + cross + cross.T), len(mean))
        )
        solved[0, 1:] = solved[1:, 0] = mean
        return solved


class _PolynomialAlgorithm(Algorithm):
    """An algorithm whose step sizes are polynomials in mu, whose signs are not checked."""

    def __post_init__(self) -> None:
        """Skip the checks of the base class: the numbers have been checked."""


def _build_polynomial_recursion(run: Run, unit: Number) -> Recursion:
    """Return the recursion of a run with step sizes ``mu eta_i / unit``, polynomials in mu."""
    if run.problem.arithmetic is not RATIONAL:
        raise Unresolved("expansions in the step size are computed in rationals, not in floats")
    if run.problem.dimension > LARGEST_EXACT:
        raise NotApplicable(
            f"expansions are computed for up to {LARGEST_EXACT} dimensions, not {run.problem.dimension}"
        )
    average_curvature(run)
    _ = run.problem.about_optimum
    algorithm = run.algorithm
    work = LocalWork(algorithm.work.steps, _make_monomials(algorithm.work.step_sizes / unit, 1))
    polynomial = _PolynomialAlgorithm(algorithm.name, work, algorithm.aggregation, algorithm.clock, algorithm.rounds)
    return Recursion(run.problem, polynomial)


def _make_monomials(values: Array, power: int) -> Array:
    """Return ``values * mu^power`` as polynomials, entry by entry: NumPy would treat a polynomial as a sequence."""
    monomials: Array = np.vectorize(lambda value: fmpq_poly([0] * power + [value]), otypes=[object])(values)
    return monomials


def _select_coefficient(values: Array, power: int) -> Array:
    """Return coefficients of ``mu^power`` in an array of polynomials and rationals."""
    coefficients: Array = np.vectorize(lambda value: (value + fmpq_poly([0]))[power], otypes=[object])(values)
    return coefficients


def compute_effort(run: Run) -> Array:
    """Return E[w_i] eta_i K_i, (M,)."""
    run.algorithm.require_update_rule("the limit for small steps is known for the update rule")
    work = run.algorithm.work
    mean = run.algorithm.aggregation.moments(run.problem.weights).mean
    effort: Array = mean * work.step_sizes * run.arithmetic.array(work.steps)
    return effort


def average_curvature(run: Run) -> Array:
    """Return ``unit Hbar = sum_i E[w_i] eta_i K_i H_i``, (d, d).

    Raises `NotApplicable` unless it is positive definite.
    """
    curvature = sum_with_weights(compute_effort(run), run.problem.hessians)
    if run.problem.arithmetic is RATIONAL:
        singular = fmpq_mat(curvature.tolist()).det() == 0 or not RATIONAL.is_psd(curvature)
    else:
        values = np.linalg.eigvalsh(curvature)
        singular = not values[0] > 1e-11 * values[-1]
    if singular:
        raise refuse_test(run.arithmetic, _FLAT)
    return curvature
