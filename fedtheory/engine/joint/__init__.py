"""Algorithms given as definitions: exact joint moments of all their vectors."""

from fedtheory.engine.joint.fixed_point import displacement_at_optimum
from fedtheory.engine.joint.limit import find_limit_of_mean, limiting_moment
from fedtheory.engine.joint.trajectory import JointTrajectory

__all__ = ["JointTrajectory", "displacement_at_optimum", "find_limit_of_mean", "limiting_moment"]
