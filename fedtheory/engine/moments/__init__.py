"""Exact expectations: first and second moments of every model of a run, in closed form."""

from fedtheory.arithmetic import FLOAT
from fedtheory.engine.moments.exact_length import (
    MOST_EXACT_STEPS,
    is_too_long_for_rationals,
    require_short,
    require_steps,
)
from fedtheory.engine.moments.quiet_trajectory import QuietTrajectory, has_points
from fedtheory.engine.moments.recursion import Recursion
from fedtheory.engine.moments.steady_trajectory import SteadyTrajectory
from fedtheory.engine.moments.trajectory import Trajectory
from fedtheory.federation import Algorithm
from fedtheory.federation.problem import Problem

__all__ = [
    "MOST_EXACT_STEPS",
    "SteadyTrajectory",
    "Trajectory",
    "build_trajectory",
    "is_deterministic",
    "is_too_long_for_rationals",
    "require_short",
    "require_steps",
    "rounds_repeat",
]


def build_trajectory(problem: Problem, algorithm: Algorithm, recursion: Recursion | None = None) -> Trajectory:
    """Return the exact expectations of a run; if all rounds are alike, in floats, moments are computed on demand.

    `recursion` passes on the effect of a round from a run with another number of rounds.
    Raises `InputError` if rationals would be too long.
    """
    if problem.arithmetic.is_rigorous:
        require_short(problem, algorithm)
    if problem.arithmetic is not FLOAT or not rounds_repeat(problem, algorithm):
        return Trajectory(problem, algorithm, recursion)
    return (QuietTrajectory if is_deterministic(problem, algorithm) else SteadyTrajectory)(
        problem, algorithm, recursion
    )


def is_deterministic(problem: Problem, algorithm: Algorithm) -> bool:
    """Return whether nothing is random in a run in floats, so that its models are computed without second moments."""
    if not problem.is_quadratic or problem.arithmetic is not FLOAT or not has_points(problem, algorithm):
        return False
    return rounds_repeat(problem, algorithm)


def rounds_repeat(problem: Problem, algorithm: Algorithm) -> bool:
    """Return whether all rounds are alike: no stale models, fixed weights, noise that does not depend on the models."""
    if algorithm.defined is not None or not algorithm.clock.is_synchronous or problem.oracle.depends_on_model:
        return False
    return algorithm.aggregation.moments(problem.weights).is_fixed
