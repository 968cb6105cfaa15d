"""Computes runs of equal shape together in floats, with a leading axis over problems and step sizes.

A shape is the number of clients, the dimension, the clients' local steps and the rounds.  All rounds of a run must be
alike.  For R runs of one shape, `local`, `recursion` and `doubling` multiply arrays (R, ...), so that Python's
overhead occurs once per product for all runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from fedtheory.arithmetic import Array
from fedtheory.engine.moments.doubling import ManyRounds, compose_rounds
from fedtheory.engine.moments.local import build_maps_of_steps, embed_covariances
from fedtheory.engine.moments.recursion import Recursion, RoundNoise
from fedtheory.engine.moments.round_maps import RoundMaps
from fedtheory.engine.moments.steady_trajectory import SteadyTrajectory
from fedtheory.federation import Algorithm
from fedtheory.federation.problem import Problem

Setting = tuple[Problem, Algorithm]
Shape = tuple[int, int, tuple[int, ...], int]


def get_shared_shape(setting: Setting) -> Shape:
    """Return the shape shared by the runs of a batch: clients, dimension, local steps of each client, rounds."""
    problem, algorithm = setting
    return problem.clients, problem.dimension, algorithm.work.steps, algorithm.rounds


@dataclass(frozen=True, eq=False)
class Batch:
    """R runs of equal shape in floats; all rounds of a run are alike."""

    settings: Sequence[Setting]

    @cached_property
    def _steps(self) -> tuple[int, ...]:
        """K_i, (M,)."""
        return self.settings[0][1].work.steps

    @cached_property
    def _sizes(self) -> Array:
        """eta_i, (R, M)."""
        return np.stack([algorithm.work.step_sizes for _, algorithm in self.settings])

    @cached_property
    def _one_step(self) -> Array:
        """One local step of each client, (R, M, d+1, d+1)."""
        centred = [problem.centred for problem, _ in self.settings]
        linear, hessians = np.stack([one.linear for one in centred]), np.stack([one.hessians for one in centred])
        return build_maps_of_steps(self._sizes, linear, hessians)

    @cached_property
    def _fresh(self) -> Array:
        """eta_i^2 times the covariance of one step's noise, (R, M, d, d)."""
        none = np.zeros_like(self._one_step[0])
        each = [problem.oracle.covariances(none, none[:, 1:, 1:]) for problem, _ in self.settings]
        fresh: Array = (self._sizes * self._sizes)[..., None, None] * np.stack(each)
        return fresh

    @cached_property
    def _local(self) -> tuple[Array, Array, Array]:
        """sum_i p_i A_i^k (R, K+1, d+1, d+1), A_i^{K_i} (R, M, d+1, d+1), and the last iterate's noise (R, M, d, d)."""
        weights = np.stack([problem.weights for problem, _ in self.settings])
        contraction = self._one_step[..., 1:, 1:]
        maps = np.broadcast_to(np.eye(self._one_step.shape[-1]), self._one_step.shape)
        noise, averages = np.zeros_like(self._fresh), [_average(weights, maps)]
        final, carried = maps.copy(), noise.copy()
        for k in range(max(self._steps)):
            noise = contraction @ noise @ contraction.swapaxes(-1, -2) + self._fresh
            maps = self._one_step @ maps
            averages.append(_average(weights, maps))
            finished = np.array(self._steps) == k + 1
            final[:, finished], carried[:, finished] = maps[:, finished], noise[:, finished]
        return np.stack(averages, axis=1), final, carried

    @cached_property
    def _server(self) -> tuple[Array, Array, Array]:
        """E[w_i] and E[w_i^2], (R, M) each, and eta_g, (R,)."""
        moments = [algorithm.aggregation.moments(problem.weights) for problem, algorithm in self.settings]
        steps = np.array([algorithm.aggregation.server_step_size for _, algorithm in self.settings])
        return np.stack([one.mean for one in moments]), np.stack([one.squares for one in moments]), steps

    @cached_property
    def round_maps(self) -> Array:
        """Mean map of one round, (R, d+1, d+1)."""
        mean, _, step = self._server
        identity = np.eye(self._one_step.shape[-1])
        maps: Array = identity + step[:, None, None] * _average(mean, self._local[1] - identity)
        return maps

    @cached_property
    def noise(self) -> Array:
        """Covariance that the noise of a round adds to the server's model, per eta_g^2, (R, d, d)."""
        return _average(self._server[1], self._local[2])

    @cached_property
    def starts(self) -> Array:
        """Second moments of the start, (R, d+1, d+1)."""
        points = np.stack([np.concatenate([[1.0], problem.centred.start]) for problem, _ in self.settings])
        starts: Array = points[:, :, None] * points[:, None, :]
        return starts

    @cached_property
    def _added(self) -> Array:
        """Return the second moment that noise adds to the server's model in a round, for each run."""
        step = self._server[2]
        added: Array = (step * step)[:, None, None] * embed_covariances(self.noise)
        return added

    @cached_property
    def many(self) -> ManyRounds:
        """The moments after all rounds, for each run."""
        return compose_rounds(self.round_maps, self._added, self.starts, self.settings[0][1].rounds)

    def trajectories(self) -> Iterator[SteadyTrajectory]:
        """Yield the expectations of each run, with all derived quantities."""
        with np.errstate(over="ignore", invalid="ignore"):
            averages, final, carried = self._local
            displacements, many = final - np.eye(final.shape[-1]), self.many
            largest = np.abs(carried).max(axis=(1, 2, 3))
        for r, (problem, algorithm) in enumerate(self.settings):
            maps = RoundMaps(averages[r], self.round_maps[r], displacements[r])
            recursion = Recursion(problem, algorithm, maps, RoundNoise(self.noise[r], float(largest[r])))
            own = ManyRounds(many.rounds, many.power[r], many.added[r], many.total[r])
            yield SteadyTrajectory(problem, algorithm, recursion, own)


def _average(weights: Array, values: Array) -> Array:
    """``sum_i weights[r, i] values[r, i]``, (R, a, a)."""
    mean: Array = np.einsum("rm,rmab->rab", weights, values)
    return mean
