"""The noise of all local steps of a client as one linear map of second moments, for many updates in few dimensions.

The noise of mini-batches depends on the model, and each update of a run with stale models starts from other second
moments.  The covariance that local steps add is linear in these moments: in floats, a matrix over the s =
(d+1)(d+2)/2 entries on and above the diagonal.  It is computed once; applying it costs s^2 per reporting client,
instead of K steps over its data.  It acts on symmetric matrices only: subtracting a mean part later would leave
asymmetric rounding errors, which grow if weights exceed one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from fedtheory.arithmetic import Array
from fedtheory.arithmetic.symmetric_pairs import count_pairs, fill_symmetric, map_pairs, select_pairs
from fedtheory.engine.moments.local import Clients, compute_step_maps, compute_step_moments
from fedtheory.engine.moments.row_space_maps import sum_noise_maps
from fedtheory.engine.moments.row_spaces import find_row_spaces, list_clients_outside
from fedtheory.federation import LocalWork
from fedtheory.federation.problem import Problem


@dataclass(frozen=True, eq=False)
class NoiseMaps:
    """Maps from second moments (d+1, d+1) to the noise of all local steps, for M clients."""

    size: int
    """d+1."""
    maps: Array
    """(M, s, s)."""

    @classmethod
    def from_work(cls, problem: Problem, work: LocalWork) -> NoiseMaps:
        """Return the maps of some local work on a centred problem, in floats."""
        return cls(problem.dimension + 1, np.stack(list(_iterate_maps(problem, work, range(problem.clients)))))

    def noise(self, bases: Array, clients: Clients) -> Array:
        """Covariances (C, d, d) of some clients' noise after all their steps, from `bases` as in `LocalSteps`."""
        return _apply_maps(self.maps[clients], bases)


@dataclass(frozen=True, eq=False)
class ServerNoise:
    """Map from the second moment (d+1, d+1) of the common start of a round to the round's noise."""

    map: Array
    """The sum over clients of ``E[w_i^2]`` times their maps, (s, s).

    Its size does not depend on the number of clients.
    """
    least: float
    """The smallest of the factors that is not zero."""

    @classmethod
    def from_work(cls, problem: Problem, work: LocalWork, weights: Array) -> ServerNoise:
        """Return the map for a centred problem, with the factors `weights` (M,), client by client."""
        spaces = find_row_spaces(problem, work)
        size = count_pairs(problem.dimension + 1)
        total = np.zeros((size, size))
        for space in spaces:
            total += sum_noise_maps(space, weights)
        others = list_clients_outside(spaces, problem.clients)
        for weight, one in zip(weights[others], _iterate_maps(problem, work, others), strict=True):
            total += weight * one
        return cls(total, float(weights[weights > 0].min(initial=1.0)))

    def noise(self, base: Array) -> tuple[Array, float]:
        """Return the covariance (d, d) that enters the server's model, and a bound on the entries of its summands."""
        (found,) = _apply_maps(self.map[None], base)
        return found, float(np.abs(found).max() / self.least)


def _apply_maps(maps: Array, bases: Array) -> Array:
    """Return covariances (C, d, d): maps (C, s, s) applied to second moments, (d+1, d+1) or (C, d+1, d+1)."""
    size = bases.shape[-1]
    found = (maps @ select_pairs(bases)[..., None])[..., 0]
    return fill_symmetric(found, size)[:, 1:, 1:]


def _iterate_maps(problem: Problem, work: LocalWork, clients: Sequence[int]) -> Iterator[Array]:
    """Yield the map (s, s) of the local work of each of some clients on a centred problem."""
    if not clients:
        return
    steps, (firsts, seconds) = (
        compute_step_maps(problem, work, list(clients)),
        _compute_step_orders(problem, tuple(clients)),
    )
    for client, step, first, second in zip(clients, steps, firsts, seconds, strict=True):
        size, count = work.step_sizes[client], work.steps[client]
        one = size * size * second - size * first
        one[np.diag_indices(len(one))] += 1
        yield np.linalg.matrix_power(one, count) - map_pairs(np.linalg.matrix_power(step, count))


@lru_cache(maxsize=1)
def _compute_step_orders(problem: Problem, clients: tuple[int, ...]) -> tuple[Array, ...]:
    """The terms of order eta and eta^2 in the change of second moments in a step of some clients, (C, s, s) each."""
    size, some = problem.dimension + 1, list(clients)
    units = fill_symmetric(np.eye(count_pairs(size)), size)[:, None]
    moments = np.repeat(units, len(some), axis=1)
    oracle = problem.oracle.prepare(len(units)).select_clients(some)
    crossed, squares = compute_step_moments(oracle, problem.gradient_maps[some], moments)
    first, second = np.zeros_like(moments), np.zeros_like(moments)
    first[..., 1:, :] += crossed
    first[..., 1:] += crossed.swapaxes(-1, -2)
    second[..., 1:, 1:] = squares
    return tuple(select_pairs(each).transpose(1, 2, 0) for each in (first, second))
