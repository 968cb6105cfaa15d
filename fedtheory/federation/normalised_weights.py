"""Weights that are normalised over the participants, as in FedAvg as published (McMahan et al. 2017).

In a round with participants S the weights are ``w_i = p_i / sum_{j in S} p_j`` on S.  Their moments are sums over all
sets S that can be sampled; in floats, moments over many sets are computed as integrals.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from fedtheory.arithmetic import RATIONAL, Arithmetic, Array, Number, arithmetic_of, plain_float
from fedtheory.errors import InputError
from fedtheory.federation.normalised_moments import compute_moments_of_coins, compute_moments_of_draws
from fedtheory.federation.participation import Bernoulli, Full, Participation, Uniform, WeightMoments

_MOST_SETS, _MOST_EXACT_SETS = 2 * 10**6, 10**4
"""Limit on the sets of participants that are listed in floats."""
_AT_ONCE = 2**22
"""Limit on the numbers of weights that are added up together."""


@dataclass(frozen=True)
class Normalised(Participation):
    """The participants of a law, with weights ``w_i = p_i / sum_{j in S} p_j``; all are zero if S is empty."""

    law: Uniform | Bernoulli

    def moments(self, weights: Array) -> WeightMoments:
        if isinstance(self.law, Uniform) and (weights == weights[0]).all():
            return self.law.moments(weights)
        if self.possibilities(len(weights)) > _MOST_EXACT_SETS and weights.dtype != object:
            return _integrate_moments(self.law, tuple(weights))
        self._require_few(weights)
        return _compute_moments(self.law, tuple(weights), arithmetic_of(weights))

    def outcomes(self, weights: Array) -> tuple[Array, Array]:
        self._require_few(weights)
        (chances, present), *others = self.law.sets(weights, _MOST_SETS)
        assert not others
        return chances, _normalise(present, weights)

    def possibilities(self, clients: int) -> int:
        return self.law.possibilities(clients)

    def averages(self, _weights: Array) -> bool:
        return isinstance(self.law, Uniform)

    def count(self, clients: int) -> int:
        return self.law.count(clients)

    def participants(self, clients: int) -> float:
        return self.law.participants(clients)

    def describe(self, clients: int) -> str:
        return f"{self.law.describe(clients)}, weights normalised over those present"

    def sample(self, weights: Array, replicas: int, generator: np.random.Generator) -> Array:
        present = self.law.sample(np.ones_like(weights), replicas, generator) > 0
        return _normalise(present, weights)

    def compute_probability_within(self, clients: Sequence[int], weights: Array) -> Number:
        return self.law.compute_probability_within(clients, weights)

    def _require_few(self, weights: Array) -> None:
        """Raise `InputError` for more sets of participants than are enumerated."""
        most = _MOST_EXACT_SETS if weights.dtype == object else _MOST_SETS
        if (count := self.possibilities(len(weights))) > most:
            floats = "--arithmetic float, " if weights.dtype == object else ""
            way_out = f'use {floats}fewer clients, equal shares, or unbiased weights (weights = "unbiased")'
            expected = f"expected at most {most} sets of participants, got {count:.3g}"
            raise InputError("algorithm.participation", f"{expected}: {way_out}")


@lru_cache(maxsize=16)
def _compute_moments(
    law: Uniform | Bernoulli, importances: tuple[Number, ...], arithmetic: Arithmetic
) -> WeightMoments:
    """Return moments of normalised weights, cached for all step sizes of a run."""
    weights, clients = arithmetic.array(list(importances)), len(importances)
    mean, second = weights - weights, arithmetic.zeros(clients, clients)
    for chances, present in law.sets(weights, max(1, _AT_ONCE // clients)):
        drawn = _normalise(present, weights)
        carried = chances[:, None] * drawn
        mean, second = mean + carried.sum(axis=0), second + carried.T @ drawn
    covariance = second - np.multiply.outer(mean, mean)
    return WeightMoments(mean, weights - weights, arithmetic.number(1, "one"), decompose_covariance(covariance))


@lru_cache(maxsize=16)
def _integrate_moments(law: Uniform | Bernoulli, importances: tuple[float, ...]) -> WeightMoments:
    """Return moments of normalised weights of many clients, in floats, by integrals."""
    weights = np.array(importances)
    # Raises `InputError` for invalid numbers of clients or probabilities.
    law.moments(weights)
    if isinstance(law, Uniform):
        mean, second = compute_moments_of_draws(weights, law.selected)
    elif law.probability == 1:
        return Full().moments(weights / weights.sum())
    else:
        mean, second = compute_moments_of_coins(weights, plain_float(law.probability))
    covariance = second - np.multiply.outer(mean, mean)
    return WeightMoments(mean, np.zeros_like(weights), 1.0, decompose_covariance(covariance))


def _normalise(present: Array, weights: Array) -> Array:
    """Return ``p_i / sum_{j in S} p_j`` for each set of participants, (n, M) booleans; zero for empty sets."""
    chosen = present * weights
    totals = chosen.sum(axis=1)
    empty = totals == 0
    return np.asarray(chosen / np.where(empty, totals + 1, totals)[:, None])


def decompose_covariance(covariance: Array) -> tuple[tuple[Number, Array], ...]:
    """Return a covariance (M, M) as ``sum_k s_k v_k v_k'`` with s_k >= 0.

    By eigenvectors in floats, and in rationals by a decomposition into L D L'.
    """
    if covariance.dtype != object:
        scales, vectors = np.linalg.eigh((covariance + covariance.T) / 2)
        kept = scales > 1e-15 * max(scales.max(initial=0.0), 1e-300)
        return tuple((float(s), v) for s, v in zip(scales[kept], vectors.T[kept], strict=True))
    left, found = RATIONAL.array(covariance), []
    for place in range(len(left)):
        pivot = left[place, place]
        if pivot != 0:
            column = left[:, place] / pivot
            found.append((pivot, column))
            left = left - pivot * np.multiply.outer(column, column)
    return tuple(found)
