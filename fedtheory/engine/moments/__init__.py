"""Exact expectations: first and second moments of every model of a run, in closed form."""

from fedtheory.arithmetic import FLOAT
from fedtheory.engine.moments.recursion import Recursion
from fedtheory.engine.moments.server import Divergence, ServerTrajectory
from fedtheory.engine.moments.steady_trajectory import SteadyTrajectory
from fedtheory.engine.moments.trajectory import Trajectory
from fedtheory.federation import Algorithm
from fedtheory.federation.problem import Problem

__all__ = ["Divergence", "ServerTrajectory", "SteadyTrajectory", "Trajectory", "rounds_repeat", "trajectory_of"]


def trajectory_of(problem: Problem, algorithm: Algorithm, recursion: Recursion | None = None) -> Trajectory:
    """The exact expectations of a run; of rounds that are all alike, in floats, only those that are asked for.

    What a round does may be known already, from a run with another number of rounds.
    """
    is_steady = problem.arithmetic is FLOAT and rounds_repeat(problem, algorithm)
    return (SteadyTrajectory if is_steady else Trajectory)(problem, algorithm, recursion)


def rounds_repeat(problem: Problem, algorithm: Algorithm) -> bool:
    """Whether all rounds are alike: nobody is stale, weights are fixed, noise is the same wherever the models are."""
    if algorithm.defined is not None or not algorithm.clock.is_synchronous or problem.oracle.depends_on_model:
        return False
    return algorithm.aggregation.moments(problem.weights).is_fixed
