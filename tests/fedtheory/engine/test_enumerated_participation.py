"""Participation laws against all draws of clients, as equal rationals."""

from __future__ import annotations

from typing import Any

import enumeration as brute
import numpy as np
import pytest
import tiny_shapes as shapes
from flint import fmpq
from tiny_runs import assert_local_agrees, assert_server_agrees, quadratics

from fedtheory.arithmetic import RATIONAL
from fedtheory.errors import InputError
from fedtheory.federation import Bernoulli, Fixed, Full, Multinomial, Normalised, Participation, Uniform

IMPORTANCES = [["1/3", "1/3", "1/3"], ["1/2", "1/3", "1/6"], ["1/10", "1/5", "3/10", "2/5"], ["1/4", "3/4"], ["1"]]


def _laws(importance: tuple[fmpq, ...]) -> list[tuple[Participation, brute.Law]]:
    """Return every law of this number of clients with the list of its outcomes."""
    clients = len(importance)
    laws: list[tuple[Participation, brute.Law]] = [(Full(), brute.full_weights(importance))]
    laws += [(Fixed(s), brute.fixed_weights(importance, s)) for s in {(0,), (clients - 1,), tuple(range(clients))}]
    laws += [(Uniform(m), brute.uniform_weights(importance, m)) for m in range(1, clients + 1)]
    laws += [(Multinomial(m), brute.multinomial_weights(importance, m)) for m in (1, 2, 3)]
    coin = fmpq(1, 3)
    laws.append((Bernoulli(coin), brute.bernoulli_weights(importance, coin)))
    shown = brute.present_sets(clients, None, coin)
    laws.append((Normalised(Bernoulli(coin)), brute.normalised_weights(importance, shown)))
    for m in range(1, clients + 1):
        drawn = brute.present_sets(clients, m, None)
        laws.append((Normalised(Uniform(m)), brute.normalised_weights(importance, drawn)))
    return laws


@pytest.mark.parametrize("given", IMPORTANCES, ids=str)
def test_moments_of_the_weights(given: list[str]) -> None:
    """E[w_i], E[w_i w_j], E[w_i^2] agree, and whether weights are equal in every round."""
    importance = brute.point(*given)
    clients = range(len(importance))
    for law, draws in _laws(importance):
        moments = law.moments(RATIONAL.array(list(importance)))
        assert sum(chance for chance, _ in draws) == 1
        mean = [brute.expectation(draws, lambda w, i=i: w[i]) for i in clients]
        pairs = [[brute.expectation(draws, lambda w, i=i, j=j: w[i] * w[j]) for j in clients] for i in clients]
        second = np.diag(moments.diagonal) + moments.pairing * np.outer(moments.mean, moments.mean)
        for scale, vector in moments.directions:
            assert scale > 0
            second = second + scale * np.outer(vector, vector)
        assert moments.mean.tolist() == mean, law
        assert second.tolist() == pairs, law
        assert moments.squares.tolist() == [pairs[i][i] for i in clients], law
        if moments.is_fixed:
            assert all(pairs[i][j] == mean[i] * mean[j] for i in clients for j in clients), law


@pytest.mark.parametrize("given", IMPORTANCES, ids=str)
def test_weights_are_unbiased(given: list[str]) -> None:
    """Full, uniform and multinomial participation have E[w_i] = p_i; a fixed set has weights that sum to one."""
    importance = RATIONAL.array(given)
    for law in (Full(), Uniform(1), Multinomial(2), Bernoulli(fmpq(1, 5))):
        assert (law.moments(importance).mean == importance).all()
    assert Fixed((0,)).moments(importance).mean.sum() == 1


@pytest.mark.parametrize("given", IMPORTANCES[1:4], ids=str)
def test_samples_follow_the_enumerated_law(given: list[str]) -> None:
    """Frequencies of sampled weights agree with the law within five standard deviations."""
    importance, replicas = brute.point(*given), 20_000
    floats = np.array([float(p.p) / float(p.q) for p in importance])
    for law, draws in _laws(importance):
        sampled = law.sample(floats, replicas, np.random.default_rng(7))
        assert sampled.shape == (replicas, len(importance))
        total = 0.0
        for chance, weights in draws:
            expected = float(chance.p) / float(chance.q)
            wanted = [float(w.p) / float(w.q) for w in weights]
            share = float(np.isclose(sampled, wanted).all(axis=1).mean())
            total += share
            assert abs(share - expected) <= 5 * np.sqrt(expected * (1 - expected) / replicas) + 1e-12, (law, weights)
        assert total == pytest.approx(1), law


THREE = shapes.THREE | {"deviation": [1, 0, "1/2"]}
PLANE = shapes.PLANE | {"importance": ["1/4", "3/4"], "eta": "1/6", "deviation": [1, 0]}


def _with_law(shape: dict[str, Any], number: int, **settings: Any) -> Any:
    law, weights = _laws(brute.point(*shape["importance"]))[number]
    return quadratics(**shape, law=law, weights=weights, **settings)


@pytest.mark.parametrize("number", range(len(_laws(brute.point(*THREE["importance"])))))
@pytest.mark.parametrize("server", ["1", "4/3"])
def test_runs_on_a_line(number: int, server: str) -> None:
    """Three clients with noise and two rounds agree in one dimension; averages inside rounds keep the weights p_i."""
    pair = _with_law(THREE, number, rounds=2, server=server)
    assert_server_agrees(pair)
    assert_local_agrees(pair)


@pytest.mark.parametrize("number", range(len(_laws(brute.point(*THREE["importance"])))))
def test_runs_with_unequal_local_steps(number: int) -> None:
    """Partial participation with different numbers of local steps agrees."""
    assert_server_agrees(_with_law(THREE, number, rounds=2, steps=(2, 3, 1)))


@pytest.mark.parametrize("number", range(len(_laws(brute.point(*PLANE["importance"])))))
def test_runs_in_a_plane(number: int) -> None:
    """Two clients in two dimensions with two local steps agree."""
    pair = _with_law(PLANE, number, rounds=2, steps=2)
    assert_server_agrees(pair)


def test_all_clients_selected_is_full_participation() -> None:
    """Uniform selection of all M clients equals full participation."""
    importance = brute.point(*THREE["importance"])
    whole = quadratics(**THREE, law=Uniform(3), weights=brute.uniform_weights(importance, 3), rounds=2).engine
    full = quadratics(**THREE, rounds=2).engine
    assert (whole.trajectory.moments == full.trajectory.moments).all()
    assert whole.trajectory.recursion.participation.is_fixed


@pytest.mark.parametrize("law", [Uniform(0), Uniform(3), Multinomial(0), Fixed(()), Fixed((2,)), Fixed((-1,))], ids=str)
def test_laws_that_do_not_fit(law: Participation) -> None:
    """Too few or too many participants, or indices of missing clients, are rejected."""
    with pytest.raises(InputError, match=r"algorithm\.participation\.clients"):
        law.moments(RATIONAL.array(["1/2", "1/2"]))


@pytest.mark.parametrize("law", [Bernoulli(fmpq(0)), Bernoulli(fmpq(3, 2)), Normalised(Uniform(3))], ids=repr)
def test_chances_and_counts_that_do_not_fit(law: Participation) -> None:
    """Probabilities outside (0, 1], and normalised weights of too many clients, are rejected."""
    with pytest.raises(InputError, match=r"algorithm\.participation"):
        law.moments(RATIONAL.array(["1/4", "3/4"]))


def test_normalised_weights_of_too_many_sets() -> None:
    """Normalised weights of too many sets are rejected in rationals with a suggestion; equal weights need no
    enumeration.
    """
    unequal = RATIONAL.array([f"{n}/20100" for n in range(1, 201)])
    with pytest.raises(InputError, match=r"sets of participants, got .*: use --arithmetic float, fewer clients"):
        Normalised(Uniform(10)).moments(unequal)
    equal = np.full(200, 1 / 200)
    assert Normalised(Uniform(10)).moments(equal).pairing == Uniform(10).moments(equal).pairing


def test_a_client_named_twice_does_not_change_the_total_weight() -> None:
    """A repeated client in fixed participation is rejected or ignored; weights sum to one."""
    try:
        mean = Fixed((0, 0)).moments(RATIONAL.array(["1/2", "1/2"])).mean
    except InputError:
        return
    assert mean.sum() == 1
