"""Exact expectations: first and second moments of every model of a run, in closed form."""

from fedtheory.moments.trajectory import Divergence, Trajectory

__all__ = ["Divergence", "Trajectory"]
