"""Clients in types: moments of the weights of a round, added up over the equal clients of each type.

Clients of one type have one objective, one law of noise and the same local work.  Of their weights in a round,
expectations need the sum of their means, of their squares and of their diagonal parts: three numbers a type, however
many clients it has.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
from flint import fmpq

from fedtheory.arithmetic import Arithmetic, Array, Number, arithmetic_of
from fedtheory.errors import NotApplicable
from fedtheory.federation.participation import Participation, WeightMoments

WAY_OUT = "use fewer clients, so that each is followed on its own"


@dataclass(frozen=True, eq=False)
class TypeMoments(WeightMoments):
    """The same for E types: sums over the clients of each, (E,) instead of (M,)."""

    sums_of_squares: Array = field(kw_only=True)
    """``sum_i E[w_i^2]`` over the clients of each type, (E,)."""

    @property
    def squares(self) -> Array:
        return self.sums_of_squares


@dataclass(frozen=True)
class InTypes(Participation):
    """A law for clients in types; its weights are those of all clients of a type together, (E,)."""

    law: Participation
    counts: tuple[int, ...]
    """Number of clients of each type, (E,)."""

    @property
    def clients(self) -> int:
        """M."""
        return sum(self.counts)

    def moments(self, weights: Array) -> TypeMoments:
        return _moments(self.law, self.counts, tuple(weights), arithmetic_of(weights))

    def count(self, _clients: int) -> int:
        return self.law.count(self.clients)

    def participants(self, _clients: int) -> float:
        return self.law.participants(self.clients)

    def possibilities(self, _clients: int) -> int:
        return self.law.possibilities(self.clients)

    def in_words(self, _clients: int) -> str:
        return self.law.in_words(self.clients)

    def averages(self, weights: Array) -> bool:
        return self.law.averages(self._each(weights))

    def outcomes(self, _weights: Array) -> tuple[Array, Array]:
        raise NotApplicable(f"outcomes of a round are listed for single clients, not for types: {WAY_OUT}")

    def sample(self, _weights: Array, _replicas: int, _generator: np.random.Generator) -> Array:
        raise NotApplicable(f"participants are sampled among single clients, not among types: {WAY_OUT}")

    def within(self, clients: Sequence[int], weights: Array) -> Number:
        if len(clients) == len(self.counts):
            return fmpq(1)
        types = np.repeat(np.arange(len(self.counts)), self.counts)
        return self.law.within(np.flatnonzero(np.isin(types, list(clients))).tolist(), self._each(weights))

    def _each(self, weights: Array) -> Array:
        """Weights of each client, (M,)."""
        return each_of(weights, self.counts)


def each_of(weights: Array, counts: tuple[int, ...]) -> Array:
    """Weights of types (E,), which their clients share evenly, (M,)."""
    return np.repeat(weights / arithmetic_of(weights).array(counts), counts)


@lru_cache(maxsize=4)
def _moments(
    law: Participation, counts: tuple[int, ...], weights: tuple[Number, ...], arithmetic: Arithmetic
) -> TypeMoments:
    """Moments of a law over M clients, added up by type; found once for all rounds and step sizes of a run."""
    totals, first = arithmetic.array(list(weights)), np.cumsum((0, *counts[:-1]))
    found = law.moments(each_of(totals, counts))
    numbers = arithmetic.array(list(counts))

    def added(values: Array) -> Array:
        """The sum over the clients of each type, who are treated alike."""
        if (values != np.repeat(values[first], counts)).any():
            raise NotApplicable(f"the law of participation does not treat the clients of a type alike: {WAY_OUT}")
        sums: Array = values[first] * numbers
        return sums

    directions = tuple((scale, added(vector)) for scale, vector in found.directions)
    squares = added(found.squares)
    return TypeMoments(added(found.mean), added(found.diagonal), found.pairing, directions, sums_of_squares=squares)
