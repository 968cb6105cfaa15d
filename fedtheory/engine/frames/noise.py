"""Coefficients of a local step's noise in vectors, scalars kept apart from maps to save matrix products.

Each client j has two kinds of noise: e_0j in its iterate, and e_1j in its next gradient.  The vector of client i has
terms  c_i A_i e_ki  for its own noise and terms  sum_j c_ij A_i B_j e_kj  for the noises of all clients.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice, product
from typing import Any, TypeVar

import numpy as np

from fedtheory.arithmetic import Array
from fedtheory.engine.memo import Memo
from fedtheory.engine.vectors import LinearMaps

Maps = LinearMaps | None
"""Maps of each client, or one map for all; None stands for the identity."""
Own = tuple[int, Maps]
"""The kind k of a noise, and A."""
Shared = tuple[int, Maps, Maps]
"""The kind k of the noises, A and B."""
Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True, eq=False)
class NoiseCoefficients:
    """Coefficients of a step's noise in vectors, one for each client or one for all."""

    own: Mapping[Own, Array] = field(default_factory=dict)
    """c_i, (..., M), for each client's own noise."""
    shared: Mapping[Shared, Array] = field(default_factory=dict)
    """c_ij, (..., 1 or M, M), for the noises of all clients."""

    def __add__(self, other: NoiseCoefficients) -> NoiseCoefficients:
        return NoiseCoefficients(_merge(self.own, other.own), _merge(self.shared, other.shared))

    def scale(self, factors: Array) -> NoiseCoefficients:
        """Multiply each vector by a factor, (..., 1 or M)."""
        own = {key: factors * c for key, c in self.own.items()}
        return NoiseCoefficients(own, {key: factors[..., None] * c for key, c in self.shared.items()})

    def transform(self, maps: LinearMaps) -> NoiseCoefficients:
        """Apply maps to the vectors."""
        own: dict[Own, Array] = {(kind, maps.compose(a)): c for (kind, a), c in self.own.items()}
        return NoiseCoefficients(own, {(kind, maps.compose(a), b): c for (kind, a, b), c in self.shared.items()})

    def average(self, weights: Array) -> NoiseCoefficients:
        """Return the weighted sum of the vectors, (..., M) weights."""
        own: dict[Shared, Array] = {(kind, None, a): (weights * c)[..., None, :] for (kind, a), c in self.own.items()}
        return NoiseCoefficients(shared=_merge(own, dict(_mix(key, c, weights) for key, c in self.shared.items())))


NO_NOISE = NoiseCoefficients()


def _merge(one: Mapping[Key, Array], other: Mapping[Key, Array]) -> dict[Key, Array]:
    found = dict(one)
    for key, c in other.items():
        found[key] = found[key] + c if key in found else c
    return found


def _mix(key: Shared, c: Array, weights: Array) -> tuple[Shared, Array]:
    """Return the term  sum_ij w_i c_ij A_i B_j e_kj."""
    kind, a, b = key
    each = weights[..., None]
    if a is None or a.matrices.shape[-3] == 1:
        return key, (each * c).sum(axis=-2, keepdims=True)
    if c.shape[-2] == 1:
        return (kind, LinearMaps((each[..., None] * a.matrices).sum(axis=-3, keepdims=True)), b), c
    # The mixture of the clients' maps depends on the noise.
    mixed = (each * c)[..., None, None] * a.matrices[..., None, :, :]
    return (kind, None, LinearMaps(mixed.sum(axis=-4)).compose(b)), c[..., :1, :] * 0 + 1


def stack_noises(noises: Iterable[NoiseCoefficients], *, outcomes: bool = False) -> NoiseCoefficients:
    """Stack the noise of one vector at several places along a new leading axis.

    With `outcomes`, the next axis is for each place's outcomes, of length one if the vector does not depend on them.
    """
    own, shared = zip(*((noise.own, noise.shared) for noise in noises), strict=True)
    return NoiseCoefficients(_stack(own, 1, outcomes), _stack(shared, 2, outcomes))


def _stack(terms: Iterable[Mapping[Key, Array]], axes: int, outcomes: bool) -> dict[Key, Array]:
    found: dict[Key, Array] = {}
    for alike in zip(*(each.items() for each in terms), strict=True):
        keys, coefficients = zip(*alike, strict=True)
        kind, *maps = zip(*keys, strict=True)
        together = [_stack_maps(each, outcomes) for each in maps]
        found[kind[0], *together] = stack_places(coefficients, axes, outcomes)  # type: ignore[index]
    return found


def _stack_maps(maps: tuple[Maps, ...], outcomes: bool) -> Maps:
    """Return the maps of several places as one array of maps."""
    if all(each is maps[0] for each in maps):
        return maps[0]
    return LinearMaps(stack_places([each.matrices for each in maps if each is not None], 3, outcomes))


def stack_places(values: Sequence[Array], axes: int, outcomes: bool) -> Array:
    """Stack arrays of several places along a leading axis, followed by an axis of outcomes on request.

    The arrays have `axes` axes, and a leading one for outcomes if they depend on them.
    """
    stacked = np.stack(values)
    return stacked[:, None] if outcomes and stacked.ndim == axes + 1 else stacked


class Covariances:
    """Covariances of the noises of a place, (..., M, 2, d, d), and expected inner products of the noises."""

    def __init__(self, matrices: Array) -> None:
        self._matrices = matrices
        self._memo = Memo()

    def inner(self, left: NoiseCoefficients, right: NoiseCoefficients) -> Array | None:
        """Return the noise part of expected inner products, (..., 1 or M); None if there is no noise."""
        found = None
        for part in self._iterate_products(left, right):
            found = part if found is None else found + part
        return found

    def _iterate_products(self, left: NoiseCoefficients, right: NoiseCoefficients) -> Iterator[Array]:
        """Yield the inner products of terms; noises of different kinds or clients are uncorrelated."""
        for ((kind, a), c), ((_, b), d) in _pair_terms_of_kinds(left.own, right.own):
            yield c * d * self._expect_products(kind, a, b)
        beside = [(left, right)] if left is right else [(left, right), (right, left)]
        for ((kind, own), c), ((_, a, b), d) in (
            p for one, other in beside for p in _pair_terms(one.own, other.shared)
        ):
            found = c * _select_own_noise(d) * self._expect_products(kind, own, b if a is None else a.compose(b))
            yield 2 * found if left is right else found
        for (key, c), ((_, *maps), d) in _pair_terms_of_kinds(left.shared, right.shared):
            yield (c * d * self._multiply_shared(*key, *maps)).sum(axis=-1)

    def _expect_products(self, kind: int, a: Maps, other: Maps) -> Array:
        """Return E<A_i e_ki, A'_i e_ki>, (..., M)."""
        return self._memo.compute_once(
            (kind, a, other), lambda: _compute_traces(_compute_gram(a, other), self._matrices[..., kind, :, :])
        )

    def _multiply_shared(self, kind: int, a: Maps, b: Maps, other_a: Maps, other_b: Maps) -> Array:
        """Return E<A_i B_j e_kj, A'_i B'_j e_kj>, (..., 1 or M, M)."""
        gram = _compute_gram(a, other_a)
        if gram is None:
            return self._expect_products(kind, b, other_b)[..., None, :]
        key = kind, a, b, other_a, other_b
        return self._memo.compute_once(key, lambda: _sum_products(gram, self._transform_covariance(kind, b, other_b)))

    def _transform_covariance(self, kind: int, b: Maps, other: Maps) -> Array:
        """Return B_j C_kj B'_j', (..., M, d, d)."""

        def transform() -> Array:
            """Multiply the covariance matrices with the maps from both sides."""
            found = self._matrices[..., kind, :, :]
            found = found if b is None else b.matrices @ found
            return found if other is None else found @ other.transposed

        return self._memo.compute_once(("between", kind, b, other), transform)


def _pair_terms(left: Mapping[Any, Array], right: Mapping[Any, Array]) -> Iterator[tuple[Any, Any]]:
    """Yield all pairs of terms whose noises are of one kind."""
    return ((one, other) for one, other in product(left.items(), right.items()) if one[0][0] == other[0][0])


def _pair_terms_of_kinds(left: Mapping[Any, Array], right: Mapping[Any, Array]) -> Iterator[tuple[Any, Any]]:
    """Yield all pairs of terms of one kind; for a vector with itself, unequal pairs once with factor two."""
    if left is not right:
        yield from _pair_terms(left, right)
        return
    for number, (key, c) in enumerate(left.items()):
        yield (key, c), (key, c)
        rest = islice(left.items(), number + 1, None)
        yield from (((key, 2 * c), other) for other in rest if other[0][0] == key[0])


def _compute_gram(a: Maps, other: Maps) -> Array | None:
    """Return A_i' A'_i, (..., 1 or M, d, d); None for the identity."""
    if a is not None:
        return a.gram(other)
    return None if other is None else other.matrices


def _compute_traces(gram: Array | None, covariances: Array) -> Array:
    """Return traces of products of symmetric matrices (..., M, d, d) with maps of each client, (..., M)."""
    products = np.trace(covariances, axis1=-2, axis2=-1) if gram is None else (gram * covariances).sum(axis=(-2, -1))
    return np.asarray(products)


def _sum_products(gram: Array, covariances: Array) -> Array:
    """Return sums over the entries of products, (..., I, M), by one matrix product (I, d*d) @ (d*d, M)."""
    size = covariances.shape[-1] ** 2
    flat = covariances.reshape(*covariances.shape[:-2], size)
    found: Array = gram.reshape(*gram.shape[:-2], size) @ flat.swapaxes(-1, -2)
    return found


def _select_own_noise(shared: Array) -> Array:
    """Select the diagonal (client i, noise i) of numbers (..., 1 or M, M): (..., M)."""
    return shared[..., 0, :] if shared.shape[-2] == 1 else np.diagonal(shared, axis1=-2, axis2=-1)
