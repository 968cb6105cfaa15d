"""The noise of all local steps of a client as one linear map, for many updates in few dimensions.

The noise of mini-batches depends on the model, and each update of a run with stale models starts from other second
moments.  What local steps add to those beside the mean is linear in them, in floats a matrix over the
s = (d+1)(d+2)/2 entries on and above the diagonal: found once, it costs s^2 for a client that reports instead of K
steps over its data.  It sees and gives the symmetric part alone: a mean part that is taken off later would leave
rounding that is not symmetric, and weights above one let that grow.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from fedtheory.arithmetic import Array
from fedtheory.engine.moments.local import Clients, compute_step_moments, step_maps
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
    def of(cls, problem: Problem, work: LocalWork) -> NoiseMaps:
        """The maps of some local work on a centred problem, in floats."""
        return cls(problem.dimension + 1, np.stack(list(_maps_of_clients(problem, work))))

    def noise(self, bases: Array, clients: Clients) -> Array:
        """Covariances (C, d, d) of some clients' noise after all their steps, from `bases` as in `LocalSteps`."""
        return _covariances(self.maps[clients], bases)


@dataclass(frozen=True, eq=False)
class ServerNoise:
    """Map of a round's noise on the second moment (d+1, d+1) of the common start."""

    map: Array
    """The sum over clients of ``E[w_i^2]`` times their maps, (s, s): no larger for more clients."""
    least: float
    """The smallest of the factors that is not zero."""

    @classmethod
    def of(cls, problem: Problem, work: LocalWork, weights: Array) -> ServerNoise:
        """The map of some local work on a centred problem, with the factors `weights` (M,), client by client."""
        maps = _maps_of_clients(problem, work)
        total = sum((weight * one for weight, one in zip(weights, maps, strict=True)), start=np.zeros(()))
        return cls(total, float(weights[weights > 0].min(initial=1.0)))

    def noise(self, base: Array) -> tuple[Array, float]:
        """The covariance (d, d) that enters the server's model, and a bound on the entries that it is made of."""
        (found,) = _covariances(self.map[None], base)
        return found, float(np.abs(found).max() / self.least)


def _covariances(maps: Array, bases: Array) -> Array:
    """Covariances (C, d, d) that maps (C, s, s) make of second moments, (d+1, d+1) or (C, d+1, d+1)."""
    size = bases.shape[-1]
    rows, columns = np.triu_indices(size)
    found = (maps @ bases[..., rows, columns, None])[..., 0]
    moments: Array = np.empty((len(found), size, size))
    moments[:, rows, columns] = moments[:, columns, rows] = found
    return moments[:, 1:, 1:]


def _maps_of_clients(problem: Problem, work: LocalWork) -> Iterator[Array]:
    """The map (s, s) of each client's work on a centred problem."""
    steps, units = step_maps(problem, work), _units(problem.dimension + 1)
    orders = zip(*_step_orders(problem), strict=True)
    for (first, second), step, size, count in zip(orders, steps, work.step_sizes, work.steps, strict=True):
        one = size * size * second - size * first
        one[np.diag_indices(len(one))] += 1
        mean = np.linalg.matrix_power(step, count)
        yield np.linalg.matrix_power(one, count) - _as_map(mean @ units @ mean.T)


def _units(size: int) -> Array:
    """Symmetric matrices with ones in one place on or above the diagonal, (s, size, size)."""
    rows, columns = np.triu_indices(size)
    units, numbers = np.zeros((len(rows), size, size)), np.arange(len(rows))
    units[numbers, rows, columns] = units[numbers, columns, rows] = 1
    return units


@lru_cache(maxsize=1)
def _step_orders(problem: Problem) -> tuple[Array, ...]:
    """Decrease of second moments in a step, per eta, and increase, per eta^2: (M, s, s) each."""
    units = _units(problem.dimension + 1)[:, None]
    moments = np.repeat(units, problem.clients, axis=1)
    crossed, squares = compute_step_moments(problem.oracle.prepare(len(units)), problem.gradient_maps, moments)
    first, second = np.zeros_like(moments), np.zeros_like(moments)
    first[..., 1:, :] += crossed
    first[..., 1:] += crossed.swapaxes(-1, -2)
    second[..., 1:, 1:] = squares
    return tuple(np.stack([_as_map(images) for images in each.swapaxes(0, 1)]) for each in (first, second))


def _as_map(images: Array) -> Array:
    """The map (s, s) from what it makes of the units, (s, size, size)."""
    rows, columns = np.triu_indices(images.shape[-1])
    return images[:, rows, columns].T
