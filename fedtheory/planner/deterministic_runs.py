"""Errors of deterministic runs whose algorithm is a definition, or has changing step sizes.

The state of such a run is its expectation.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

import numpy as np

from fedtheory.arithmetic import FLOAT, Array, plain_float, plain_floats
from fedtheory.engine.definition_runs import build_joint_trajectory
from fedtheory.engine.run import Run
from fedtheory.federation import Algorithm
from fedtheory.federation.definition import Compressed
from fedtheory.federation.oracles import ExactOracle

_MOST = 1500
"""Limit on the numbers in the server's and all clients' vectors."""


def is_deterministic(run: Run) -> bool:
    """Return whether a definition's run has neither noise nor coins, and the same participants in every round."""
    problem, algorithm = run.problem, run.algorithm
    if algorithm.defined is None or not problem.is_quadratic or problem.arithmetic is not FLOAT:
        return False
    definition = algorithm.defined.algorithm
    if count_numbers(run) > _MOST or definition.coins or definition.uses(Compressed):
        return False
    is_quiet = isinstance(problem.oracle, ExactOracle) and problem.is_bounded_below
    if not is_quiet or not (algorithm.rounds_are_alike or _only_step_sizes_change(algorithm)):
        return False
    return algorithm.aggregation.moments(problem.weights).is_fixed


def _only_step_sizes_change(algorithm: Algorithm) -> bool:
    """Return whether rounds are those of the update rule except for the step sizes."""
    return algorithm.is_fedavg_of_changing_steps and algorithm.clock.is_synchronous


def count_numbers(run: Run) -> int:
    """Return the count of numbers that server and clients store between rounds."""
    definition = run.algorithm.defined.algorithm if run.algorithm.defined is not None else None
    vectors = 1 if definition is None else len(definition.server) + run.problem.clients * len(definition.client)
    return vectors * run.problem.dimension


def compute_path_errors(run: Run, rounds: int) -> Array:
    """Return F(x^n) - F* after n = 1 .. `rounds`, (rounds,); infinite if the run diverges."""
    points = _follow_map(run) if run.algorithm.rounds_are_alike else _follow_step_sizes(run)
    half = plain_floats(run.problem.centred.hessian) / 2
    found = np.full(rounds, math.inf)
    with np.errstate(all="ignore"):
        for n, point in enumerate(itertools.islice(points, rounds)):
            error = float(point @ half @ point)
            if not math.isfinite(error):
                break
            found[n] = max(error, 0.0)
    return found


def _follow_map(run: Run) -> Iterator[Array]:
    """Yield the models after each round, relative to the centre, of a run whose rounds are alike."""
    step, state, model = (plain_floats(part) for part in build_joint_trajectory(run.with_rounds(1)).mean_round())
    while True:
        state = step @ state
        yield model @ state


def _follow_step_sizes(run: Run) -> Iterator[Array]:
    """Yield the models after each round, relative to the centre, of federated averaging with changing step sizes."""
    problem, work, aggregation = run.problem.centred, run.algorithm.work, run.algorithm.aggregation
    hessians, linear = plain_floats(problem.hessians), plain_floats(problem.linear)
    weights = plain_floats(aggregation.moments(problem.weights).mean) * plain_float(aggregation.server_step_size)
    counts, point = np.array(work.steps), plain_floats(problem.start)
    for n in itertools.count():
        models = np.broadcast_to(point, linear.shape)
        for k in range(counts.max()):
            sizes = np.where(k < counts, plain_floats(work.sizes_at(n, k)), 0.0)
            models = models - sizes[:, None] * ((hessians @ models[:, :, None])[:, :, 0] - linear)
        point = point + weights @ (models - point)
        yield point
