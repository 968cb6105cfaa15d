"""Participation laws: the clients that enter a server update, and their weights.

Expectations depend on a law through ``E[w_i]`` and ``E[w_i w_j]`` alone.  For most laws the second is a diagonal plus a
multiple of the outer product of the first, so that averaging costs no sum over pairs of clients; others add a few outer
products.
"""

from __future__ import annotations

import itertools
import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from flint import fmpq

from fedtheory.arithmetic import RATIONAL, Array, Number, arithmetic_of, plain_float
from fedtheory.errors import InputError, NotApplicable


@dataclass(frozen=True, eq=False)
class WeightMoments:
    """First two moments of the random weights w of one server update."""

    mean: Array
    """E[w_i], (M,)."""
    diagonal: Array
    """The vector (M,) with ``E[w w'] = diag(diagonal) + pairing * mean mean'``, without further directions."""
    pairing: Number
    directions: tuple[tuple[Number, Array], ...] = ()
    """Numbers s and vectors v, (M,): each adds ``s v v'`` to ``E[w w']``."""

    @property
    def squares(self) -> Array:
        """E[w_i^2], (M,)."""
        squares: Array = self.diagonal + self.pairing * self.mean * self.mean
        for scale, vector in self.directions:
            squares = squares + scale * vector * vector
        return squares

    @property
    def is_fixed(self) -> bool:
        """Whether the weights are the same in every round."""
        return bool(self.pairing == 1) and not (self.diagonal != 0).any() and not self.directions


class Participation(ABC):
    """A law of the weights w_i of a round, given the client weights p_i."""

    @abstractmethod
    def moments(self, weights: Array) -> WeightMoments:
        """Return moments of w for the client weights `weights` (M,); raise `InputError` if the law does not fit."""

    @abstractmethod
    def outcomes(self, weights: Array) -> tuple[Array, Array]:
        """Return all values of w: their probabilities (n,), and the weights (n, M)."""

    @abstractmethod
    def count(self, clients: int) -> int:
        """Return the number of clients that a round selects, with repetition."""

    @property
    def of_clients(self) -> Participation:
        """Return the law for single clients, which differs if the problem's clients are types."""
        return self

    def multiplicities(self, clients: int) -> tuple[int, ...]:
        """Return the number of clients that each client of the problem stands for, (M,); one without client types."""
        return (1,) * clients

    def select_single_weights(self, weights: Array) -> Array:
        """Return the weight p_i of one client, (M,), if each client of the problem stands for several equal ones."""
        return weights

    def possibilities(self, _clients: int) -> int:
        """Return the number of values of w."""
        return 1

    def averages(self, _weights: Array) -> bool:
        """Return whether w is always non-negative and sums to one, so that the server averages its participants."""
        return True

    def participants(self, clients: int) -> float:
        """Return the expected number of clients that a round selects, with repetition."""
        return float(self.count(clients))

    def describe(self, clients: int) -> str:
        """Describe the participants among `clients` clients."""
        return f"{self.participants(clients):g} of {clients} clients a round"

    @abstractmethod
    def sample(self, weights: Array, replicas: int, generator: np.random.Generator) -> Array:
        """Return independent samples of w, (replicas, M), floats."""

    @abstractmethod
    def compute_probability_within(self, clients: Sequence[int], weights: Array) -> Number:
        """Return the probability that all participants of a round are among some of the M clients."""

    def round_time(self, times: Sequence[Number], weights: Array) -> Number:
        """Return the expected time of a round, that of its slowest participant, for client times (M,)."""
        slowest_last = sorted(range(len(times)), key=times.__getitem__)
        expected, reached, count = times[0] - times[0], times[0] - times[0], 0
        for time, alike in itertools.groupby(slowest_last, key=times.__getitem__):
            count += sum(1 for _ in alike)
            chance = self.compute_probability_within(slowest_last[:count], weights)
            expected, reached = expected + (chance - reached) * time, chance
        return expected


@dataclass(frozen=True)
class Full(Participation):
    """All clients participate, ``w_i = p_i``."""

    def moments(self, weights: Array) -> WeightMoments:
        return WeightMoments(weights, weights - weights, arithmetic_of(weights).number(1, "one"))

    def count(self, clients: int) -> int:
        return clients

    def outcomes(self, weights: Array) -> tuple[Array, Array]:
        return arithmetic_of(weights).array([1]), weights[None]

    def sample(self, weights: Array, replicas: int, generator: np.random.Generator) -> Array:
        return np.broadcast_to(weights, (replicas, len(weights)))

    def compute_probability_within(self, clients: Sequence[int], weights: Array) -> Number:
        return fmpq(int(len(clients) == len(weights)))


@dataclass(frozen=True)
class Fixed(Participation):
    """The same clients S participate in every round, ``w_i = 1/|S|`` on S and 0 elsewhere."""

    selected: tuple[int, ...]

    def moments(self, weights: Array) -> WeightMoments:
        return Full().moments(self._weights(weights))

    def count(self, clients: int) -> int:
        return len(self.selected)

    def describe(self, clients: int) -> str:
        return f"{super().describe(clients)}, always the same"

    def outcomes(self, weights: Array) -> tuple[Array, Array]:
        return Full().outcomes(self._weights(weights))

    def sample(self, weights: Array, replicas: int, generator: np.random.Generator) -> Array:
        return Full().sample(self._weights(weights), replicas, generator)

    def compute_probability_within(self, clients: Sequence[int], weights: Array) -> Number:
        return fmpq(int(set(self.selected) <= set(clients)))

    def _weights(self, like: Array) -> Array:
        """Return the aggregation weights: 1/m for the m selected clients, 0 for the others."""
        chosen = set(self.selected)
        if not chosen or len(chosen) < len(self.selected) or not chosen <= set(range(len(like))):
            expected = f"expected different client numbers from 0 to {len(like) - 1}, got {list(self.selected)}"
            raise InputError("algorithm.participation.clients", expected)
        weights = like - like
        weights[list(self.selected)] = arithmetic_of(like).number(1, "one") / len(self.selected)
        return weights


@dataclass(frozen=True)
class Uniform(Participation):
    """m of M clients are sampled uniformly without replacement, with ``w_i = p_i M / m``."""

    selected: int

    def moments(self, weights: Array) -> WeightMoments:
        _expect_count(self.selected, len(weights))
        if len(weights) == 1:
            return Full().moments(weights)
        clients, one = len(weights), arithmetic_of(weights).number(1, "one")
        together = one * (self.selected - 1) / (clients - 1)
        pairing = together * clients / self.selected
        return WeightMoments(weights, (one * clients / self.selected - pairing) * weights * weights, pairing)

    def count(self, clients: int) -> int:
        return self.selected

    def describe(self, clients: int) -> str:
        return f"{super().describe(clients)}, drawn uniformly"

    def outcomes(self, weights: Array) -> tuple[Array, Array]:
        (chances, present), *others = self.sets(weights, self.possibilities(len(weights)))
        assert not others
        scale = arithmetic_of(weights).number(len(weights), "M") / self.selected
        return chances, present * scale * weights

    def sets(self, weights: Array, most: int) -> Iterator[tuple[Array, Array]]:
        """Yield all sets of participants in blocks: their probabilities (n,), and indicators (n, M)."""
        _expect_count(self.selected, len(weights))
        clients, arithmetic = len(weights), arithmetic_of(weights)
        chance = arithmetic.number(1, "one") / arithmetic.number(self.possibilities(clients), "subsets")
        subsets = itertools.combinations(range(clients), self.selected)
        while block := list(itertools.islice(subsets, most)):
            present = np.zeros((len(block), clients), dtype=int)
            present[np.arange(len(block))[:, None], np.array(block)] = 1
            yield arithmetic.array([chance] * len(block)), present

    def possibilities(self, clients: int) -> int:
        return math.comb(clients, self.selected)

    def averages(self, weights: Array) -> bool:
        return bool((weights == weights[0]).all()) or self.selected == len(weights)

    def sample(self, weights: Array, replicas: int, generator: np.random.Generator) -> Array:
        _expect_count(self.selected, len(weights))
        clients = len(weights)
        chosen = generator.random((replicas, clients)).argsort(axis=1) < self.selected
        return chosen * weights * clients / self.selected

    def compute_probability_within(self, clients: Sequence[int], weights: Array) -> Number:
        return fmpq(math.comb(len(clients), self.selected), math.comb(len(weights), self.selected))


@dataclass(frozen=True)
class Bernoulli(Participation):
    """Each client participates independently with probability q, with ``w_i = p_i / q``."""

    probability: Number

    def moments(self, weights: Array) -> WeightMoments:
        chance = self._read_probability(weights)
        one = arithmetic_of(weights).number(1, "one")
        return WeightMoments(weights, (one / chance - 1) * weights * weights, one)

    def count(self, clients: int) -> int:
        raise NotApplicable(
            f"each of {clients} clients participates with a probability: the number of participants is random"
        )

    def participants(self, clients: int) -> float:
        return clients * plain_float(self.probability)

    def outcomes(self, weights: Array) -> tuple[Array, Array]:
        (chances, present), *others = self.sets(weights, self.possibilities(len(weights)))
        assert not others
        return chances, present * weights / self._read_probability(weights)

    def sets(self, weights: Array, most: int) -> Iterator[tuple[Array, Array]]:
        """Yield all sets of participants in blocks: their probabilities (n,), and indicators (n, M)."""
        clients, chance = len(weights), self._read_probability(weights)
        one = arithmetic_of(weights).number(1, "one")
        by_size = arithmetic_of(weights).array(
            [chance**k * (one - chance) ** (clients - k) for k in range(clients + 1)]
        )
        for first in range(0, 2**clients, most):
            numbers = np.arange(first, min(first + most, 2**clients))
            present = (numbers[:, None] >> np.arange(clients)) & 1
            yield by_size[present.sum(axis=1)], present

    def possibilities(self, clients: int) -> int:
        return 1 << clients

    def averages(self, _weights: Array) -> bool:
        return bool(self.probability == 1)

    def describe(self, clients: int) -> str:
        return f"each of {clients} clients with probability {plain_float(self.probability):g}"

    def sample(self, weights: Array, replicas: int, generator: np.random.Generator) -> Array:
        chance = plain_float(self.probability)
        return (generator.random((replicas, len(weights))) < chance) * weights / chance

    def compute_probability_within(self, clients: Sequence[int], weights: Array) -> Number:
        chance = self._read_probability(RATIONAL.array(weights))
        return (1 - chance) ** (len(weights) - len(clients))

    def _read_probability(self, weights: Array) -> Number:
        """Return the probability of participation, which must be in (0, 1]."""
        if not 0 < self.probability <= 1:
            given = f"expected a number above 0 and at most 1, got {plain_float(self.probability):g}"
            raise InputError("algorithm.participation.probability", given)
        return arithmetic_of(weights).number(self.probability, "algorithm.participation.probability")


@dataclass(frozen=True)
class Multinomial(Participation):
    """m clients are sampled with replacement with probabilities p_i, ``w_i = count_i / m``."""

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

    def describe(self, clients: int) -> str:
        return f"{super().describe(clients)}, drawn with replacement"

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

    def compute_probability_within(self, clients: Sequence[int], weights: Array) -> Number:
        # Float weights do not sum to one exactly.
        exact = RATIONAL.array(weights)
        return (exact[list(clients)].sum() / exact.sum()) ** self.selected


_MOST_DRAWS = 10_000
"""Limit on the number of samples with replacement in a round; their probabilities are powers of that order."""


def _expect_count(selected: int, most: int) -> None:
    if not 1 <= selected <= most:
        given = selected if abs(selected) < 10**60 else "a larger one"
        raise InputError("algorithm.participation.clients", f"expected a whole number from 1 to {most}, got {given}")
