"""Limits on runs of linear models: a run that would take hours is refused with advice when it is read."""

from __future__ import annotations

from fedtheory.engine.linear_models.replicas import GROUPS, count_multiplications, count_replicas, is_random
from fedtheory.errors import InputError
from fedtheory.federation import Algorithm
from fedtheory.federation.linear_models import LinearModelProblem
from fedtheory.runfile.limits import MOST_NUMBERS

MOST_MULTIPLICATIONS = 10**13
"""Largest number of multiplications of all replicas together: about an hour of work."""


def require_affordable_models(problem: LinearModelProblem, algorithm: Algorithm) -> None:
    """Raise `InputError`, with the limit and advice, for a run that would take more than an hour."""
    require_listable_models(algorithm.rounds, problem.dimension, GROUPS if is_random(problem, algorithm) else 1)
    work = count_multiplications(problem, algorithm) * algorithm.rounds * count_replicas(problem, algorithm)
    require_work(work)


def require_listable_models(rounds: int, dimension: int, groups: int = 1) -> None:
    """Raise `InputError` if the models of all rounds, for `groups` groups of replicas, would not fit into memory."""
    numbers = (rounds + 1) * (dimension + 1) * groups
    if numbers > MOST_NUMBERS:
        of_groups = "" if groups == 1 else f" x {groups} groups of replicas"
        expected = f"expected at most {MOST_NUMBERS} numbers (rounds x (dimension + 1){of_groups})"
        raise InputError("algorithm.rounds", f"{expected}, got {numbers}: use fewer rounds")


def require_work(work: int, at_least: str = "") -> None:
    """Raise `InputError` for more multiplications than fit into an hour."""
    if work > MOST_MULTIPLICATIONS:
        expected = (
            f"expected at most {MOST_MULTIPLICATIONS:.0e} multiplications (replicas x local steps x rows x features)"
        )
        got = f"got {at_least}{work:.1e}"
        raise InputError("algorithm.rounds", f"{expected}, {got}: use fewer rounds or smaller batches")
