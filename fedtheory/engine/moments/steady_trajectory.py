"""The exact expectations of a run in floats whose rounds are all alike: time averages need no loop over rounds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

import numpy as np

from fedtheory.arithmetic import FLOAT, Array
from fedtheory.engine.moments.doubling import ManyRounds, compose_rounds
from fedtheory.engine.moments.equal_rounds import iterate_blocks
from fedtheory.engine.moments.local import embed_covariances
from fedtheory.engine.moments.recursion import Recursion
from fedtheory.engine.moments.server import evaluate_functional
from fedtheory.engine.moments.trajectory import Trajectory
from fedtheory.federation import Algorithm
from fedtheory.federation.problem import Problem

_MOST_KEPT = 2 * 10**7
"""Limit on the stored second moments; for more rounds they are computed again, block by block, on demand."""


class SteadyTrajectory(Trajectory):
    """Second moments of the server's model, computed on demand."""

    def __init__(
        self,
        problem: Problem,
        algorithm: Algorithm,
        recursion: Recursion | None = None,
        many: ManyRounds | None = None,
    ) -> None:
        """Compute the moments after all rounds, unless a batch of runs has computed them: `many`."""
        if many is not None:
            self._after_all_rounds = many
        super().__init__(problem, algorithm, recursion)

    def _run(self) -> None:
        """Compute the moments after many rounds and the number of rounds that fit in the range of floats."""
        noise = self.recursion.round_noise(self.recursion.start)
        step = self.recursion.server_step_size
        self._added = step * step * noise.server_moment
        # Traces of second moments are non-negative: none exceeds that of their sum.
        largest = max(float((self._after_all_rounds.total + self._last).trace()), noise.largest)
        fits = self._fits(np.array(largest))
        self.completed = self.algorithm.rounds if fits else self._count_completed(noise.largest)

    @cached_property
    def _after_all_rounds(self) -> ManyRounds:
        """Return the moments after all rounds."""
        return compose_rounds(self.recursion.round_map, self._added, self.recursion.start, self.algorithm.rounds)

    @cached_property
    def _last(self) -> Array:
        """Return the second moment after the last round."""
        return self._after_all_rounds.apply(self.recursion.start)

    @cached_property
    def _before_last(self) -> Array:
        """The second moment (d+1, d+1) at the start of the last round."""
        start, rounds = self.recursion.start, self.algorithm.rounds - 1
        return compose_rounds(self.recursion.round_map, self._added, start, rounds).apply(start) if rounds else start

    def _count_completed(self, largest_noise: float) -> int:
        """Return the number of rounds whose numbers fit into floats."""
        completed = 0
        for block in self._iterate_blocks(self.algorithm.rounds):
            fits = self._fits(np.maximum(np.abs(block).max(axis=(1, 2)), largest_noise))
            if not fits.all():
                return completed + int(fits.argmin())
            completed += len(block)
        return completed

    def _iterate_blocks(self, rounds: int) -> Iterator[Array]:
        """Yield the second moments after each of this number of rounds, block by block."""
        return iterate_blocks(self.recursion.round_map, self._added, self.recursion.start, rounds)

    @cached_property
    def moments(self) -> Array:
        start = self.recursion.start
        moments: Array = np.empty((self.completed + 1, *start.shape))
        moments[0], first = start, 1
        for block in self._iterate_blocks(self.completed):
            moments[first : first + len(block)] = block
            first += len(block)
        return moments

    def _measure_moments(self, measure: Callable[[Array], Array]) -> Array:
        """Measure all server moments, in blocks if they do not fit in memory."""
        start = self.recursion.start
        is_listed = self.problem.arithmetic is not FLOAT or "moments" in vars(self)
        if is_listed or (self.completed + 1) * start.size <= _MOST_KEPT:
            return super()._measure_moments(measure)
        return np.concatenate([measure(start[None]), *map(measure, self._iterate_blocks(self.completed))])

    @cached_property
    def _mean_moment(self) -> Array:
        """(1/T) sum_{n<T} of the moments, (1, d+1, d+1)."""
        return self._after_all_rounds.total[None] / self.algorithm.rounds

    @cached_property
    def final_mean(self) -> Array:
        mean: Array = self._last[1:, 0] + self.problem.centre
        return mean

    @cached_property
    def last_local_suboptimality(self) -> Array:
        last: Array = (
            self._measure_average_iterate_from(
                embed_covariances(self.problem.about_optimum.hessian), self._before_last[None]
            )[0]
            / 2
        )
        return last

    @cached_property
    def final_suboptimality(self) -> Any:
        return self._measure_suboptimality(self._last[None])

    @cached_property
    def total_descent(self) -> Any:
        return self._measure_descent(self._last)

    @cached_property
    def final_distance_sq(self) -> Any:
        _ = self.problem.about_optimum
        return self._last[1:, 1:].trace()

    @cached_property
    def mean_server_suboptimality(self) -> Any:
        return self._measure_suboptimality(self._mean_moment)

    def _measure_suboptimality(self, moment: Array) -> Any:
        """Return E F - F* of a model with this second moment, (1, d+1, d+1)."""
        form, covariance = self.problem.about_optimum.hessian, moment[:, 1:, 1:]
        distances_sq = covariance.trace(axis1=1, axis2=2)
        return self.problem.require_digits(evaluate_functional(form, covariance) / 2, form, distances_sq)[0]

    @cached_property
    def mean_server_gradient_sq(self) -> Any:
        return evaluate_functional(self.problem.gradient_form, self._mean_moment)[0]

    @cached_property
    def mean_local_suboptimality(self) -> Array:
        _ = self.mean_server_suboptimality
        return self._average_over_time(embed_covariances(self.problem.about_optimum.hessian)) / 2

    @cached_property
    def mean_local_gradient_sq(self) -> Array:
        return self._average_over_time(self.problem.gradient_form)

    def _average_over_time(self, form: Array) -> Array:
        """Return the time average of the form at each step."""
        mean: Array = self._measure_average_iterate_from(form, self._mean_moment)[0]
        return mean

    @cached_property
    def mean_drift(self) -> Array:
        mean: Array = self._measure_drift_from(self._mean_moment)[0]
        return mean

    def mean_difference_sq(self, factors: Array) -> Array:
        mean: Array = self._measure_difference_from(factors, self._mean_moment)[0]
        return mean
