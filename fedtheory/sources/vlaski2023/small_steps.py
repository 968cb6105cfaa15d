"""The limit of stationary errors for small step sizes ``eta_i = mu r_i`` with fixed ratios r_i, in closed form."""

from __future__ import annotations

import numpy as np

from fedtheory.arithmetic import NEAR_TIE, RATIONAL, Array, Number, refuse_test, sum_with_weights
from fedtheory.engine.run import Run
from fedtheory.engine.small_steps import average_curvature, compute_effort, expand_moments

_BIASED = "for small step sizes the run does not tend to x*, but to the quantity `small_step_optimum`"


def compute_small_step_limit(run: Run) -> Array:
    """Return the limit of the stationary model as mu tends to zero, minus x*, (d,); any arithmetic.

    It minimises ``sum_i E[w_i] r_i K_i F_i``, and is zero where the factors
    ``E[w_i] r_i K_i`` are proportional to the client weights.
    """
    return run.arithmetic.solve_regular(average_curvature(run), _compute_update(run))


def compute_leading_coefficient(run: Run, unit: Number) -> Number:
    """Return the coefficient of mu in ``lim E|x^n - x*|^2``, in closed form and any arithmetic.

    It is ``eta_g tr(Hbar^-1 R) / 2`` with ``Hbar = sum_i E[w_i] r_i K_i H_i`` and

        R = sum_i E[w_i^2] r_i^2 K_i N_i + Cov(sum_i w_i r_i K_i grad F_i(x*)),

    N_i the covariance of client i's gradient noise at x*.  Raises `NotApplicable`
    if the limit for small step sizes is not x*: the distance does not vanish with mu then.
    """
    _require_unbiased(run)
    curvature, covariance = average_curvature(run), _compute_displacement_covariance(run)
    solved = [run.arithmetic.solve_regular(curvature, column) for column in covariance.T]
    # With the step sizes eta_i = unit r_i the trace is `unit` times the one with r_i.
    return run.algorithm.aggregation.server_step_size * np.stack(solved).trace() / (2 * unit)


def expand_distance_sq(run: Run, unit: Number, terms: int) -> list[Number]:
    """Return the coefficients of ``mu^1 .. mu^terms`` in ``lim E|x^n - x*|^2``, in rationals.

    The coefficient of ``mu^0`` is the squared norm of `compute_small_step_limit`.
    Raises `NotApplicable` as `moment_expansion` does.
    """
    return [moment[1:, 1:].trace() for moment in expand_moments(run, unit, terms)[1:]]


def _compute_update(run: Run) -> Array:
    """Return ``-sum_i E[w_i] eta_i K_i grad F_i(x*)``, (d,)."""
    return sum_with_weights(compute_effort(run), run.problem.about_optimum.linear)


def _require_unbiased(run: Run) -> None:
    """Raise `NotApplicable` unless small steps tend to x*, up to rounding in floats."""
    problem = run.problem
    scale = (
        max(np.abs(problem.linear).max(), np.abs(problem.hessians @ problem.start).max()) * compute_effort(run).sum()
    )
    tolerance = 0 if run.problem.arithmetic is RATIONAL else NEAR_TIE * scale
    if np.abs(_compute_update(run)).max() > tolerance:
        raise refuse_test(run.arithmetic, _BIASED)


def _compute_displacement_covariance(run: Run) -> Array:
    """Return ``unit^2 R``, (d, d): covariance of a small step's displacement at x*, per eta_g^2."""
    problem, work = run.problem, run.algorithm.work
    weights = run.algorithm.aggregation.moments(problem.weights)
    counts = run.arithmetic.array(work.steps)
    at_optimum = run.arithmetic.zeros(problem.clients, problem.dimension + 1, problem.dimension + 1)
    at_optimum[:, 0, 0] = run.arithmetic.number(1, "one")
    noise = problem.centred.noise_covariances(at_optimum)
    updates = (work.step_sizes * counts)[:, None] * problem.centred.linear
    # The expected update vanishes at x*, so that its multiple in E[w w'] adds nothing.
    covariance: Array = sum_with_weights(weights.squares * work.step_sizes * work.step_sizes * counts, noise)
    covariance = covariance + sum_with_weights(weights.diagonal, updates[:, :, None] * updates[:, None, :])
    for scale, vector in weights.directions:
        covariance = covariance + scale * np.multiply.outer(vector @ updates, vector @ updates)
    return covariance
