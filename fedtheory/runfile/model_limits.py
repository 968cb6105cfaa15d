"""Limits on runs of linear models: one that would take hours is refused when it is read, with advice."""

from __future__ import annotations

from fedtheory.engine.linear_models.replicas import GROUPS, is_random, multiplications, replicas_for
from fedtheory.errors import InputError
from fedtheory.federation import Algorithm
from fedtheory.federation.linear_models import LinearModelProblem
from fedtheory.runfile.limits import MOST_NUMBERS

MOST_MULTIPLICATIONS = 10**13
"""Largest number of multiplications of all replicas together: about an hour."""


def require_affordable_models(problem: LinearModelProblem, algorithm: Algorithm) -> None:
    """Raise `InputError`, with the limit and a way out, for a run that could not be followed in an hour."""
    groups = GROUPS if is_random(problem, algorithm) else 1
    numbers = (algorithm.rounds + 1) * (problem.dimension + 1) * groups
    if numbers > MOST_NUMBERS:
        expected = f"expected at most {MOST_NUMBERS} numbers (rounds x (dimension + 1) x {groups} groups of replicas)"
        raise InputError("algorithm.rounds", f"{expected}, got {numbers}: use fewer rounds")
    work = multiplications(problem, algorithm) * algorithm.rounds * replicas_for(problem, algorithm)
    if work > MOST_MULTIPLICATIONS:
        expected = (
            f"expected at most {MOST_MULTIPLICATIONS:.0e} multiplications (replicas x local steps x rows x features)"
        )
        raise InputError("algorithm.rounds", f"{expected}, got {work:.1e}: use fewer rounds or smaller batches")
