"""Stationary errors to first order in the step size, and the limit of runs for small step sizes."""

from __future__ import annotations

from typing import Any

from fedtheory.engine.moments.stationary import compute_stationary_mean
from fedtheory.engine.run import Run
from fedtheory.language.quantities import local_work
from fedtheory.language.quantities.measuring.reductions import FIRST_ROUND, FIRST_STEP
from fedtheory.language.quantities.measuring.symbols import OPTIMUM, define_by, square
from fedtheory.language.quantities.quantity import VectorQuantity, constant, get_symbol
from fedtheory.sources.vlaski2023.small_steps import compute_leading_coefficient, compute_small_step_limit


def _measure_leading_error(run: Run) -> Any:
    """Return the leading term of the squared stationary error for small step sizes."""
    size = local_work.effective_step_size.measure(run)
    return size * compute_leading_coefficient(run, size)


leading_limiting_distance_sq = constant(
    "leading_limiting_distance_sq",
    r"\frac\mu2\operatorname{tr}(H^{-1}R)",
    "mu/2 tr(H^-1 R), the limit of E|x^n - x*|^2 to first order in mu: H the Hessian of F, mu the server step size "
    "times the effective step size, mu^2 R the covariance of a round's update of the server at x*",
    _measure_leading_error,
    primitive="limit",
)


small_step_optimum = VectorQuantity(
    "small_step_optimum",
    r"\bar w",
    "w_bar, the minimiser of sum_k E[w_k] mu_k E_k F_k, the limit of runs for small step sizes",
    lambda frame: frame.constant(compute_small_step_limit(frame.run)[None]),
)


def _measure_small_step_bias_sq(run: Run) -> Any:
    """Return the squared distance to the optimum of the limit for small step sizes."""
    limit = compute_small_step_limit(run)
    return limit @ limit


small_step_bias = constant(
    "small_step_bias",
    r"\|\bar w-w^o\|",
    "distance from x* of w_bar, the minimiser of sum_k E[w_k] mu_k E_k F_k, the limit of runs for small step sizes",
    _measure_small_step_bias_sq,
    root=True,
    term=define_by(
        square(get_symbol(small_step_optimum) - OPTIMUM), FIRST_STEP, FIRST_ROUND, also=(small_step_optimum,)
    ),
)


def _measure_distance_of_limits_sq(run: Run) -> Any:
    """Return the squared distance between the run's limit and its limit for small step sizes."""
    difference = compute_stationary_mean(run.trajectory.recursion) - compute_small_step_limit(run)
    return difference @ difference


distance_to_small_step_limit = constant(
    "distance_to_small_step_limit",
    r"\|\lim_i\mathbb E w_i-\bar w\|",
    "distance of the limit of E x^n from w_bar, the minimiser of sum_k E[w_k] mu_k E_k F_k",
    _measure_distance_of_limits_sq,
    root=True,
    primitive="limit",
)
