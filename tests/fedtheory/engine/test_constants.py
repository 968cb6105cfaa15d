"""Constants of a run: curvatures, noise, dissimilarity and initial distances, on the whole space."""

from __future__ import annotations

import enumeration as brute
import numpy as np
import pytest
from flint import fmpq
from tiny_runs import data, quadratics

from fedtheory.arithmetic import FLOAT, RATIONAL
from fedtheory.engine.region import Ball, Everywhere
from fedtheory.engine.run import Run
from fedtheory.errors import InputError, NotApplicable
from fedtheory.federation import fedavg
from fedtheory.federation.problem import quadratic
from fedtheory.federation.problem.generators import draw_hessian

ROTATED = [[["34/25", "12/25"], ["12/25", "41/25"]], [["2", "0"], ["0", "3"]]]
"""Spectra {1, 2} (rotated by the 3-4-5 triangle) and {2, 3}."""


def test_curvatures_of_rotated_hessians() -> None:
    """L is the largest eigenvalue of any client, mu the smallest, exactly."""
    run = quadratics(ROTATED, [[1, 0], [0, 1]], [0, 0]).engine
    assert run.smoothness == 3
    assert run.strong_convexity == 1
    floats = run.as_floats()
    assert floats.smoothness == pytest.approx(3, rel=1e-14)
    assert floats.strong_convexity == pytest.approx(1, rel=1e-14)


def test_curvatures_when_clients_share_a_hessian() -> None:
    """Curvatures are exact for a shared Hessian, and for any order of different clients."""
    assert quadratics([ROTATED[0]] * 3, [[1, 0]] * 3, [0, 0]).engine.smoothness == 2
    assert quadratics([ROTATED[1], ROTATED[0]], [[1, 0]] * 2, [0, 0]).engine.strong_convexity == 1


def test_curvatures_of_a_singular_hessian() -> None:
    """Strong convexity is exactly zero if a client has a flat direction, even if F has none."""
    run = quadratics([[["1", "0"], ["0", "0"]], [["0", "0"], ["0", "5"]]], [[1, 0], [0, 1]], [0, 0]).engine
    assert run.strong_convexity == 0
    assert run.smoothness == 5


def test_curvatures_of_random_spectra() -> None:
    """Prescribed rational spectra are returned exactly."""
    generator = np.random.default_rng(3)
    spectra = [[fmpq(1, 4), fmpq(2), fmpq(2)], [fmpq(1, 2), fmpq(1), fmpq(4)]]
    hessians = np.stack([draw_hessian(generator, spectrum) for spectrum in spectra])
    problem = quadratic(hessians, RATIONAL.zeros(2, 3), RATIONAL.zeros(3))
    run = Run(problem, fedavg(problem, rounds=1, local_step_size="1/4"))
    assert (run.smoothness, run.strong_convexity) == (4, fmpq(1, 4))


def test_irrational_curvatures_are_bounded_on_the_safe_side() -> None:
    """For eigenvalues (3 +- sqrt 5)/2, L is never too small, mu never too large, and both are close."""
    run = quadratics([[["2", "1"], ["1", "1"]]], [[1, 0]], [0, 0]).engine
    # lambda >= (3 + sqrt 5)/2 iff (2 lambda - 3)^2 >= 5.
    assert 2 * run.smoothness - 3 > 0
    assert 5 <= (2 * run.smoothness - 3) ** 2 < 5 + fmpq(1, 10**12)
    assert 2 * run.strong_convexity - 3 < 0
    assert 5 <= (2 * run.strong_convexity - 3) ** 2 < 5 + fmpq(1, 10**12)


def test_noise_variance_of_additive_noise() -> None:
    """sigma^2 is the largest client's variance in every dimension, on the whole space."""
    run = quadratics(ROTATED, [[1, 0], [0, 1]], [0, 0], deviation=["1/2", "3/2"]).engine
    assert run.noise_variance.value == fmpq(9, 4)
    assert isinstance(run.noise_variance.region, Everywhere)
    assert quadratics(ROTATED, [[1, 0], [0, 1]], [0, 0]).engine.noise_variance.value == 0


def test_noise_variance_is_the_variance_that_enters_the_moments() -> None:
    """After one step of one client from its optimum, E|x^1 - x*|^2 = eta^2 sigma^2, in one and two dimensions."""
    for hessian, linear in (([["1"]], [1]), ([["1", "0"], ["0", "1"]], [1, 0])):
        run = quadratics([hessian], [linear], linear, deviation=3, eta="1/2").engine
        assert run.trajectory.server_distance_sq[-1] == run.noise_variance.value / 4


def test_dissimilarity_with_a_shared_hessian() -> None:
    """zeta^2 = max_i |b_i - b|^2, with b the weighted average of the clients."""
    run = quadratics([ROTATED[0]] * 2, [[1, 2], [-3, 0]], [5, 5], importance=["1/4", "3/4"]).engine
    mean = brute.mixture(brute.point("1/4", "3/4"), [brute.point(1, 2), brute.point(-3, 0)])
    apart = [brute.minus(b, mean) for b in (brute.point(1, 2), brute.point(-3, 0))]
    assert run.dissimilarity_sq.value == max(brute.dot(a, a) for a in apart)
    assert isinstance(run.dissimilarity_sq.region, Everywhere)
    floats = run.as_floats().dissimilarity_sq
    assert floats.value == pytest.approx(float(FLOAT.number(run.dissimilarity_sq.value, "z")), rel=1e-12)
    assert isinstance(floats.region, Everywhere)


def test_initial_distance_and_gap() -> None:
    """|x^0 - x*|^2 and F(x^0) - F*, against Cramer's rule."""
    pair = quadratics(ROTATED, [[1, 2], [-3, 0]], [5, "1/2"], importance=["1/4", "3/4"], constants=[1, 2])
    best = pair.tiny.minimiser()
    away = brute.minus(pair.tiny.start, best)
    assert pair.engine.initial_distance_sq == brute.dot(away, away)
    assert pair.engine.initial_gap == pair.tiny.value(pair.tiny.start) - pair.tiny.value(best)
    assert pair.engine.problem.optimum.tolist() == list(best)
    assert pair.engine.problem.optimal_value == pair.tiny.value(best)


def test_optimum_nearest_to_the_start() -> None:
    """With a flat direction x* is the projection of the start onto the minimisers."""
    # F = 1/2 (x + y)^2 - (x + y): minimisers x + y = 1; the start (3, 0) projects to (2, -1).
    run = quadratics([[["1", "1"], ["1", "1"]]], [[1, 1]], [3, 0]).engine
    assert run.problem.optimum.tolist() == [2, -1]
    assert run.initial_distance_sq == 2
    assert run.initial_gap == 2
    assert run.as_floats().problem.optimum == pytest.approx([2, -1])


def test_no_minimiser_is_an_error() -> None:
    """The average linear term must be in the range of the average Hessian."""
    for arithmetic in (RATIONAL, FLOAT):
        with pytest.raises(InputError, match="no minimiser"):
            quadratic(arithmetic.array([[[1, 0], [0, 0]]]), arithmetic.array([[0, 1]]), arithmetic.zeros(2))


def test_malformed_problems_are_errors() -> None:
    """Asymmetric Hessians, wrong shapes, and weights that are not positive or do not sum to one are errors."""
    array = RATIONAL.array
    good = {"hessians": array([[[2]], [[1]]]), "linear": array([[1], [0]]), "start": array([0])}
    cases = [
        (
            {"hessians": array([[[1, 2], [0, 1]]] * 2), "linear": array([[0, 0]] * 2), "start": array([0, 0])},
            "symmetric",
        ),
        ({"linear": array([[1, 1], [0, 0]])}, r"problem\.linear"),
        ({"weights": array(["1/2", "1/3"])}, "sum to 1"),
        ({"weights": array(["3/2", "-1/2"])}, "positive"),
        ({"constants": array([1])}, r"problem\.constants"),
        ({"noise": array([1, -1])}, r"problem\.noise"),
        ({"noise": array([1])}, r"problem\.noise"),
    ]
    for change, message in cases:
        with pytest.raises(InputError, match=message):
            quadratic(**(good | change))  # type: ignore[arg-type]


def test_dissimilarity_needs_a_ball_when_hessians_differ() -> None:
    """With different Hessians dissimilarity needs a ball, and without one is not applicable, with a reason."""
    shape = {"hessians": ROTATED, "linear": [[1, 2], [-3, 0]], "start": [5, 0]}
    assert isinstance(quadratics(**shape, eta="1/4").engine.dissimilarity_sq.region, Ball)  # type: ignore[arg-type]
    for settings in ({"eta": "1"}, {"server": "2"}):
        with pytest.raises(NotApplicable, match="unbounded on all of space"):
            _ = quadratics(**shape, **settings).engine.dissimilarity_sq  # type: ignore[arg-type]


def test_minibatch_noise_needs_a_ball() -> None:
    """Mini-batch noise grows with the model, so it is not applicable without a bounded region."""
    rows, values = [[[1], [2]]], [[1, 0]]
    assert isinstance(data(rows, values, [1], batch=1, eta="1/10").engine.noise_variance.region, Ball)
    with pytest.raises(NotApplicable, match="mini-batch noise is unbounded"):
        _ = data(rows, values, [1], batch=1, eta="1").engine.noise_variance


def test_minibatch_variance_is_the_supremum_of_the_enumerated_variance() -> None:
    """On the ball, the variance is at least the enumerated one, and equal at an end point (one dimension)."""
    for replacement in (True, False):
        pair = data([[["1/2"], [1], [-1]]], [[1, 0, 2]], [2], batch=2, replacement=replacement, eta="1/10", rounds=3)
        bound, best = pair.engine.noise_variance, pair.tiny.minimiser()
        assert isinstance(bound.region, Ball)
        client = pair.tiny.clients[0]

        def variance(at: brute.Point, client: brute.Client = client) -> fmpq:
            full = client.gradient(at)
            apart = [(chance, brute.minus(g, full)) for chance, g in client.stochastic(at)]
            return brute.expectation(apart, lambda a: brute.dot(a, a))

        inside = [brute.plus(best, (bound.region.radius * fmpq(j, 20),)) for j in range(-20, 21)]
        sampled = max(variance(at) for at in inside)
        assert sampled <= bound.value <= sampled * (1 + fmpq(1, 10**6))
