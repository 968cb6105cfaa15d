"""Algorithms given as definitions: exact joint moments of all their vectors."""

from fedtheory.engine.joint.fixed_point import measure_displacement_at_optimum
from fedtheory.engine.joint.limit import compute_limiting_moment, find_limit_of_mean
from fedtheory.engine.joint.trajectory import JointTrajectory

__all__ = ["JointTrajectory", "compute_limiting_moment", "find_limit_of_mean", "measure_displacement_at_optimum"]
