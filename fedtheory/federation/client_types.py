"""Client types: moments of the weights of a round, added up over the equal clients of each type.

Clients of one type have the same objective, noise law and local work.  Expectations need the sums over a type of
the means, the squares and the diagonal parts of their weights: three numbers per type, for any number of
clients.
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
    """Moments of the weights for E types: sums over the clients of each type, (E,) instead of (M,)."""

    sums_of_squares: Array = field(kw_only=True)
    """``sum_i E[w_i^2]`` over the clients of each type, (E,)."""

    @property
    def squares(self) -> Array:
        return self.sums_of_squares


@dataclass(frozen=True)
class InTypes(Participation):
    """A law for client types; its weights are sums over the clients of each type, (E,)."""

    law: Participation
    counts: tuple[int, ...]
    """Number of clients of each type, (E,)."""
    is_uniform: bool = False
    """Whether all clients have equal weight, which rounded weights of types may hide."""

    @property
    def clients(self) -> int:
        """M."""
        return sum(self.counts)

    @property
    def of_clients(self) -> Participation:
        return self.law

    def multiplicities(self, _clients: int) -> tuple[int, ...]:
        return self.counts

    def select_single_weights(self, weights: Array) -> Array:
        arithmetic = arithmetic_of(weights)
        if self.is_uniform:
            return np.repeat(arithmetic.array([1]) / arithmetic.number(self.clients, "M"), len(weights))
        each: Array = weights / arithmetic.array(list(self.counts))
        return each

    def expand_to_clients(self, weights: Array) -> Array:
        """Return the weights of all clients, (M,), from those of types (E,), divided equally among their clients."""
        return np.repeat(self.select_single_weights(weights), self.counts)

    def moments(self, weights: Array) -> TypeMoments:
        return _compute_moments(self, tuple(weights), arithmetic_of(weights))

    def count(self, _clients: int) -> int:
        return self.law.count(self.clients)

    def participants(self, _clients: int) -> float:
        return self.law.participants(self.clients)

    def possibilities(self, _clients: int) -> int:
        return self.law.possibilities(self.clients)

    def describe(self, _clients: int) -> str:
        return self.law.describe(self.clients)

    def averages(self, weights: Array) -> bool:
        return self.law.averages(self.expand_to_clients(weights))

    def outcomes(self, weights: Array) -> tuple[Array, Array]:
        moments = self.moments(weights)
        if not moments.is_fixed:
            raise NotApplicable(f"outcomes of a round are listed for single clients, not for types: {WAY_OUT}")
        return arithmetic_of(weights).array([1]), moments.mean[None]

    def sample(self, weights: Array, replicas: int, _generator: np.random.Generator) -> Array:
        moments = self.moments(weights)
        if not moments.is_fixed:
            raise NotApplicable(f"participants are sampled among single clients, not among types: {WAY_OUT}")
        return np.broadcast_to(moments.mean, (replicas, len(moments.mean)))

    def compute_probability_within(self, clients: Sequence[int], weights: Array) -> Number:
        if len(clients) == len(self.counts):
            return fmpq(1)
        types = np.repeat(np.arange(len(self.counts)), self.counts)
        return self.law.compute_probability_within(
            np.flatnonzero(np.isin(types, list(clients))).tolist(), self.expand_to_clients(weights)
        )


def expand_weights(weights: Array, counts: tuple[int, ...]) -> Array:
    """Divide weights of types (E,) equally among their clients, (M,)."""
    return np.repeat(weights / arithmetic_of(weights).array(counts), counts)


@lru_cache(maxsize=4)
def _compute_moments(law: InTypes, weights: tuple[Number, ...], arithmetic: Arithmetic) -> TypeMoments:
    """Return moments of a law over M clients, added up by type; cached for all rounds and step sizes of a run."""
    totals, counts = arithmetic.array(list(weights)), law.counts
    each, first = law.expand_to_clients(totals), np.cumsum((0, *counts[:-1]))
    found = law.law.moments(each)
    numbers = arithmetic.array(list(counts))

    def sum_over_types(values: Array) -> Array:
        """Return the sum over the clients of each type, which have equal values."""
        if (values != np.repeat(values[first], counts)).any():
            raise NotApplicable(f"the law of participation does not treat the clients of a type alike: {WAY_OUT}")
        sums: Array = values[first] * numbers
        return sums

    directions = tuple((scale, sum_over_types(vector)) for scale, vector in found.directions)
    squares = sum_over_types(found.squares)
    # Adding up single clients' weights again would add rounding errors.
    mean = totals if (found.mean == each).all() else sum_over_types(found.mean)
    return TypeMoments(mean, sum_over_types(found.diagonal), found.pairing, directions, sums_of_squares=squares)
