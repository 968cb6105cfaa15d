"""The exact expectations of a run, as averages over all outcomes of its noise.

Gradients of losses that are not quadratic are not affine, so the recursion of moments
does not close.  With two-point noise a run has finitely many equally likely outcomes:
all are enumerated, and without noise there is only one.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from fedtheory.arithmetic import Array, Number, squared_norms
from fedtheory.arithmetic.enclosures import maximum
from fedtheory.engine.expectations import Expectations, mean_over_rounds
from fedtheory.errors import NotApplicable
from fedtheory.federation import Algorithm
from fedtheory.federation.losses.problem import LossProblem

MOST_OUTCOMES = 1 << 14


@dataclass(frozen=True, eq=False)
class OutcomeRound:
    """One round, over the equally likely outcomes so far; points are relative to x*."""

    server: Array
    """The model at the start of the round, (O, d)."""
    iterates: list[Array]
    """x_i^{n,k} for k = 0 .. K, (O_k, M, d); the outcomes of step k + 1 refine those of step k in order."""
    noises: list[Array]
    """Noise of the clients at step k, (J_k, M, d), ``O_{k+1} = O_k J_k``."""

    def server_at(self, outcomes: int) -> Array:
        """Return the model at the start of the round, repeated for `outcomes` outcomes, (outcomes, d)."""
        return np.repeat(self.server, outcomes // len(self.server), axis=0)


class LossTrajectory(Expectations):
    """The models of every outcome over n = 0 .. T, and quantities that follow from them."""

    def __init__(self, problem: LossProblem, algorithm: Algorithm) -> None:
        self.problem: LossProblem = problem
        self.algorithm = algorithm
        _require_enumerable(problem, algorithm)
        self._weights = algorithm.aggregation.moments(problem.weights).mean
        self.rounds_of_outcomes = self._simulate_rounds()

    def _simulate_rounds(self) -> list[OutcomeRound]:
        """Enumerate the outcomes of every round."""
        rounds, server = [], self.problem.centred.start[None]
        for _ in range(self.algorithm.rounds):
            rounds.append(self._simulate_round(server))
            server = self._aggregate(rounds[-1], -1, self._weights)
        return rounds

    def _simulate_round(self, server: Array) -> OutcomeRound:
        """Compute the local iterates for all outcomes of the noise in a round."""
        clients, work = self.problem.clients, self.algorithm.work
        iterates, noises = [np.repeat(server[:, None], clients, axis=1)], []
        for k in range(max(work.steps)):
            active = np.array(work.steps) > k
            draws = self._list_draws(active)
            sizes = np.where(active, work.step_sizes, work.step_sizes * 0)[:, None]
            moved = iterates[-1] - sizes * self.problem.centred.gradients(iterates[-1])
            noises.append(draws)
            iterates.append((moved[:, None] - sizes * draws).reshape(-1, clients, self.problem.dimension))
        return OutcomeRound(server, iterates, noises)

    def _list_draws(self, active: Array) -> Array:
        """Return the joint noise outcomes of the clients, (J, M, d); clients that have finished have no noise."""
        like = self.problem.arithmetic.zeros(self.problem.clients, self.problem.dimension)
        each = [
            self.problem.oracle.draws(client, like).maps[:, :, 0] if active[client] else like[:1]
            for client in range(self.problem.clients)
        ]
        return np.stack([np.stack(together) for together in itertools.product(*each)])

    def _aggregate(self, at: OutcomeRound, k: int, weights: Array) -> Array:
        """Aggregate k local steps with the weights of a round, (O_k, d)."""
        local = at.iterates[k]
        server = at.server_at(len(local))
        change = (weights[:, None] * (local - server[:, None])).sum(axis=1)
        aggregated: Array = server + self.algorithm.aggregation.server_step_size * change
        return aggregated

    @cached_property
    def _servers(self) -> list[Array]:
        """The server's model for n = 0 .. T, (O, d) each."""
        last = self._aggregate(self.rounds_of_outcomes[-1], -1, self._weights)
        return [*(each.server for each in self.rounds_of_outcomes), last]

    @cached_property
    def _averages(self) -> list[list[Array]]:
        """The averaged iterate of every round and local step k = 0 .. K, (O_k, d) each."""
        weights = self.problem.weights[:, None]
        return [[(weights * local).sum(axis=1) for local in each.iterates] for each in self.rounds_of_outcomes]

    @cached_property
    def virtual_iterates(self) -> list[list[Array]]:
        """theta^{n,k} of fraboni2022, eq. (7), for every round and k = 0 .. K, (O_k, d) each."""
        return [
            [self._aggregate(each, k, self._weights) for k in range(len(each.iterates))]
            for each in self.rounds_of_outcomes
        ]

    @cached_property
    def server_mean(self) -> Array:
        return np.stack([mean(models) for models in self._servers]) + self.problem.optimum

    @cached_property
    def server_suboptimality(self) -> Array:
        return np.stack([mean(self.problem.centred.gaps(models)) for models in self._servers])

    @cached_property
    def total_descent(self) -> Number:
        return self.server_suboptimality[0] - self.server_suboptimality[-1]

    @cached_property
    def server_distance_sq(self) -> Array:
        return np.stack([mean(squared_norms(models)) for models in self._servers])

    @cached_property
    def server_gradient_sq(self) -> Array:
        return np.stack([mean(squared_norms(self.problem.centred.mean_gradients(models))) for models in self._servers])

    @cached_property
    def local_suboptimality(self) -> Array:
        return self._measure_averages(self.problem.centred.gaps)

    @cached_property
    def local_distance_sq(self) -> Array:
        return self._measure_averages(squared_norms)

    @cached_property
    def local_gradient_sq(self) -> Array:
        return self._measure_averages(lambda points: squared_norms(self.problem.centred.mean_gradients(points)))

    def _measure_averages(self, measure: Callable[[Array], Array]) -> Array:
        """Return the expectation of a function of the averaged iterate, (T, K+1)."""
        return np.stack([[mean(measure(points)) for points in each] for each in self._averages])

    @cached_property
    def drift(self) -> Array:
        pairs = zip(self.rounds_of_outcomes, self._averages, strict=True)
        away = (
            [local - points[:, None] for local, points in zip(each.iterates, averages, strict=True)]
            for each, averages in pairs
        )
        return np.stack([[mean(squared_norms(vectors)) for vectors in each] for each in away])

    def mean_difference_sq(self, factors: Array) -> Array:
        weights = (factors - factors.sum() * self.problem.weights)[:, None]
        sums = [[(weights * local).sum(axis=1) for local in each.iterates] for each in self.rounds_of_outcomes]
        return np.asarray(mean_over_rounds(np.stack([[mean(squared_norms(one)) for one in each] for each in sums])))

    @cached_property
    def largest_gradient_sq(self) -> Array:
        """The largest E|grad F_i(x_i^{n,k})|^2 of each client over the steps that it takes, (M,)."""
        steps = np.array(self.algorithm.work.steps)
        found = self.problem.arithmetic.zeros(self.problem.clients)
        for each in self.rounds_of_outcomes:
            for k, local in enumerate(each.iterates[:-1]):
                squares = mean(squared_norms(self.problem.centred.gradients(local)))
                found = np.where(steps > k, maximum(found, squares), found)
        return found


def mean(values: Array) -> Array:
    """Return the average over equally likely outcomes, the first axis."""
    average: Array = values.sum(axis=0) / len(values)
    return average


def _require_enumerable(problem: LossProblem, algorithm: Algorithm) -> None:
    """Raise an error for random weights or too many outcomes, before any of them is built."""
    purpose = "exact expectations of losses that are not quadratic are computed in rounds that wait for all clients"
    algorithm.require_synchronous(purpose)
    if not algorithm.aggregation.moments(problem.weights).is_fixed:
        raise NotApplicable(
            "expected participants that are not sampled for exact expectations of losses that are not quadratic"
        )
    like = problem.arithmetic.zeros(problem.clients, problem.dimension)
    draws = [len(problem.oracle.draws(client, like).probabilities) for client in range(problem.clients)]
    coins = sum(steps for count, steps in zip(draws, algorithm.work.steps, strict=True) if count > 1)
    if math.log2(MOST_OUTCOMES) < coins * algorithm.rounds:
        outcomes = f"the run has 2^{coins * algorithm.rounds} outcomes"
        most = f"more than the 2^{math.log2(MOST_OUTCOMES):.0f} that are enumerated"
        raise NotApplicable(f"{outcomes}, {most}: use fewer clients with noise, local steps or rounds")
