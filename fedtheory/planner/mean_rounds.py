"""Errors of deterministic runs whose algorithm is a definition: the state of such a run is its expectation."""

from __future__ import annotations

import math

import numpy as np

from fedtheory.arithmetic import FLOAT, Array, plain_floats
from fedtheory.engine.definition_runs import joint_trajectory
from fedtheory.engine.run import Run
from fedtheory.federation.definition import Compressed
from fedtheory.federation.oracles import ExactOracle

_MOST = 1500
"""Limit on the numbers in the server's and all clients' vectors."""


def is_one_path(run: Run) -> bool:
    """Return whether a definition's run has neither noise nor coins, and the same participants in every round."""
    problem, algorithm = run.problem, run.algorithm
    if algorithm.defined is None or not problem.is_quadratic or problem.arithmetic is not FLOAT:
        return False
    definition = algorithm.defined.algorithm
    if numbers_of_path(run) > _MOST or definition.coins or definition.uses(Compressed):
        return False
    is_quiet = isinstance(problem.oracle, ExactOracle) and problem.is_bounded_below
    return is_quiet and algorithm.rounds_are_alike and algorithm.aggregation.moments(problem.weights).is_fixed


def numbers_of_path(run: Run) -> int:
    """Return the count of numbers that server and clients store between rounds."""
    definition = run.algorithm.defined.algorithm if run.algorithm.defined is not None else None
    vectors = 1 if definition is None else len(definition.server) + run.problem.clients * len(definition.client)
    return vectors * run.problem.dimension


def errors_of_path(run: Run, rounds: int) -> Array:
    """Return F(x^n) - F* after n = 1 .. `rounds`, (rounds,); infinite if the run diverges."""
    step, state, model = (plain_floats(part) for part in joint_trajectory(run.with_rounds(1)).mean_round())
    half = plain_floats(run.problem.centred.hessian) / 2
    found = np.full(rounds, math.inf)
    with np.errstate(all="ignore"):
        for n in range(rounds):
            state = step @ state
            point = model @ state
            error = float(point @ half @ point)
            if not math.isfinite(error):
                break
            found[n] = max(error, 0.0)
    return found
