"""Exact expectations: first and second moments of every model of a run, in closed form."""

from fedtheory.arithmetic import FLOAT
from fedtheory.engine.moments.quiet_trajectory import QuietTrajectory, has_points
from fedtheory.engine.moments.recursion import Recursion
from fedtheory.engine.moments.server import Divergence, ServerTrajectory
from fedtheory.engine.moments.steady_trajectory import SteadyTrajectory
from fedtheory.engine.moments.trajectory import Trajectory
from fedtheory.errors import InputError
from fedtheory.federation import Algorithm
from fedtheory.federation.problem import Problem

__all__ = [
    "Divergence",
    "ServerTrajectory",
    "SteadyTrajectory",
    "Trajectory",
    "goes_by_points",
    "is_too_long_for_rationals",
    "require_short",
    "rounds_repeat",
    "trajectory_of",
]

MOST_EXACT_STEPS = 2 * 10**4
"""Rounds times local steps in rationals, whose numbers grow with every step."""


def trajectory_of(problem: Problem, algorithm: Algorithm, recursion: Recursion | None = None) -> Trajectory:
    """The exact expectations of a run; of rounds that are all alike, in floats, only those that are asked for.

    What a round does may be known already, from a run with another number of rounds.
    Raises `InputError` where rationals would be too long.
    """
    if problem.arithmetic.is_rigorous:
        require_short(problem, algorithm)
    if problem.arithmetic is not FLOAT or not rounds_repeat(problem, algorithm):
        return Trajectory(problem, algorithm, recursion)
    return (QuietTrajectory if goes_by_points(problem, algorithm) else SteadyTrajectory)(problem, algorithm, recursion)


def goes_by_points(problem: Problem, algorithm: Algorithm) -> bool:
    """Whether nothing is random in a run in floats, whose models are then found without second moments."""
    if not problem.is_quadratic or problem.arithmetic is not FLOAT or not has_points(problem, algorithm):
        return False
    return rounds_repeat(problem, algorithm)


def is_too_long_for_rationals(algorithm: Algorithm) -> bool:
    """Whether the numbers of a run would be too long where every step makes them longer."""
    return algorithm.rounds * max(algorithm.work.steps) > MOST_EXACT_STEPS


def require_short(problem: Problem, algorithm: Algorithm) -> None:
    """Raise `InputError`, with the limit and a way out, for a run that is too long for exact numbers."""
    if is_too_long_for_rationals(algorithm):
        numbers, steps = problem.arithmetic.numbers, algorithm.rounds * max(algorithm.work.steps)
        limit = f"expected at most {MOST_EXACT_STEPS} rounds times local steps in {numbers}, got {steps}"
        most = MOST_EXACT_STEPS // max(algorithm.work.steps)
        shorter = f"at most {most} rounds" if most else f"at most {MOST_EXACT_STEPS} local steps"
        raise InputError(
            "algorithm.rounds", f"{limit}: shorten the run to {shorter}, or use floats, --arithmetic float"
        )


def rounds_repeat(problem: Problem, algorithm: Algorithm) -> bool:
    """Whether all rounds are alike: no model is stale, weights are fixed, noise is the same wherever the models are."""
    if algorithm.defined is not None or not algorithm.clock.is_synchronous or problem.oracle.depends_on_model:
        return False
    return algorithm.aggregation.moments(problem.weights).is_fixed
