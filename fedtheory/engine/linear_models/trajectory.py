"""Errors over the rounds of a run on linear models: of the only path, or averages over replicas with intervals."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from fedtheory.arithmetic import Array, squared_norms
from fedtheory.engine.expectations import Divergence, Expectations
from fedtheory.engine.linear_models.replicas import GROUPS, ReplicaRound, follow
from fedtheory.engine.sampling import ReplicaMeans, estimate_of
from fedtheory.errors import NotApplicable
from fedtheory.federation import Algorithm
from fedtheory.federation.linear_models import LinearModelProblem

CONFIDENCE = 0.95


@dataclass(frozen=True, eq=False)
class _Server:
    """Group averages of the server's model over n = 0 .. T, (T+1, G)."""

    means: Array
    """The models themselves, (T+1, G, d)."""
    losses: Array
    gaps: Array
    """E F - F*; not numbers if no minimiser is certified."""
    distances_sq: Array
    gradients_sq: Array
    accuracies: Array | None
    """None for a regression."""


@dataclass(frozen=True, eq=False)
class _Local:
    """Group averages of the averaged iterate over rounds and local steps k = 0 .. K, (T, K+1, G)."""

    gaps: Array
    """E F - F*; not numbers if no minimiser is certified."""
    distances_sq: Array
    gradients_sq: Array
    drift: Array
    """Drift of each client, (T, K+1, G, M)."""
    largest_gradient_sq: Array
    """The largest E|grad F_i(x_i^{n,k})|^2 of each client over its steps, (G, M)."""


class Replicas:
    """Averages over the replicas of a run, in groups; single replicas are not stored."""

    def __init__(self, problem: LinearModelProblem, algorithm: Algorithm, count: int, seed: int) -> None:
        self.problem, self.algorithm, self.count, self.seed = problem, algorithm, count, seed
        self.groups = min(GROUPS, count)

    def rounds(self) -> Iterator[ReplicaRound]:
        """Yield every server update; each call simulates again."""
        return follow(self.problem, self.algorithm, self.count, self.seed)

    def average(self, values: Array) -> Array:
        """Return group averages (G, ...) of values of all replicas (R, ...)."""
        return np.asarray(values.reshape(self.groups, -1, *values.shape[1:]).mean(axis=1))

    @cached_property
    def server(self) -> _Server:
        """The server's models, up to the last round that fits into double precision."""
        start = np.tile(self.problem.centred.start, (self.count, 1))
        measured = [self._measure(start), *(self._measure(each.after) for each in self.rounds())]
        means, values, gaps, distances, slopes, right = (np.stack(column) for column in zip(*measured, strict=True))
        accuracies = right if self.problem.classes is not None else None
        return _Server(means, values, gaps, distances, slopes, accuracies)

    def _measure(self, models: Array) -> tuple[Array, ...]:
        """Return group averages of the server's errors at models (R, d), relative to the centre."""
        centred, average = self.problem.centred, self.average
        values, slopes, right = centred.model.evaluate(centred.row_weights, models)
        gaps = self._measure_gaps(models, values)
        return (average(models), *map(average, (values, gaps, squared_norms(models), squared_norms(slopes), right)))

    def _measure_gaps(self, models: Array, values: Array) -> Array:
        """Return F - F* at models (R, d) with the given values (R,); not numbers if no minimiser is certified."""
        centred = self.problem.centred
        return (
            np.full_like(values, np.nan) if centred.stationary_point is None else centred.gaps_of_values(models, values)
        )

    @cached_property
    def local(self) -> _Local:
        """The averaged iterates; raise `NotApplicable` if clients work on stale models."""
        self.algorithm.require_synchronous("averaged iterates are known in rounds that wait for all clients")
        self.algorithm.require_update_rule("averaged iterates are those of the update rule")
        rows, largest = [], np.zeros((self.groups, self.problem.clients))
        for each in self.rounds():
            rows.append([np.stack(parts) for parts in zip(*map(self._average_groups, each.iterates), strict=True)])
            largest = np.maximum(largest, self._find_largest_gradients(each))
        gaps, distances, slopes, drift = (np.stack(column) for column in zip(*rows, strict=True))
        return _Local(gaps, distances, slopes, drift, largest)

    def _average_groups(self, local: Array) -> tuple[Array, ...]:
        """Return group averages at the iterates of all clients at one step, (R, M, d)."""
        centred, average = self.problem.centred, self.average
        points = np.einsum("m,rmd->rd", self.problem.weights, local)
        drift = squared_norms(local - points[:, None])
        values, slopes, _ = centred.model.evaluate(centred.row_weights, points)
        gaps = self._measure_gaps(points, values)
        return tuple(map(average, (gaps, squared_norms(points), squared_norms(slopes), drift)))

    def _find_largest_gradients(self, each: ReplicaRound) -> Array:
        """Return the largest squared gradient norm of each client in a round, averaged over replicas."""
        steps, found = np.array(self.algorithm.work.steps), np.zeros((self.groups, self.problem.clients))
        for k, gradients in enumerate(each.gradients):
            found = np.where(steps > k, np.maximum(found, self.average(squared_norms(gradients))), found)
        return found


class ReplicaTrajectory(Expectations):
    """Averages over some groups of the replicas of a run, or the values of the only path."""

    def __init__(self, replicas: Replicas, groups: slice = slice(None)) -> None:
        self.problem: LinearModelProblem = replicas.problem
        self.algorithm = replicas.algorithm
        self.replicas, self._groups = replicas, groups
        completed = len(replicas.server.losses) - 1
        is_complete = completed == self.algorithm.rounds
        reason = "the numbers leave double precision: the step size is too large for the ridge"
        self.divergence = None if is_complete else Divergence(completed + 1, reason)

    def chosen_rounds(self) -> Iterator[ReplicaRound]:
        """Yield every server update in the replicas of the chosen groups; each call simulates again."""
        size = self.replicas.count // self.replicas.groups
        first, last, _ = self._groups.indices(self.replicas.groups)
        chosen = slice(first * size, last * size)
        for each in self.replicas.rounds():
            yield each.select_replicas(chosen)

    def average_by_group(self) -> list[ReplicaTrajectory]:
        """Return the averages over the replicas of each group."""
        return [ReplicaTrajectory(self.replicas, slice(g, g + 1)) for g in range(self.replicas.groups)]

    def _average_over_groups(self, values: Array, axis: int = -1) -> Array:
        """Return the average over the groups."""
        chosen = np.moveaxis(values, axis, -1)[..., self._groups]
        return np.asarray(chosen.mean(axis=-1))

    def interval(self, name: str) -> ReplicaMeans:
        """Return ``suboptimality``, ``distance_sq``, ``gradient_sq``, ``loss`` or ``accuracy`` over n = 0 .. T.

        The ends are those of 95 % intervals from averages of independent groups; for a single path, the values
        themselves.
        """
        values = self._measure_replicas(name)
        if values.shape[1] > 1:
            return estimate_of(values, CONFIDENCE)
        return ReplicaMeans(values[:, 0], values[:, 0], values[:, 0], values[:, 0] * 0, 1, CONFIDENCE)

    def _measure_replicas(self, name: str) -> Array:
        """Measure a quantity of the server's models, for each replica."""
        server = self.replicas.server
        if name == "accuracy":
            if server.accuracies is None:
                raise NotApplicable("a regression has no classes: no accuracy is defined")
            return server.accuracies
        if name in ("suboptimality", "distance_sq"):
            _ = self.problem.about_optimum
            return server.gaps if name == "suboptimality" else server.distances_sq
        return {"loss": server.losses, "gradient_sq": server.gradients_sq}[name]

    @cached_property
    def server_loss(self) -> Array:
        """E F(x^n), (T+1,)."""
        return self._average_over_groups(self._measure_replicas("loss"))

    @cached_property
    def server_mean(self) -> Array:
        return self._average_over_groups(self.replicas.server.means, axis=1) + self.problem.centre

    @cached_property
    def server_suboptimality(self) -> Array:
        return self._average_over_groups(self._measure_replicas("suboptimality"))

    @cached_property
    def server_distance_sq(self) -> Array:
        return self._average_over_groups(self._measure_replicas("distance_sq"))

    @cached_property
    def server_gradient_sq(self) -> Array:
        return self._average_over_groups(self._measure_replicas("gradient_sq"))

    @cached_property
    def total_descent(self) -> Any:
        return self.server_loss[0] - self.server_loss[-1]

    @cached_property
    def local_suboptimality(self) -> Array:
        _ = self.problem.about_optimum
        return self._average_over_groups(self.replicas.local.gaps)

    @cached_property
    def local_distance_sq(self) -> Array:
        _ = self.problem.about_optimum
        return self._average_over_groups(self.replicas.local.distances_sq)

    @cached_property
    def local_gradient_sq(self) -> Array:
        return self._average_over_groups(self.replicas.local.gradients_sq)

    @cached_property
    def drift(self) -> Array:
        return self._average_over_groups(self.replicas.local.drift, axis=2)

    def mean_difference_sq(self, factors: Array) -> Array:
        self.algorithm.require_update_rule("averaged iterates are those of the update rule")
        weights = factors - factors.sum() * self.problem.weights
        sums = [
            [self.replicas.average(squared_norms(np.einsum("m,rmd->rd", weights, local))) for local in each.iterates]
            for each in self.replicas.rounds()
        ]
        return np.asarray(self._average_over_groups(np.array(sums)).mean(axis=0))

    @cached_property
    def largest_gradient_sq(self) -> Array:
        """The largest E|g_i(x_i^{n,k})|^2 of each client over the steps that it takes, (M,)."""
        return self._average_over_groups(self.replicas.local.largest_gradient_sq, axis=0)
