"""Finite distributions of noise and participants have the moments that the engine uses."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import enumeration as brute
import numpy as np
import pytest
from flint import fmpq
from hypothesis import given
from hypothesis import strategies as st
from tiny_runs import data, quadratics

from fedtheory.arithmetic import RATIONAL, Array
from fedtheory.errors import InputError, NotApplicable
from fedtheory.federation import Fixed, Full, Multinomial, Participation, Uniform
from fedtheory.federation.oracles import AdditiveNoise, ExactOracle, MiniBatch, Oracle
from fedtheory.federation.oracles.base import Draws
from fedtheory.federation.problem import Problem

WIDE: tuple[Any, Any] = (
    [[["1/2", 1], [1, 0], [-1, 2]], [[1, 1], ["1/3", 0], [0, 2], [1, 1]], [[2, 1], [0, 1]]],
    [[1, 0, 2], [0, 1, 1, 0], [3, -1]],
)
POINTS = [brute.point(*at) for at in ((0, 0), (1, -2), ("2/7", 5), (-3, "1/11"))]


def _problem(batch: int, replacement: bool, ridge: Any = 0) -> Problem:
    return data(*WIDE, ["3", "-2"], batch=batch, replacement=replacement, ridge=ridge).engine.problem.centred


def _batches(batch: int, replacement: bool, ridge: Any = 0) -> Oracle:
    return _problem(batch, replacement, ridge).oracle


ORACLES: dict[str, Oracle] = {
    "exact": ExactOracle(),
    "rational deviations": AdditiveNoise(RATIONAL.array([4, "9/16", 0])),
    "irrational deviations": AdditiveNoise(RATIONAL.array([2, "1/3", "1000000007"])),
    "tiny and zero": AdditiveNoise(RATIONAL.array(["1/1000000000000000000000000000001", 0, 0])),
    "one with replacement": _batches(1, True),
    "one without": _batches(1, False),
    "two with replacement": _batches(2, True),
    "two without": _batches(2, False),
    "with a ridge": _batches(2, False, ridge="3/5"),
}
LINEAR = RATIONAL.zeros(3, 2)


def _gradient_maps(oracle: Oracle) -> Array:
    """Return full gradients as maps of (1, x), (3, 2, 3); zero maps for oracles without data."""
    if not isinstance(oracle, MiniBatch):
        return RATIONAL.zeros(3, 2, 3)
    return _problem(1, True, oracle.data.ridge).gradient_maps


def _covariances(oracle: Oracle, moment: Array) -> Array:
    maps = _gradient_maps(oracle)
    return oracle.covariances(np.stack([moment] * 3), maps @ moment @ maps.transpose(0, 2, 1))


@pytest.mark.parametrize("name", ORACLES)
def test_pulled_back_forms(name: str) -> None:
    """The expectation of a quadratic form in the noise is that of its pulled-back form at the point."""
    oracle = ORACLES[name]
    form = RATIONAL.array([[3, "-1/2"], ["-1/2", "7/3"]])
    maps = _gradient_maps(oracle)
    pulled = oracle.pull_back(np.stack([form] * 3), maps.transpose(0, 2, 1) @ form @ maps)
    for at in POINTS:
        homogeneous = RATIONAL.array([1, *at])
        covariances = _covariances(oracle, np.outer(homogeneous, homogeneous))
        assert (covariances * form).sum(axis=(1, 2)).tolist() == [homogeneous @ one @ homogeneous for one in pulled]


def _noise(draws: Draws, at: brute.Point) -> Array:
    """Return the noise of every draw at a point, (n, d)."""
    noise: Array = draws.maps @ RATIONAL.array([1, *at])
    return noise


@pytest.mark.parametrize("name", ORACLES)
def test_moments_of_draws(name: str) -> None:
    """Probabilities are positive and sum to one; mean, covariance and variance at many points, as equal rationals."""
    oracle = ORACLES[name]
    gradients, identities = _gradient_maps(oracle), np.stack([RATIONAL.identity(2)] * 3)
    forms = oracle.pull_back(identities, gradients.transpose(0, 2, 1) @ gradients)
    for client in range(3):
        draws = oracle.draws(client, LINEAR)
        assert draws.maps.shape == (len(draws.probabilities), 2, 3)
        assert all(chance > 0 for chance in draws.probabilities)
        assert draws.probabilities.sum() == 1
        for at in POINTS:
            homogeneous = RATIONAL.array([1, *at])
            noise = _noise(draws, at)
            assert (draws.probabilities @ noise).tolist() == [0, 0]
            covariance = np.tensordot(draws.probabilities, noise[:, :, None] * noise[:, None, :], axes=1)
            moment = np.outer(homogeneous, homogeneous)
            assert covariance.tolist() == _covariances(oracle, moment)[client].tolist()
            assert covariance.trace() == homogeneous @ forms[client] @ homogeneous


@pytest.mark.parametrize("name", ORACLES)
def test_averaged_over_points(name: str) -> None:
    """The covariance averaged over random points is the average of the draws' covariances."""
    oracle = ORACLES[name]
    chances = brute.point("1/2", "1/4", "1/8", "1/8")
    vectors = [RATIONAL.array([1, *at]) for at in POINTS]
    moment = sum((c * np.outer(v, v) for c, v in zip(chances, vectors, strict=True)), RATIONAL.zeros(3, 3))
    for client in range(3):
        draws = oracle.draws(client, LINEAR)
        total = RATIONAL.zeros(2, 2)
        for chance, at in zip(chances, POINTS, strict=True):
            noise = _noise(draws, at)
            total = total + chance * np.tensordot(draws.probabilities, noise[:, :, None] * noise[:, None, :], axes=1)
        assert total.tolist() == _covariances(oracle, moment)[client].tolist()


@pytest.mark.parametrize(("batch", "replacement"), [(1, True), (2, True), (2, False), (1, False)])
def test_batches_are_the_enumerated_ones(batch: int, replacement: bool) -> None:
    """The distribution of the noise at a point is that of all ordered batches or of all subsets."""
    pair = data(*WIDE, ["3", "-2"], batch=batch, replacement=replacement)
    best = pair.tiny.minimiser()
    for i, client in enumerate(pair.tiny.clients):
        draws = pair.engine.problem.centred.oracle.draws(i, LINEAR)
        for at in POINTS:
            full = client.gradient(brute.plus(at, best))
            wanted = [(chance, brute.minus(g, full)) for chance, g in client.stochastic(brute.plus(at, best))]
            found = [(c, tuple(n)) for c, n in zip(draws.probabilities, _noise(draws, at), strict=True)]
            assert dict(_swap(found)) == dict(_swap(wanted))


def _swap(law: Any) -> list[tuple[Any, fmpq]]:
    return [(outcome, chance) for chance, outcome in brute.merged(law)]


@given(st.fractions(min_value=0, max_value=50, max_denominator=1000), st.integers(1, 3))
def test_any_variance(variance: Any, size: int) -> None:
    """The variance of the draws is exact and isotropic, and no outcome exceeds the rounded-up deviation."""
    exact = RATIONAL.number(str(variance), "variance")
    oracle = AdditiveNoise(RATIONAL.array([exact]))
    draws = oracle.draws(0, RATIONAL.zeros(1, size))
    noise = draws.maps[:, :, 0]
    assert (draws.maps[:, :, 1:] == 0).all()
    covariance = np.tensordot(draws.probabilities, noise[:, :, None] * noise[:, None, :], axes=1)
    assert covariance.tolist() == (RATIONAL.identity(size) * exact / size).tolist()
    squares = {value for value in (noise * noise).sum(axis=1) if value != 0}
    assert len(squares) <= 1
    assert all(exact <= square <= exact * (1 + fmpq(1, 1000)) for square in squares)
    assert len(draws.probabilities) == (1 if exact == 0 else 2 * size + int(squares != {exact}))


def test_zero_variance_has_one_outcome() -> None:
    """A client without noise among others has a single outcome."""
    draws = ORACLES["tiny and zero"].draws(1, LINEAR)
    assert draws.probabilities.tolist() == [1]
    assert (draws.maps == 0).all()


def test_too_many_batches() -> None:
    """More than a thousand ordered batches are not listed."""
    rows: list[Any] = [[j] for j in range(11)]
    oracle = data([rows], [[1] * 11], [0], batch=3).engine.problem.oracle
    with pytest.raises(NotApplicable, match="client 0 has more than 1000 mini-batches"):
        oracle.draws(0, RATIONAL.zeros(1, 1))
    fewer = data([rows[:10]], [[1] * 10], [0], batch=3).engine.problem.oracle
    assert len(fewer.draws(0, RATIONAL.zeros(1, 1)).probabilities) == math.comb(12, 3)


def test_repeated_oracles_draw_as_their_clients() -> None:
    """Client i + M n of n copies samples like client i."""
    for oracle in ORACLES.values():
        for client in range(3):
            once = oracle.draws(client, LINEAR)
            again = oracle.select_clients([0, 1, 2] * 3).draws(client + 6, RATIONAL.zeros(9, 2))
            assert once.probabilities.tolist() == again.probabilities.tolist()
            assert once.maps.tolist() == again.maps.tolist()


SHARES = {2: ("1/3", "2/3"), 3: ("1/2", "1/3", "1/6"), 4: ("1/10", "2/10", "3/10", "4/10"), 1: ("1",)}
LAWS = [Full(), Fixed((0,)), *(law(m) for law in (Uniform, Multinomial) for m in (1, 2, 3, 4))]


def _truth(law: Participation, shares: brute.Point) -> brute.Law:
    if isinstance(law, Uniform):
        return brute.uniform_weights(shares, law.selected)
    if isinstance(law, Multinomial):
        return brute.multinomial_weights(shares, law.selected)
    return brute.fixed_weights(shares, law.selected) if isinstance(law, Fixed) else brute.full_weights(shares)


@pytest.mark.parametrize("clients", SHARES)
@pytest.mark.parametrize("law", LAWS, ids=str)
def test_outcomes_of_participation(law: Participation, clients: int) -> None:
    """All outcomes are enumerated, and their moments, counts and averages are those of the law."""
    shares = brute.point(*SHARES[clients])
    weights = RATIONAL.array(list(shares))
    if isinstance(law, Uniform) and law.selected > clients:
        with pytest.raises(InputError, match="clients"):
            law.outcomes(weights)
        return
    chances, drawn = law.outcomes(weights)
    assert dict(_swap(zip(chances, map(tuple, drawn), strict=True))) == dict(_swap(_truth(law, shares)))
    assert chances.sum() == 1
    assert drawn.shape == (len(chances), clients)
    moments = law.moments(weights)
    assert (chances @ drawn).tolist() == moments.mean.tolist()
    second = np.tensordot(chances, drawn[:, :, None] * drawn[:, None, :], axes=1)
    stated = moments.pairing * np.outer(moments.mean, moments.mean)
    for i in range(clients):
        stated[i, i] = stated[i, i] + moments.diagonal[i]
    assert second.tolist() == stated.tolist()
    assert second.diagonal().tolist() == moments.squares.tolist()
    assert law.averages(weights) == all(row.sum() == 1 and (row >= 0).all() for row in drawn)
    if clients > 1:
        assert moments.is_fixed == (len(set(map(tuple, drawn))) == 1)
    floats = law.outcomes(np.array([float(s.p) / float(s.q) for s in shares]))
    assert floats[1].dtype == float
    assert floats[0].sum() == pytest.approx(1)
    if isinstance(law, Uniform | Multinomial):
        assert law.count(clients) == law.selected
    else:
        assert law.count(clients) == (drawn[0] != 0).sum()


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_equal_shares_average(law: Participation) -> None:
    """With equal client weights the server averages its participants under every law."""
    weights = RATIONAL.array([fmpq(1, 4)] * 4)
    assert law.averages(weights)
    assert all(row.sum() == 1 for row in law.outcomes(weights)[1])


def test_outcomes_are_listed_once() -> None:
    """Multinomial counts represent all orders, so no outcome occurs twice."""
    _, drawn = Multinomial(3).outcomes(RATIONAL.array([fmpq(1, 3)] * 3))
    assert max(Counter(map(tuple, drawn)).values()) == 1
    assert len(drawn) == math.comb(5, 3)


def test_additive_noise_of_a_problem_is_its_oracle() -> None:
    """The draws of a problem contain the additive noise of each client."""
    problem = quadratics([[["1"]], [["2"]]], [[1], [0]], [0], deviation=[3, "1/2"]).engine.problem
    for client, size in enumerate(brute.point(3, "1/2")):
        draws = problem.centred.oracle.draws(client, problem.centred.linear)
        assert sorted(draws.maps[:, 0, 0].tolist()) == [-size, size]
