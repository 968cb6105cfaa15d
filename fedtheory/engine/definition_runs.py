"""Runs whose algorithm is a definition: exact moments of all vectors."""

from __future__ import annotations

from fedtheory.engine.joint import JointTrajectory
from fedtheory.engine.run import Run
from fedtheory.errors import NotApplicable


def build_joint_trajectory(run: Run) -> JointTrajectory:
    """Return the trajectory of a run whose algorithm is a definition.

    Raises `NotApplicable` if its moments do not close.
    """
    trajectory = run.attempted_trajectory
    if not isinstance(trajectory, JointTrajectory):
        raise NotApplicable(f"moments do not close on {run.problem.description}, only on quadratics")
    return trajectory
