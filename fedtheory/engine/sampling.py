"""Monte-Carlo simulation: an independent cross-check of the exact engine.

Replicas of the run are simulated side by side as arrays.  No moments,
maps or closed forms are used: only gradients and noise samples.  Every estimate
has a confidence interval.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from fedtheory.arithmetic import Array
from fedtheory.federation import Algorithm
from fedtheory.federation.clock import Update
from fedtheory.federation.problem import Problem

Measure = Callable[[Array], Array]
"""Function from the models of all replicas, (replicas, d), to one number for each, (replicas,)."""


@dataclass(frozen=True, eq=False)
class ReplicaMeans:
    """Averages over replicas with their confidence intervals, one for each server update n = 0 .. T."""

    mean: Array
    low: Array
    high: Array
    standard_error: Array
    replicas: int
    confidence: float


def models(problem: Problem, algorithm: Algorithm, replicas: int, seed: int) -> Iterator[Array]:
    """Yield the server's model x^n of every replica, (replicas, d), for n = 0 .. T, in floats."""
    algorithm.require_update_rule("only paths of the update rule are sampled")
    problem, algorithm = problem.as_floats(), algorithm.as_floats()
    generator = np.random.default_rng(seed)
    model = np.tile(problem.start, (replicas, 1))
    received = np.repeat(model[:, None, :], problem.clients, axis=1)
    yield model
    for update in algorithm.updates():
        weights = sample_weights(algorithm, update, problem.weights, replicas, generator)
        displacement = _take_local_steps(problem, algorithm, received, generator) - received
        change = np.einsum("rm,rmd->rd", weights, displacement)
        model = model + algorithm.aggregation.server_step_size * change
        received[:, list(update.receivers)] = model[:, None, :]
        yield model


def sample_weights(
    algorithm: Algorithm, update: Update, importance: Array, replicas: int, generator: np.random.Generator
) -> Array:
    """Return weights w_i(n) of one update in every replica, (replicas, M)."""
    if not algorithm.clock.is_synchronous:
        return np.tile(algorithm.expected_weights(update, importance), (replicas, 1))
    aggregation = algorithm.aggregation
    return aggregation.participation.sample(aggregation.weights(importance), replicas, generator)


def _take_local_steps(problem: Problem, algorithm: Algorithm, received: Array, generator: np.random.Generator) -> Array:
    """Return final local models of all clients, (replicas, M, d), from the models that they received.

    A client that does not report yet samples new noise in the next update, because its work had no effect so far.
    """
    points = received
    counts, sizes = np.array(algorithm.work.steps), algorithm.work.step_sizes
    for k in range(counts.max()):
        gradients = _compute_gradients(problem, points) + problem.oracle.sample(points, generator)
        active = np.where(counts > k, sizes, 0.0)
        points = points - active[:, None] * gradients
    return points


def _compute_gradients(problem: Problem, points: Array) -> Array:
    """Return gradients of F_i at points (replicas, M, d), with one matrix product for each client."""
    by_client = points.transpose(1, 0, 2) @ problem.hessians
    return by_client.transpose(1, 0, 2) - problem.linear


def estimate_expectations(
    problem: Problem,
    algorithm: Algorithm,
    measures: Sequence[Measure],
    *,
    replicas: int,
    seed: int,
    confidence: float = 0.99,
) -> list[ReplicaMeans]:
    """Estimate ``E measure(x^n)`` for n = 0 .. T and several measures on the same replicas.

    Each n has an interval of its own, by Student's distribution.
    """
    values = np.array(
        [[measure(model) for measure in measures] for model in models(problem, algorithm, replicas, seed)]
    )
    return [estimate_of(each, confidence) for each in values.transpose(1, 0, 2)]


def estimate_of(values: Array, confidence: float) -> ReplicaMeans:
    """Return averages of independent samples (T+1, replicas), with Student's interval for each row."""
    # `scipy.stats` has the same quantiles, but takes half a second to import.
    from scipy.special import stdtrit

    replicas = values.shape[1]
    mean, error = values.mean(axis=1), values.std(axis=1, ddof=1) / np.sqrt(replicas)
    reach = stdtrit(replicas - 1, (1 + confidence) / 2)
    return ReplicaMeans(mean, mean - reach * error, mean + reach * error, error, replicas, confidence)


def suboptimality(problem: Problem) -> Measure:
    """Return ``F(x) - F*`` of models (replicas, d), for `estimates`."""
    floats = problem.as_floats()

    def measure(models: Array) -> Array:
        deviations = models - floats.optimum
        return np.asarray(((deviations @ floats.about_optimum.hessian) * deviations).sum(axis=-1) / 2)

    return measure


def loss(problem: Problem) -> Measure:
    """Return ``F(x)`` of models (replicas, d), for `estimates`."""
    above, optimal_value = suboptimality(problem), problem.as_floats().optimal_value
    return lambda models: above(models) + optimal_value
