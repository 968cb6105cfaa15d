"""Where the mean of an algorithm's model settles from its start, exactly in rationals."""

from __future__ import annotations

import numpy as np

from fedtheory.arithmetic import Array, plain_floats
from fedtheory.engine.joint.trajectory import JointTrajectory
from fedtheory.errors import NotApplicable

_AT_ONE = 1e-6
"""How near to 1 the modulus of an eigenvalue counts as one."""


def limiting_mean(trajectory: JointTrajectory) -> Array:
    """lim E x^n - x*, (d,), from the run's own start; `NotApplicable` where it does not settle.

    The mean of all vectors goes from z to A z in a round.  Vectors that keep
    something for ever, as control variates keep their sum, make 1 an eigenvalue;
    the limit is then the z with ``A z = z`` whose distance from the start is in
    the range of A - 1.
    """
    step, start, model = trajectory.mean_round()
    _require_settling(step)
    arithmetic = trajectory.problem.arithmetic
    moved = step - arithmetic.identity(len(step))
    twice = moved @ moved
    # The normal equations have a symmetric matrix, and a solution where the limit exists.
    way = arithmetic.solve(twice.T @ twice, twice.T @ -(moved @ start))
    limit: Array = model @ (start + moved @ way)
    return limit


def _require_settling(step: Array) -> None:
    eigenvalues = np.linalg.eigvals(plain_floats(step))
    outside = eigenvalues[(np.abs(eigenvalues) > 1 - _AT_ONE) & (np.abs(eigenvalues - 1) > _AT_ONE)]
    if len(outside):
        raise NotApplicable("the mean does not settle: the step size is too large")
