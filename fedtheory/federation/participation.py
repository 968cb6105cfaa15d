"""Participation laws: which clients enter a server update, and with what weights.

A law enters expectations through ``E[w_i]`` and ``E[w_i w_j]`` alone.  For every
law here the second is a diagonal plus a multiple of the outer product of the
first, so averaging over it costs no sum over pairs of clients.
"""

from __future__ import annotations

import itertools
import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from flint import fmpq

from fedtheory.arithmetic import RATIONAL, Array, Number, arithmetic_of
from fedtheory.errors import InputError


@dataclass(frozen=True, eq=False)
class WeightMoments:
    """First two moments of the random weights w of one server update."""

    mean: Array
    """E[w_i], (M,)."""
    diagonal: Array
    """(M,), so that ``E[w w'] = diag(diagonal) + pairing * mean mean'``."""
    pairing: Number

    @property
    def squares(self) -> Array:
        """E[w_i^2], (M,)."""
        squares: Array = self.diagonal + self.pairing * self.mean * self.mean
        return squares

    @property
    def is_fixed(self) -> bool:
        """Whether the weights are the same in every round."""
        return bool(self.pairing == 1) and not (self.diagonal != 0).any()


class Participation(ABC):
    """A law of the weights w_i of a round, given the clients' importance p_i."""

    @abstractmethod
    def moments(self, weights: Array) -> WeightMoments:
        """Moments of w for the importances `weights` (M,); `InputError` where the law does not fit."""

    @abstractmethod
    def outcomes(self, weights: Array) -> tuple[Array, Array]:
        """All values of w: their probabilities (n,), and the weights (n, M)."""

    @abstractmethod
    def count(self, clients: int) -> int:
        """How many of the clients, counted with repetition, a round selects."""

    def possibilities(self, _clients: int) -> int:
        """How many values w has."""
        return 1

    def averages(self, _weights: Array) -> bool:
        """Whether w is always non-negative and sums to one, so that the server averages its participants."""
        return True

    def in_words(self, clients: int) -> str:
        """Who takes part, of so many clients."""
        return f"{self.count(clients)} of {clients} clients a round"

    @abstractmethod
    def sample(self, weights: Array, replicas: int, generator: np.random.Generator) -> Array:
        """Independent draws of w, (replicas, M), floats."""

    @abstractmethod
    def within(self, clients: Sequence[int], weights: Array) -> Number:
        """Probability that all participants of a round are among some of the M clients."""

    def round_time(self, times: Sequence[Number], weights: Array) -> Number:
        """Expected time of a round, that of its slowest participant, for update times (M,)."""
        slowest_last = sorted(range(len(times)), key=times.__getitem__)
        expected, reached = times[0] - times[0], times[0] - times[0]
        for count, client in enumerate(slowest_last, start=1):
            chance = self.within(slowest_last[:count], weights)
            expected, reached = expected + (chance - reached) * times[client], chance
        return expected


@dataclass(frozen=True)
class Full(Participation):
    """Every client, ``w_i = p_i``."""

    def moments(self, weights: Array) -> WeightMoments:
        return WeightMoments(weights, weights - weights, arithmetic_of(weights).number(1, "one"))

    def count(self, clients: int) -> int:
        return clients

    def outcomes(self, weights: Array) -> tuple[Array, Array]:
        return arithmetic_of(weights).array([1]), weights[None]

    def sample(self, weights: Array, replicas: int, generator: np.random.Generator) -> Array:
        return np.broadcast_to(weights, (replicas, len(weights)))

    def within(self, clients: Sequence[int], weights: Array) -> Number:
        return fmpq(int(len(clients) == len(weights)))


@dataclass(frozen=True)
class Fixed(Participation):
    """Always the same clients S, ``w_i = 1/|S|`` on S and 0 elsewhere."""

    selected: tuple[int, ...]

    def moments(self, weights: Array) -> WeightMoments:
        return Full().moments(self._weights(weights))

    def count(self, clients: int) -> int:
        return len(self.selected)

    def in_words(self, clients: int) -> str:
        return f"{super().in_words(clients)}, always the same"

    def outcomes(self, weights: Array) -> tuple[Array, Array]:
        return Full().outcomes(self._weights(weights))

    def sample(self, weights: Array, replicas: int, generator: np.random.Generator) -> Array:
        return Full().sample(self._weights(weights), replicas, generator)

    def within(self, clients: Sequence[int], weights: Array) -> Number:
        return fmpq(int(set(self.selected) <= set(clients)))

    def _weights(self, like: Array) -> Array:
        chosen = set(self.selected)
        if not chosen or len(chosen) < len(self.selected) or not chosen <= set(range(len(like))):
            expected = f"expected different client numbers from 0 to {len(like) - 1}, got {list(self.selected)}"
            raise InputError("algorithm.participation.clients", expected)
        weights = like - like
        weights[list(self.selected)] = arithmetic_of(like).number(1, "one") / len(self.selected)
        return weights


@dataclass(frozen=True)
class Uniform(Participation):
    """m of M clients uniformly without replacement, ``w_i = p_i M / m`` on them."""

    selected: int

    def moments(self, weights: Array) -> WeightMoments:
        self._check(len(weights))
        if len(weights) == 1:
            return Full().moments(weights)
        clients, one = len(weights), arithmetic_of(weights).number(1, "one")
        together = one * (self.selected - 1) / (clients - 1)
        pairing = together * clients / self.selected
        return WeightMoments(weights, (one * clients / self.selected - pairing) * weights * weights, pairing)

    def count(self, clients: int) -> int:
        return self.selected

    def in_words(self, clients: int) -> str:
        return f"{super().in_words(clients)}, drawn uniformly"

    def outcomes(self, weights: Array) -> tuple[Array, Array]:
        self._check(len(weights))
        clients, arithmetic = len(weights), arithmetic_of(weights)
        subsets = list(itertools.combinations(range(clients), self.selected))
        chosen = arithmetic.zeros(len(subsets), clients)
        for row, subset in zip(chosen, subsets, strict=True):
            row[list(subset)] = arithmetic.number(clients, "M") / self.selected
        return arithmetic.array([1] * len(subsets)) / arithmetic.number(len(subsets), "subsets"), chosen * weights

    def possibilities(self, clients: int) -> int:
        return math.comb(clients, self.selected)

    def averages(self, weights: Array) -> bool:
        return bool((weights == weights[0]).all()) or self.selected == len(weights)

    def sample(self, weights: Array, replicas: int, generator: np.random.Generator) -> Array:
        self._check(len(weights))
        clients = len(weights)
        chosen = generator.random((replicas, clients)).argsort(axis=1) < self.selected
        return chosen * weights * clients / self.selected

    def within(self, clients: Sequence[int], weights: Array) -> Number:
        return fmpq(math.comb(len(clients), self.selected), math.comb(len(weights), self.selected))

    def _check(self, clients: int) -> None:
        _expect_count(self.selected, clients)


@dataclass(frozen=True)
class Multinomial(Participation):
    """m draws with replacement with probabilities p_i, ``w_i = count_i / m``."""

    selected: int

    def moments(self, weights: Array) -> WeightMoments:
        _expect_count(self.selected, _MOST_DRAWS)
        if len(weights) == 1:
            return Full().moments(weights)
        one = arithmetic_of(weights).number(1, "one")
        return WeightMoments(weights, weights / self.selected, one * (self.selected - 1) / self.selected)

    def possibilities(self, clients: int) -> int:
        return math.comb(clients + self.selected - 1, self.selected)

    def count(self, clients: int) -> int:
        return self.selected

    def in_words(self, clients: int) -> str:
        return f"{super().in_words(clients)}, drawn with replacement"

    def outcomes(self, weights: Array) -> tuple[Array, Array]:
        _expect_count(self.selected, _MOST_DRAWS)
        clients, arithmetic = len(weights), arithmetic_of(weights)
        draws = list(itertools.combinations_with_replacement(range(clients), self.selected))
        counts = np.stack([np.bincount(draw, minlength=clients) for draw in draws])
        orders = [math.factorial(self.selected) // math.prod(map(math.factorial, row)) for row in counts.tolist()]
        shares = np.prod(weights ** counts.astype(object if weights.dtype == object else int), axis=1)
        return arithmetic.array(orders) * shares, arithmetic.array(counts) / arithmetic.number(self.selected, "m")

    def sample(self, weights: Array, replicas: int, generator: np.random.Generator) -> Array:
        _expect_count(self.selected, _MOST_DRAWS)
        return generator.multinomial(self.selected, weights, size=replicas) / self.selected

    def within(self, clients: Sequence[int], weights: Array) -> Number:
        # Weights that are floats do not sum to one exactly.
        exact = RATIONAL.array(weights)
        return (exact[list(clients)].sum() / exact.sum()) ** self.selected


_MOST_DRAWS = 10_000
"""Draws with replacement in a round: their probabilities are powers of that order, in rationals."""


def _expect_count(selected: int, most: int) -> None:
    if not 1 <= selected <= most:
        given = selected if abs(selected) < 10**60 else "a larger one"
        raise InputError("algorithm.participation.clients", f"expected a whole number from 1 to {most}, got {given}")
