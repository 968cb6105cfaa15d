"""Averages over simulated replicas of a run, with their confidence intervals."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fedtheory.arithmetic import Array
from fedtheory.federation import Algorithm
from fedtheory.federation.clock import Update


@dataclass(frozen=True, eq=False)
class ReplicaMeans:
    """Averages over replicas with their confidence intervals, one for each server update n = 0 .. T."""

    mean: Array
    low: Array
    high: Array
    standard_error: Array
    replicas: int
    confidence: float


def sample_weights(
    algorithm: Algorithm, update: Update, importance: Array, replicas: int, generator: np.random.Generator
) -> Array:
    """Return weights w_i(n) of one update in every replica, (replicas, M)."""
    if not algorithm.clock.is_synchronous:
        return np.tile(algorithm.expected_weights(update, importance), (replicas, 1))
    aggregation = algorithm.aggregation
    return aggregation.participation.sample(aggregation.weights(importance), replicas, generator)


def estimate_of(values: Array, confidence: float) -> ReplicaMeans:
    """Return averages of independent samples (T+1, replicas), with Student's interval for each row."""
    from scipy.stats import t as student

    replicas = values.shape[1]
    mean, error = values.mean(axis=1), values.std(axis=1, ddof=1) / np.sqrt(replicas)
    reach = student.ppf((1 + confidence) / 2, replicas - 1)
    return ReplicaMeans(mean, mean - reach * error, mean + reach * error, error, replicas, confidence)
