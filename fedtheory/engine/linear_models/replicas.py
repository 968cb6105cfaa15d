"""Simulates replicas of a run side by side as arrays, with common random numbers for all step sizes.

Random samples depend on the seed alone, not on the models: runs that differ in their step sizes share them, and
a longer run begins with a shorter one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from fedtheory.arithmetic import Array
from fedtheory.engine.linear_models.definitions import Interpreter, simulate_rounds
from fedtheory.engine.sampling import sample_weights
from fedtheory.federation import Algorithm
from fedtheory.federation.definition import Compressed
from fedtheory.federation.linear_models import LinearModelProblem, RowBatches

GROUPS = 20
"""Number of independent groups of replicas; an interval is computed from their averages."""
LARGEST = 1e145
"""Largest numbers whose squares fit into double precision, with a margin for constants."""
_BUDGET = 5e9
"""Limit on the multiplications of all replicas of a run: some seconds."""
_LOSS = 60
"""Number of multiplications for a loss with its derivative."""
FEW, MANY = 20, 200
"""Least and largest number of replicas; the budget decides between them."""


@dataclass(frozen=True, eq=False)
class ReplicaRound:
    """One server update in every replica; points are relative to the centre of the problem."""

    server: Array
    """The model before the update, (R, d)."""
    bases: Array
    """The models that clients work on, (R, M, d)."""
    iterates: list[Array]
    """x_i^{n,k} for k = 0 .. K, (R, M, d) each."""
    gradients: list[Array]
    """g_i at the steps k < K, (R, M, d) each."""
    weights: Array
    """w_i(n), (R, M)."""
    after: Array
    """The model after the update, (R, d)."""

    def select_replicas(self, chosen: slice) -> ReplicaRound:
        """Return the round restricted to some of the replicas."""
        iterates, gradients = ([each[chosen] for each in kept] for kept in (self.iterates, self.gradients))
        of_all = (self.server, self.bases, self.weights, self.after)
        server, bases, weights, after = (each[chosen] for each in of_all)
        return ReplicaRound(server, bases, iterates, gradients, weights, after)


def is_random(problem: LinearModelProblem, algorithm: Algorithm) -> bool:
    """Return whether anything is random: mini-batches, participants, coins or compressed coordinates."""
    definition = None if algorithm.defined is None else algorithm.defined.algorithm
    if problem.is_sampled or (definition is not None and (definition.coins or definition.uses(Compressed))):
        return True
    return algorithm.clock.is_synchronous and not algorithm.aggregation.moments(problem.weights).is_fixed


def count_replicas(problem: LinearModelProblem, algorithm: Algorithm) -> int:
    """Return the number of replicas of a run: one if nothing is random, else as many as a counted budget allows."""
    if not is_random(problem, algorithm):
        return 1
    affordable = int(_BUDGET / (count_multiplications(problem, algorithm) * algorithm.rounds)) // GROUPS * GROUPS
    return min(max(affordable, FEW), MANY)


def count_multiplications(problem: LinearModelProblem, algorithm: Algorithm) -> int:
    """Return about how many multiplications a round of one replica takes, including the error of the server's model."""
    counts, steps = problem.model.counts, np.array(algorithm.work.steps)
    oracle, rows = problem.oracle, counts
    if isinstance(oracle, RowBatches) and not oracle.are_counted:
        rows = np.full(len(counts), oracle.batch)
    return count_work_of_losses(int(steps @ rows + counts.sum()), problem.dimension)


def count_work_of_losses(rows: int, dimension: int) -> int:
    """Return about how many multiplications losses and gradients of `rows` rows take at one model."""
    return 2 * (dimension + _LOSS) * rows


def follow(problem: LinearModelProblem, algorithm: Algorithm, replicas: int, seed: int) -> Iterator[ReplicaRound]:
    """Yield every server update in every replica, as long as the numbers fit into double precision."""
    if algorithm.defined is not None:
        yield from _follow_definition(problem, algorithm, replicas, seed)
        return
    centred, generator = problem.centred, np.random.default_rng(seed)
    server = np.tile(centred.start, (replicas, 1))
    bases = np.repeat(server[:, None], problem.clients, axis=1)
    for n, update in enumerate(algorithm.updates()):
        weights = sample_weights(algorithm, update, problem.weights, replicas, generator)
        iterates, gradients = _follow_clients(centred, algorithm, n, bases, generator)
        change = ((iterates[-1] - bases) * weights[:, :, None]).sum(axis=1)
        after = server + algorithm.aggregation.server_step_size * change
        if not (np.abs(after) < LARGEST).all():
            return
        yield ReplicaRound(server, bases, iterates, gradients, weights, after)
        server, bases = after, bases.copy()
        bases[:, list(update.receivers)] = server[:, None]


def _follow_definition(
    problem: LinearModelProblem, algorithm: Algorithm, replicas: int, seed: int
) -> Iterator[ReplicaRound]:
    """Yield every server update of a defined algorithm; the iterates are those of its first local vector."""
    generator = np.random.default_rng(seed)

    def draw(points: Array) -> Array:
        return _sample_gradients(problem, points, generator)

    interpreter = Interpreter(problem, algorithm, draw, generator, replicas)
    weights = (sample_weights(algorithm, each, problem.weights, replicas, generator) for each in algorithm.updates())
    for before, found, drawn, after in simulate_rounds(interpreter, weights):
        if not all((np.abs(vectors) < LARGEST).all() for vectors in (after, *found.state.values())):
            return
        iterates = [each - problem.centre for each in found.locals]
        ends = before - problem.centre, after - problem.centre
        yield ReplicaRound(ends[0], iterates[0], iterates, found.gradients, drawn, ends[1])


def _follow_clients(
    centred: LinearModelProblem, algorithm: Algorithm, n: int, bases: Array, generator: np.random.Generator
) -> tuple[list[Array], list[Array]]:
    """Return the local iterates of all clients from the models that they have, and their gradients."""
    counts = np.array(algorithm.work.steps)
    iterates, gradients = [bases], []
    for k in range(counts.max()):
        gradients.append(_sample_gradients(centred, iterates[-1], generator))
        sizes = np.where(counts > k, algorithm.work.sizes_at(n, k), 0.0)
        iterates.append(iterates[-1] - sizes[:, None] * gradients[-1])
    return iterates, gradients


def _sample_gradients(centred: LinearModelProblem, points: Array, generator: np.random.Generator) -> Array:
    """Return the clients' stochastic gradients at points (R, M, d)."""
    if isinstance(centred.oracle, RowBatches) and centred.oracle.are_counted:
        return centred.model.batch_gradients(points, centred.oracle.draw_counts(len(points), generator))
    if isinstance(centred.oracle, RowBatches):
        return centred.model.batch_slopes(points, centred.oracle.draw(len(points), generator))
    return centred.gradients(points)
