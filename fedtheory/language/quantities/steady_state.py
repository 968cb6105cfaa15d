"""Stationary errors: exact limits for infinitely many rounds, and their leading order in the step size."""

from __future__ import annotations

from typing import Any

from fedtheory.engine.moments.stationary import (
    stationary_distance_sq,
    stationary_round_suboptimality,
    stationary_suboptimality,
)
from fedtheory.engine.run import Run
from fedtheory.engine.small_steps import compute_leading_coefficient, small_step_limit
from fedtheory.language.quantities import local_work
from fedtheory.language.quantities.measuring.reductions import FIRST_ROUND, FIRST_STEP
from fedtheory.language.quantities.measuring.symbols import OPTIMUM, define_by, square
from fedtheory.language.quantities.quantity import VectorQuantity, constant, symbol_of

limiting_suboptimality = constant(
    "limiting_suboptimality",
    r"\lim_{T\to\infty}\mathbb E\left[\frac{1}{\tau T}\sum_{t=0}^{T-1}\sum_{k=1}^{\tau}F(\bar x^{(t,k)})-F(x^*)\right]",
    "limit of average_suboptimality for ever more rounds, from the fixed point of the second moments",
    lambda run: stationary_round_suboptimality(run.trajectory.recursion),
    primitive="limit",
)
limiting_model_suboptimality = constant(
    "limiting_model_suboptimality",
    r"\lim_{T\to\infty}\mathbb E F(x^T)-F(x^*)",
    "limit of E F(x^T) - F* for ever more rounds, from the fixed point of the second moments",
    lambda run: stationary_suboptimality(run.trajectory.recursion),
    primitive="limit",
)


def _limiting_distance_sq(run: Run) -> Any:
    """Return the limit of the expected squared distance to the optimum."""
    _ = run.problem.about_optimum
    if run.algorithm.defined is None:
        return stationary_distance_sq(run.trajectory.recursion)
    from fedtheory.engine.definition_runs import joint_trajectory
    from fedtheory.engine.joint import limiting_moment

    return limiting_moment(joint_trajectory(run))[1:, 1:].trace()


limiting_distance_sq = constant(
    "limiting_distance_sq",
    r"\lim_{i\to\infty}\mathbb E\|w^o-w_i\|^2",
    "limit of E|x^n - x*|^2 for ever more rounds, from the fixed point of the second moments",
    _limiting_distance_sq,
    primitive="limit",
)


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
    lambda frame: frame.constant(small_step_limit(frame.run)[None]),
)


def _small_step_bias_sq(run: Run) -> Any:
    """Return the squared distance to the optimum of the limit for small step sizes."""
    limit = small_step_limit(run)
    return limit @ limit


small_step_bias = constant(
    "small_step_bias",
    r"\|\bar w-w^o\|",
    "distance from x* of w_bar, the minimiser of sum_k E[w_k] mu_k E_k F_k, the limit of runs for small step sizes",
    _small_step_bias_sq,
    root=True,
    term=define_by(
        square(symbol_of(small_step_optimum) - OPTIMUM), FIRST_STEP, FIRST_ROUND, also=(small_step_optimum,)
    ),
)
