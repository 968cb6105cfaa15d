"""The limit of an error as the number of rounds tends to infinity, if it is cheap to compute."""

from __future__ import annotations

import numpy as np

from fedtheory.arithmetic import plain_float
from fedtheory.engine.moments.stationary import compute_stationary_suboptimality
from fedtheory.engine.run import Run
from fedtheory.errors import Diverging, FedtheoryError
from fedtheory.language import quantities as q
from fedtheory.language.quantities import RunQuantity

_MOST_DIMENSIONS = 16
"""Dimension up to which the second moments of a limit are computed: the cost is its sixth power."""


def compute_limit(run: Run, error: RunQuantity) -> float | None:
    """Return the limit of the last model's error.

    Returns None for other errors, in many dimensions, or if there is no limit.
    """
    if error is not q.final_suboptimality or not run.problem.is_quadratic:
        return None
    if run.problem.dimension > _MOST_DIMENSIONS or run.algorithm.work.schedule is not None:
        return None
    try:
        with np.errstate(all="ignore"):
            if run.algorithm.defined is None:
                return plain_float(compute_stationary_suboptimality(run.trajectory.recursion))
            return _compute_limit_of_definition(run)
    except (FedtheoryError, Diverging, np.linalg.LinAlgError):
        return None


def _compute_limit_of_definition(run: Run) -> float | None:
    """Return the limiting error of an algorithm given by a definition."""
    from fedtheory.engine.definition_runs import build_joint_trajectory
    from fedtheory.engine.joint import compute_limiting_moment

    covariance = compute_limiting_moment(build_joint_trajectory(run))[1:, 1:]
    return plain_float((run.problem.about_optimum.hessian * covariance).sum() / 2)
