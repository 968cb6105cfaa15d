"""Expected effect of a round's local steps on the models, averaged over clients."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from fedtheory.arithmetic import Array, Number, sum_with_weights
from fedtheory.engine.moments.local import Clients, compute_step_maps
from fedtheory.engine.moments.powers import iterate_powers
from fedtheory.federation import LocalWork
from fedtheory.federation.problem import Problem

_BLOCK = 2**20
"""Limit on the size of a block of clients' maps."""


@dataclass(frozen=True, eq=False)
class RoundMaps:
    """Expected effect of a round's local steps on the models, the same in every round."""

    average: Array
    """sum_i p_i A_i^k, (K+1, d+1, d+1)."""
    mean: Array
    """Mean map of a round that all start from the newest model, (d+1, d+1)."""
    displacements: Array | None
    """A_i^{K_i} - I, (M, d+1, d+1); None if there are so many clients that they are computed on demand."""


def average_maps(problem: Problem, work: LocalWork, weights: Array, server_step_size: Number) -> RoundMaps:
    """Average the client operators over clients, for each local step index; `weights` (M,) are the server's."""
    blocks = [_average_block(problem, work, weights, clients) for clients in split_clients(problem)]
    averages, moves, displacements = zip(*blocks, strict=True)
    mean = problem.arithmetic.identity(problem.dimension + 1) + server_step_size * sum(moves[1:], moves[0])
    return RoundMaps(sum(averages[1:], averages[0]), mean, displacements[0] if len(blocks) == 1 else None)


def find_displacements(problem: Problem, work: LocalWork) -> Array:
    """Return A_i^{K_i} - I of all clients, (M, d+1, d+1)."""
    each = (_average_block(problem, work, problem.weights, clients) for clients in split_clients(problem))
    return np.concatenate([displacements for _, _, displacements in each])


def split_clients(problem: Problem) -> Iterator[Clients]:
    """Yield blocks of clients of bounded memory."""
    most = max(1, _BLOCK // (problem.dimension + 1) ** 2)
    if problem.clients <= most:
        return iter([slice(None)])
    return (slice(first, first + most) for first in range(0, problem.clients, most))


def _average_block(problem: Problem, work: LocalWork, weights: Array, clients: Clients) -> tuple[Array, Array, Array]:
    """Return what some clients add to the averages and to the expected server step, and their displacements."""
    importances, identity = problem.weights[clients], problem.arithmetic.identity(problem.dimension + 1)
    steps, k = np.array(work.steps)[clients], 0
    averages, final = [], problem.arithmetic.zeros(len(steps), *identity.shape)
    for block in iterate_powers(compute_step_maps(problem, work, clients), max(work.steps) + 1):
        averages.append(sum_with_weights(importances, block.swapaxes(0, 1)))
        finished = np.flatnonzero((k <= steps) & (steps < k + len(block)))
        final[finished] = block[steps[finished] - k, finished]
        k += len(block)
    displacements = final - identity
    return np.concatenate(averages), sum_with_weights(weights[clients], displacements), displacements
