"""Moments of normalised weights by integrals, against lists of all sets and closed forms."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from flint import fmpq

from fedtheory.arithmetic import Array
from fedtheory.errors import InputError
from fedtheory.federation.normalised_moments import compute_moments_of_coins, compute_moments_of_draws
from fedtheory.federation.normalised_weights import Normalised
from fedtheory.federation.participation import Bernoulli, Uniform

WEIGHTS = {
    "alike": np.full(9, 1 / 9),
    "unlike": np.arange(1.0, 10.0) / 45,
    "powers": 10.0 ** -np.arange(9.0),
    "zeros": np.array([0.0, 0.0, 0.0, 0.1, 0.2, 0.3, 0.1, 0.1, 0.2]),
}


def _list_all(weights: Array, chances: dict[tuple[int, ...], float]) -> tuple[Array, Array]:
    """Return first and second moments over a list of sets."""
    first, second = np.zeros(len(weights)), np.zeros((len(weights), len(weights)))
    for present, chance in chances.items():
        drawn = np.zeros(len(weights))
        total = weights[list(present)].sum()
        if total > 0:
            drawn[list(present)] = weights[list(present)] / total
        first, second = first + chance * drawn, second + chance * np.outer(drawn, drawn)
    return first, second


@pytest.mark.parametrize("weights", WEIGHTS.values(), ids=WEIGHTS)
@pytest.mark.parametrize("selected", [1, 2, 5, 8])
def test_draws(weights: Array, selected: int) -> None:
    """Each moment for uniform sampling agrees up to rounding, however small."""
    sets = list(itertools.combinations(range(len(weights)), selected))
    found = compute_moments_of_draws(weights, selected)
    for one, other in zip(found, _list_all(weights, dict.fromkeys(sets, 1 / len(sets))), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-300)


@pytest.mark.parametrize("weights", WEIGHTS.values(), ids=WEIGHTS)
@pytest.mark.parametrize("chance", [0.02, 0.5, 0.97])
def test_coins(weights: Array, chance: float) -> None:
    """Each moment for independent participation agrees up to rounding; an empty round counts as zero."""
    clients = len(weights)
    sets = {
        present: chance**size * (1 - chance) ** (clients - size)
        for size in range(clients + 1)
        for present in itertools.combinations(range(clients), size)
    }
    for one, other in zip(compute_moments_of_coins(weights, chance), _list_all(weights, sets), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-300)


def test_many_clients_of_two_kinds() -> None:
    """For 150 clients of two weights the moments are a sum over the number of heavy participants."""
    half, selected = 75, 20
    weights = np.repeat([1.0, 3.0], half) / (4 * half)
    heavy = [_hypergeometric(count, half, selected) for count in range(selected + 1)]
    first, second = compute_moments_of_draws(weights, selected)
    expected = sum(p * count * 3 / (selected + 2 * count) for count, p in enumerate(heavy)) / half
    assert first[-1] == pytest.approx(expected, rel=1e-12)
    square = sum(p * count * (3 / (selected + 2 * count)) ** 2 for count, p in enumerate(heavy)) / half
    assert second[-1, -1] == pytest.approx(square, rel=1e-12)
    pair = sum(p * count * (selected - count) * 3 / (selected + 2 * count) ** 2 for count, p in enumerate(heavy))
    assert second[0, -1] == pytest.approx(pair / half**2, rel=1e-12)


def _hypergeometric(count: int, half: int, selected: int) -> float:
    from math import comb

    return comb(half, count) * comb(half, selected - count) / comb(2 * half, selected)


@pytest.mark.parametrize("law", [Uniform(10), Bernoulli(fmpq(1, 6))], ids=["draws", "coins"])
def test_a_law_has_them_for_more_sets_than_can_be_listed(law: Uniform | Bernoulli) -> None:
    """A law with too many sets uses the moments of the integrals."""
    weights = np.arange(1.0, 61.0) / 1830
    assert law.possibilities(60) > 2 * 10**6
    found = Normalised(law).moments(weights)
    first, second = (
        compute_moments_of_draws(weights, 10) if isinstance(law, Uniform) else compute_moments_of_coins(weights, 1 / 6)
    )
    whole = np.diag(found.diagonal) + found.pairing * np.outer(found.mean, found.mean)
    for scale, vector in found.directions:
        whole = whole + scale * np.outer(vector, vector)
    np.testing.assert_allclose(found.mean, first, rtol=1e-13)
    np.testing.assert_allclose(whole, second, rtol=0, atol=1e-14 * second.max())


def test_coins_that_always_show_all_clients_fix_the_weights() -> None:
    """Participation probability one gives fixed weights, without a spread by rounding."""
    assert Normalised(Bernoulli(fmpq(1))).moments(np.arange(1.0, 21.0) / 210).is_fixed


@pytest.mark.parametrize("law", [Uniform(61), Bernoulli(fmpq(3, 2))], ids=["draws", "coins"])
def test_laws_that_do_not_fit_many_clients_are_refused(law: Uniform | Bernoulli) -> None:
    """Invalid laws are rejected for many clients like for few."""
    with pytest.raises(InputError, match=r"algorithm\.participation"):
        Normalised(law).moments(np.arange(1.0, 61.0) / 1830)
