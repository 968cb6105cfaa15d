"""Participation moments of a round: joint moments of participation and weights, for algorithms with client states.

For client i, w_i is its weight in the server's sums and b_i is one if it participates,
else zero.  An algorithm whose clients keep vectors needs the expectations of w_i, b_i and of
their products, for one client and for two different ones.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import singledispatch
from typing import Literal

import numpy as np

from fedtheory.arithmetic import Array, Number, arithmetic_of
from fedtheory.federation.client_types import InTypes
from fedtheory.federation.normalised_weights import Normalised
from fedtheory.federation.participation import Bernoulli, Fixed, Full, Multinomial, Participation, Uniform

Factor = Literal["weight", "presence", "one"]
"""Factor of a client's vector: w_i, b_i or 1."""
_FACTORS: tuple[Factor, ...] = ("weight", "presence", "one")


@dataclass(frozen=True, eq=False)
class ParticipationMoments:
    """Expectations of the weight w_i, of the participation b_i (1 or 0), of 1, and of their products."""

    is_fixed: bool
    """Whether the same clients participate in every round, with the same weights."""
    means: dict[Factor, Array]
    """Expectation of each factor, (M,)."""
    squares: dict[frozenset[Factor], Array]
    """Expected products of two factors of one client, (M,) each."""
    products: Callable[[Factor, Factor, list[int]], Array]
    """Expected products of factors of two different clients of the given classes, (C, C)."""

    def select_clients(self, clients: list[int]) -> ParticipationMoments:
        """Return the moments of some of the clients, in that order."""
        means: dict[Factor, Array] = {factor: values[clients] for factor, values in self.means.items()}
        squares = {pair: values[clients] for pair, values in self.squares.items()}
        return ParticipationMoments(
            self.is_fixed, means, squares, lambda a, b, some: self.products(a, b, [clients[c] for c in some])
        )

    def pairs(self, one: Factor, other: Factor) -> Array:
        """Return the expected product of a factor of client i with one of a different client j, (M, M)."""
        return self.products(one, other, list(range(len(self.means["one"]))))


@singledispatch
def compute_participation_moments(law: Participation, weights: Array) -> ParticipationMoments:
    """Return the joint moments of a law for aggregation weights d_i, (M,)."""
    raise TypeError(f"no joint moments of {type(law).__name__} for {len(weights)} clients")


@compute_participation_moments.register
def _(law: Full, weights: Array) -> ParticipationMoments:
    del law
    return _build_fixed_moments(weights, _create_ones(weights))


@compute_participation_moments.register
def _(law: Fixed, weights: Array) -> ParticipationMoments:
    presence = weights - weights
    presence[list(law.selected)] = _create_ones(weights)[list(law.selected)]
    return _build_fixed_moments(law.moments(weights).mean, presence)


@compute_participation_moments.register
def _(law: Uniform, weights: Array) -> ParticipationMoments:
    if len(weights) == law.selected:
        return compute_participation_moments(Full(), weights)
    law.moments(weights)
    one, clients = _create_ones(weights), len(weights)
    share = one * law.selected / clients
    return _scale_presence(weights, share, share[0] * (law.selected - 1) / (clients - 1))


@compute_participation_moments.register
def _(law: Bernoulli, weights: Array) -> ParticipationMoments:
    one = _create_ones(weights)
    share = one * arithmetic_of(weights).number(law.probability, "probability")
    return _scale_presence(weights, share, share[0] * share[0])


def _scale_presence(weights: Array, share: Array, together: Number) -> ParticipationMoments:
    """Return the moments if weights are multiples of b_i.

    `share` (M,) are the probabilities of one client, `together` is that of two different ones.
    """
    one = _create_ones(weights)
    scales: dict[Factor, Array] = {"weight": weights / share, "presence": one}

    def products(left: Factor, right: Factor, some: list[int]) -> Array:
        known = [(scales[f][some], True) if f in scales else (one[some], False) for f in (left, right)]
        (a, first), (b, second) = known
        chance = together if first and second else share[0] if first or second else one[0]
        return np.asarray(np.multiply.outer(a, b) * chance)

    return _build_random_moments(weights, share, weights * weights / share, products)


@compute_participation_moments.register
def _(law: Normalised, weights: Array) -> ParticipationMoments:
    chances, drawn = law.outcomes(weights)
    present = (drawn != 0).astype(int) + weights - weights
    factors: dict[Factor, Array] = {
        "weight": drawn,
        "presence": present,
        "one": present - present + _create_ones(weights),
    }
    carried = {factor: chances[:, None] * values for factor, values in factors.items()}
    # Two clients of one class have the same weight; in a class of one client, no pair is needed.
    other = [next((j for j, w in enumerate(weights) if j != i and w == weights[i]), i) for i in range(len(weights))]

    def products(left: Factor, right: Factor, some: list[int]) -> Array:
        found = carried[left][:, some].T @ factors[right][:, some]
        alike = [other[client] for client in some]
        found[np.diag_indices(len(some))] = (carried[left][:, some] * factors[right][:, alike]).sum(axis=0)
        return np.asarray(found)

    means: dict[Factor, Array] = {factor: values.sum(axis=0) for factor, values in carried.items()}
    squares = {frozenset({a, b}): (carried[a] * factors[b]).sum(axis=0) for a in _FACTORS for b in _FACTORS}
    return ParticipationMoments(False, means, squares, products)


@compute_participation_moments.register
def _(law: Multinomial, weights: Array) -> ParticipationMoments:
    moments, one, draws = law.moments(weights), _create_ones(weights), law.selected
    if len(weights) == 1:
        return compute_participation_moments(Full(), weights)
    presence = one - (one - weights) ** draws

    def products(left: Factor, right: Factor, some: list[int]) -> Array:
        p, q, unit = weights[some][:, None], weights[some][None, :], one[some][:, None] * one[some][None, :]
        known: dict[tuple[Factor, Factor], Callable[[], Array]] = {
            ("weight", "weight"): lambda: moments.pairing * p * q,
            ("weight", "presence"): lambda: p * (unit - (unit - q * unit) ** (draws - 1)),
            ("presence", "presence"): lambda: (
                unit - (unit - p) ** draws - (unit - q) ** draws + _take_positive_part(unit - p - q) ** draws
            ),
            ("weight", "one"): lambda: p * unit,
            ("presence", "one"): lambda: presence[some][:, None] * unit,
            ("one", "one"): lambda: unit,
        }
        return known[left, right]() if (left, right) in known else known[right, left]().T

    return _build_random_moments(weights, presence, moments.squares, products)


@compute_participation_moments.register
def _(law: InTypes, weights: Array) -> ParticipationMoments:
    """Return joint moments of one client of each type, and of two different ones of each pair of types."""
    first = np.cumsum((0, *law.counts[:-1]))
    return compute_participation_moments(law.law, law.expand_to_clients(weights)).select_clients(first.tolist())


def compute_report_moments(weights: Array, reports: Sequence[int]) -> ParticipationMoments:
    """Return the participation moments of an update in which some clients report, for weights d_i, (M,)."""
    presence = weights - weights
    presence[list(reports)] = _create_ones(weights)[list(reports)]
    return _build_fixed_moments(weights * presence, presence)


def _take_positive_part(values: Array) -> Array:
    """Return values, with negative ones set to zero: a client forms no pair with itself."""
    return np.where(values > 0, values, values - values)


def _create_ones(weights: Array) -> Array:
    return arithmetic_of(weights).array([1] * len(weights))


def _build_random_moments(
    weights: Array, presence: Array, squares: Array, products: Callable[[Factor, Factor, list[int]], Array]
) -> ParticipationMoments:
    """Build participation moments from E w_i, E b_i and E w_i^2, (M,) each; b_i = b_i^2 and w_i = w_i b_i."""
    means: dict[Factor, Array] = {"weight": weights, "presence": presence, "one": _create_ones(weights)}
    found: dict[frozenset[Factor], Array] = {frozenset({factor, "one"}): mean for factor, mean in means.items()}
    found[frozenset({"weight"})] = squares
    found[frozenset({"presence"})] = presence
    found[frozenset({"weight", "presence"})] = weights
    return ParticipationMoments(False, means, found, products)


def _build_fixed_moments(weights: Array, presence: Array) -> ParticipationMoments:
    means: dict[Factor, Array] = {"weight": weights, "presence": presence, "one": _create_ones(weights)}
    squares = {frozenset({a, b}): means[a] * means[b] for a in _FACTORS for b in _FACTORS}
    return ParticipationMoments(
        True, means, squares, lambda a, b, some: np.multiply.outer(means[a][some], means[b][some])
    )
