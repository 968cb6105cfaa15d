"""A deterministic run in floats: its models are their own expectations, and no second moment is needed.

The model after n rounds is a point z^n = (1, x^n - c), and a form in it costs d^2 operations instead of the d^3 of
its second moment z z'.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import islice

import numpy as np

from fedtheory.arithmetic import Array
from fedtheory.engine.moments.local import EVERYONE, Clients, compute_step_maps
from fedtheory.engine.moments.steady_trajectory import SteadyTrajectory
from fedtheory.federation import Algorithm
from fedtheory.federation.oracles import ExactOracle
from fedtheory.federation.problem import Problem

_FEWEST = 32
"""Dimension below which second moments cost little."""
_MOST = 10**8
"""Limit on the stored numbers of the models of all rounds."""


def has_points(problem: Problem, algorithm: Algorithm) -> bool:
    """Return whether to store models: no gradient noise, a large dimension, and few rounds."""
    numbers = (algorithm.rounds + 1) * (problem.dimension + 1)
    return isinstance(problem.oracle, ExactOracle) and problem.dimension >= _FEWEST and numbers <= _MOST


class QuietTrajectory(SteadyTrajectory):
    """The models of a deterministic run."""

    points: Array
    """z^n, (T+1, d+1)."""

    def _run(self) -> None:
        """Compute the deterministic models until they overflow."""
        size = self.problem.dimension
        points = np.empty((self.algorithm.rounds + 1, size + 1))
        points[0] = np.concatenate([[1.0], self.problem.centred.start])
        for n in range(self.algorithm.rounds):
            points[n + 1] = self.recursion.round_map @ points[n]
        overflowing = np.flatnonzero(~self._fits((points[1:] * points[1:]).max(axis=1)))
        self.completed = int(overflowing[0]) if len(overflowing) else self.algorithm.rounds
        self.points = points[: self.completed + 1]

    @cached_property
    def moments(self) -> Array:
        return self.points[:, :, None] * self.points[:, None, :]

    @cached_property
    def _last(self) -> Array:
        return np.outer(self.points[-1], self.points[-1])

    @cached_property
    def _before_last(self) -> Array:
        return np.outer(self.points[-2], self.points[-2])

    @cached_property
    def _mean_moment(self) -> Array:
        begun = self.points[:-1]
        return np.asarray((begun.T @ begun)[None] / self.algorithm.rounds)

    @cached_property
    def server_mean(self) -> Array:
        return np.asarray(self.points[:, 1:] + self.problem.centre)

    def _measure_form(self, form: Array) -> Array:
        return _evaluate_form(form, self.points)

    def _measure_square(self, form: Array) -> Array:
        return _evaluate_form(form, self.points[:, 1:])

    @cached_property
    def _distances_sq(self) -> Array:
        return np.asarray((self.points[:, 1:] ** 2).sum(axis=1))

    def _measure_average_iterate(self, form: Array) -> Array:
        return np.stack([_evaluate_form(form, average) for average, _ in self._follow_iterates()], axis=1)

    def _follow_iterates(self) -> Iterator[tuple[Array, Array]]:
        """Yield the averaged iterates (T, d+1) and those of all clients (M, T, d+1) after k = 0 .. K local steps."""
        maps, begun = compute_step_maps(self.recursion.centred, self.recursion.work), self.points[:-1]
        iterates = np.broadcast_to(begun, (len(maps), *begun.shape))
        transposed, weights = maps.transpose(0, 2, 1), self.problem.weights
        for k in range(max(self.algorithm.work.steps) + 1):
            yield np.tensordot(weights, iterates, axes=1), iterates
            if k < max(self.algorithm.work.steps):
                iterates = iterates @ transposed

    @cached_property
    def last_local_suboptimality(self) -> Array:
        last: Array = self.local_suboptimality[-1]
        return last

    def _average_over_time(self, form: Array) -> Array:
        return np.asarray(self._measure_average_iterate(form).sum(axis=0) / self.algorithm.rounds)

    @cached_property
    def drift(self) -> Array:
        self._require_listable()
        return np.stack([((each - average) ** 2).sum(axis=-1).T for average, each in self._follow_iterates()], axis=1)

    @cached_property
    def mean_drift(self) -> Array:
        squares = [((each - average) ** 2).sum(axis=(-2, -1)) for average, each in self._follow_iterates()]
        return np.stack(squares) / self.algorithm.rounds

    def mean_difference_sq(self, factors: Array) -> Array:
        weights = factors - factors.sum() * self.problem.weights
        sums = [np.tensordot(weights, each, axes=1) for _, each in self._follow_iterates()]
        squares = np.stack([(each * each).sum(axis=-1) for each in sums], axis=1)
        return np.asarray(squares.sum(axis=0) / self.algorithm.rounds)

    def _list_blocks(self) -> Iterable[Clients]:
        # The iterates of all clients are found together.
        return [EVERYONE]

    def _iterate_second_moments(self, forms: Array, clients: Clients) -> Iterator[Array]:
        steps = np.array(self.algorithm.work.steps)
        for k, (_, iterates) in enumerate(islice(self._follow_iterates(), int(steps.max()))):
            values = ((iterates @ forms) * iterates).sum(axis=-1).T
            yield np.where(steps > k, values, 0.0)[:, clients]

    def _is_for_virtual_moments(self, _forms: Array) -> bool:
        return False

    def evaluate_at_virtual_iterates(self, forms: Sequence[Array] | Array) -> Array:
        step, mean = self.recursion.server_step_size, self.recursion.participation.mean
        by_step = []
        for _, iterates in self._follow_iterates():
            moved = np.tensordot(mean, iterates - self.points[:-1], axes=1)
            points = self.points[:-1] + step * moved
            by_step.append(np.stack([_evaluate_form(form, points) for form in forms], axis=1))
        return np.stack(by_step, axis=1)


def _evaluate_form(form: Array, points: Array) -> Array:
    """Return ``z' form z`` at points (N, a), (N,)."""
    return np.asarray(((points @ form) * points).sum(axis=1))
