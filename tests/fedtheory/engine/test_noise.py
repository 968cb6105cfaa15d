"""Coefficients of the noise of a step in vectors, against explicit maps of all noise."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pytest

from fedtheory.arithmetic import RATIONAL, Array
from fedtheory.engine.frames.noise import NO_NOISE, Covariances, NoiseCoefficients, stack_noises
from fedtheory.engine.vectors import LinearMaps

DIMENSION = 2


@dataclass(frozen=True)
class Both:
    """The noise of a vector, and the same as maps (1 or M, 2, M, d, d) of the noise of all clients."""

    noise: NoiseCoefficients
    dense: Array


def _numbers(generator: np.random.Generator, *shape: int) -> Array:
    return RATIONAL.array(generator.integers(-4, 5, shape).tolist())


class Vectors:
    """Vectors of M clients with random dependencies; `seed` determines the structure, `numbers` the coefficients."""

    def __init__(self, clients: int, seed: int, numbers: int) -> None:
        self._how, self._numbers = np.random.default_rng(seed), np.random.default_rng([seed, numbers])
        self._clients = clients
        # Maps of each client and of all, shared by several vectors.
        self._maps = [LinearMaps(_numbers(self._numbers, each, DIMENSION, DIMENSION)) for each in (clients, clients, 1)]
        roots = _numbers(self._numbers, clients, 2, DIMENSION, DIMENSION)
        self.covariances = roots @ roots.swapaxes(-1, -2)
        self.made = [self._own(kind) for kind in range(2)]
        for _ in range(16):
            self.made.append(self._another())

    def _own(self, kind: int) -> Both:
        dense = RATIONAL.zeros(self._clients, 2, self._clients, DIMENSION, DIMENSION)
        for client in range(self._clients):
            dense[client, kind, client] = RATIONAL.identity(DIMENSION)
        return Both(NoiseCoefficients({(kind, None): RATIONAL.array([1] * self._clients)}), dense)

    def _another(self) -> Both:
        # The last vectors are used, so that steps follow each other.
        one, other = (self.made[-int(back)] for back in self._how.integers(1, 5 if len(self.made) > 4 else 3, 2))
        step = self._how.choice(["sum", "multiple", "map", "map", "mean", "mean"])
        if step == "sum":
            return Both(one.noise + other.noise, one.dense + other.dense)
        if step == "multiple":
            factors = _numbers(self._numbers, self._clients if self._how.integers(2) else 1)
            return Both(one.noise.scale(factors), factors[:, None, None, None, None] * one.dense)
        if step == "map":
            maps = self._maps[int(self._how.integers(3))]
            return Both(one.noise.transform(maps), maps.matrices[:, None, None] @ one.dense)
        weights = _numbers(self._numbers, self._clients)
        mean = (weights[:, None, None, None, None] * one.dense).sum(axis=0, keepdims=True)
        return Both(one.noise.average(weights), mean)

    def pairs(self) -> Iterator[tuple[Both, Both]]:
        """Yield all pairs of vectors, including equal ones."""
        return ((one, other) for one in self.made for other in self.made)

    def dense_inner(self, one: Both, other: Both) -> Array:
        """Return expected inner products of maps of all noise, (1 or M,)."""
        by_kind = self.covariances.swapaxes(0, 1)
        found: Array = ((one.dense @ by_kind) * other.dense).sum(axis=(1, 2, 3, 4))
        return found


@pytest.mark.parametrize("clients", [1, 2, 3])
@pytest.mark.parametrize("seed", range(12))
def test_inner_products_are_those_of_all_maps_written_out(clients: int, seed: int) -> None:
    """Inner products agree for sums, multiples, maps and averages."""
    vectors = Vectors(clients, seed, 0)
    covariances = Covariances(vectors.covariances)
    for one, other in vectors.pairs():
        found = covariances.inner(one.noise, other.noise)
        expected = vectors.dense_inner(one, other)
        assert (np.broadcast_arrays(0 if found is None else found, expected)[0] == expected).all()


@pytest.mark.parametrize("seed", range(6))
def test_joint_places_agree_with_single_ones(seed: int) -> None:
    """Joint computations at three places agree with single ones."""
    places = [Vectors(3, seed, number) for number in range(3)]
    together = Covariances(np.stack([place.covariances for place in places]))
    several = [stack_noises([place.made[n].noise for place in places]) for n in range(len(places[0].made))]
    for n, one in enumerate(several):
        for m, other in enumerate(several):
            found = together.inner(one, other)
            each = [place.dense_inner(place.made[n], place.made[m]) for place in places]
            assert (np.broadcast_arrays(0 if found is None else found, np.stack(each))[0] == np.stack(each)).all()


def test_vectors_without_noise_add_nothing() -> None:
    """A vector without noise has zero inner products with all noise."""
    vectors = Vectors(2, 0, 0)
    covariances = Covariances(vectors.covariances)
    assert covariances.inner(NO_NOISE, NO_NOISE) is None
    assert covariances.inner(NO_NOISE, vectors.made[0].noise) is None
    assert covariances.inner(vectors.made[0].noise, vectors.made[1].noise) is None
