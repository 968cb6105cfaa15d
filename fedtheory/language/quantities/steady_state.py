"""Stationary errors: exact limits for infinitely many rounds, and their leading order in the step size."""

from __future__ import annotations

from typing import Any

from fedtheory.engine.moments.stationary import (
    compute_stationary_distance_sq,
    compute_stationary_round_suboptimality,
    compute_stationary_suboptimality,
)
from fedtheory.engine.run import Run
from fedtheory.language.quantities.quantity import constant

limiting_suboptimality = constant(
    "limiting_suboptimality",
    r"\lim_{T\to\infty}\mathbb E\left[\frac{1}{\tau T}\sum_{t=0}^{T-1}\sum_{k=1}^{\tau}F(\bar x^{(t,k)})-F(x^*)\right]",
    "limit of average_suboptimality for ever more rounds, from the fixed point of the second moments",
    lambda run: compute_stationary_round_suboptimality(run.trajectory.recursion),
    primitive="limit",
)
limiting_model_suboptimality = constant(
    "limiting_model_suboptimality",
    r"\lim_{T\to\infty}\mathbb E F(x^T)-F(x^*)",
    "limit of E F(x^T) - F* for ever more rounds, from the fixed point of the second moments",
    lambda run: compute_stationary_suboptimality(run.trajectory.recursion),
    primitive="limit",
)


def _measure_limiting_distance(run: Run) -> Any:
    _ = run.problem.about_optimum
    if run.algorithm.defined is None:
        return compute_stationary_distance_sq(run.trajectory.recursion)
    from fedtheory.engine.definition_runs import build_joint_trajectory
    from fedtheory.engine.joint import compute_limiting_moment

    return compute_limiting_moment(build_joint_trajectory(run))[1:, 1:].trace()


limiting_distance_sq = constant(
    "limiting_distance_sq",
    r"\lim_{i\to\infty}\mathbb E\|w^o-w_i\|^2",
    "limit of E|x^n - x*|^2 for ever more rounds, from the fixed point of the second moments",
    _measure_limiting_distance,
    primitive="limit",
)
