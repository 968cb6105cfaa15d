"""The noise of all local steps of a client as one linear map, for many updates in few dimensions.

The noise of mini-batches depends on the model, and each update of a run with stale models starts from other second
moments.  What local steps add to those beside the mean is linear in them, in floats a matrix over the
s = (d+1)(d+2)/2 entries on and above the diagonal: found once, it costs s^2 for a client that reports instead of K
steps over its data.  It sees and gives the symmetric part alone: a mean part that is taken off later would leave
rounding that is not symmetric, and weights above one let that grow.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from fedtheory.arithmetic import Array
from fedtheory.engine.moments.local import Clients, in_one_step, step_maps
from fedtheory.federation import LocalWork
from fedtheory.federation.problem import Problem


@dataclass(frozen=True, eq=False)
class NoiseMaps:
    """What the noise of all their local steps makes of second moments (d+1, d+1), for M clients."""

    size: int
    """d+1."""
    maps: Array
    """(M, s, s)."""

    @classmethod
    def of(cls, problem: Problem, work: LocalWork) -> NoiseMaps:
        """The maps of some local work on a centred problem, in floats."""
        first, second = _step_orders(problem)
        sizes = work.step_sizes[:, None, None]
        all_steps = _powers(np.eye(len(first[0])) - sizes * first + sizes * sizes * second, work.steps)
        means = _powers(step_maps(problem, work), work.steps)
        units = _units(problem.dimension + 1)[:, None]
        return cls(problem.dimension + 1, all_steps - _as_maps(means @ units @ means.swapaxes(-1, -2)))

    @cached_property
    def _places(self) -> tuple[Array, Array]:
        """Rows and columns of the s entries."""
        return np.triu_indices(self.size)

    def noise(self, bases: Array, clients: Clients) -> Array:
        """Covariances (C, d, d) of some clients' noise after all their steps, from `bases` as in `LocalSteps`."""
        rows, columns = self._places
        found = (self.maps[clients] @ bases[..., rows, columns, None])[..., 0]
        moments: Array = np.empty((len(found), self.size, self.size))
        moments[:, rows, columns] = moments[:, columns, rows] = found
        return moments[:, 1:, 1:]


def _units(size: int) -> Array:
    """Symmetric matrices with ones in one place on or above the diagonal, (s, size, size)."""
    rows, columns = np.triu_indices(size)
    units, numbers = np.zeros((len(rows), size, size)), np.arange(len(rows))
    units[numbers, rows, columns] = units[numbers, columns, rows] = 1
    return units


@lru_cache(maxsize=1)
def _step_orders(problem: Problem) -> tuple[Array, Array]:
    """What a step takes off second moments, per eta, and adds to them, per eta^2: (M, s, s) each."""
    units = _units(problem.dimension + 1)[:, None]
    moments = np.repeat(units, problem.clients, axis=1)
    crossed, squares = in_one_step(problem.oracle.prepare(len(units)), problem.gradient_maps, moments)
    first, second = np.zeros_like(moments), np.zeros_like(moments)
    first[..., 1:, :] += crossed
    first[..., 1:] += crossed.swapaxes(-1, -2)
    second[..., 1:, 1:] = squares
    return _as_maps(first), _as_maps(second)


def _as_maps(images: Array) -> Array:
    """Maps (M, s, s) from what clients make of the units, (s, M, size, size)."""
    rows, columns = np.triu_indices(images.shape[-1])
    return np.moveaxis(images[..., rows, columns], 0, -1)


def _powers(maps: Array, counts: tuple[int, ...]) -> Array:
    """The power of each map (M, a, a) by its count."""
    return np.stack([np.linalg.matrix_power(one, count) for one, count in zip(maps, counts, strict=True)])
