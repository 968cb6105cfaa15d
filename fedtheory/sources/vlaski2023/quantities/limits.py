"""Distance of the limit of runs from their limit for small step sizes."""

from __future__ import annotations

from typing import Any

from fedtheory.engine.moments.stationary import stationary_mean
from fedtheory.engine.run import Run
from fedtheory.engine.small_steps import small_step_limit
from fedtheory.language.quantities.quantity import constant


def _distance_of_limits_sq(run: Run) -> Any:
    """Return the squared distance between the run's limit and its limit for small step sizes."""
    apart = stationary_mean(run.trajectory.recursion) - small_step_limit(run)
    return apart @ apart


distance_to_small_step_limit = constant(
    "distance_to_small_step_limit",
    r"\|\lim_i\mathbb E w_i-\bar w\|",
    "distance of the limit of E x^n from w_bar, the minimiser of sum_k E[w_k] mu_k E_k F_k",
    _distance_of_limits_sq,
    root=True,
    primitive="limit",
)
