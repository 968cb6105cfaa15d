"""Power series in the step size, against closed forms and exact limits at tiny steps."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_runs import data, quadratics

from fedtheory.arithmetic import FLOAT, RATIONAL, plain_float, plain_floats
from fedtheory.engine.moments.recursion import Recursion
from fedtheory.engine.moments.stationary import compute_stationary_moment
from fedtheory.engine.run import Run
from fedtheory.engine.small_steps import expand_moments
from fedtheory.errors import NotApplicable
from fedtheory.federation import Fixed, Full, LocalWork, Multinomial, Participation, Uniform, fedavg
from fedtheory.federation.client_data import ClientData
from fedtheory.federation.problem import least_squares, quadratic
from fedtheory.federation.problem.generators import draw_quadratics
from fedtheory.language import quantities as q
from fedtheory.runfile import parse_run
from fedtheory.sources.vlaski2023.small_steps import (
    compute_leading_coefficient,
    compute_small_step_limit,
    expand_distance_sq,
)

ONE = fmpq(1)
LAWS: tuple[Participation, ...] = (Full(), Uniform(1), Uniform(2), Multinomial(2))


def _at(run: Run, factor: fmpq) -> Recursion:
    """Return the run with all step sizes multiplied by a factor."""
    work = LocalWork(run.algorithm.work.steps, run.algorithm.work.step_sizes * factor)
    return Recursion(run.problem, replace(run.algorithm, work=work))


def test_one_client_on_a_line() -> None:
    """mu sigma^2 / (h (2 - mu h)) = sigma^2/(2h) (mu + (h/2) mu^2 + (h/2)^2 mu^3 + ...)."""
    h, variance = fmpq(3), fmpq(4)
    run = quadratics([[["3"]]], [["7"]], ["1"], deviation=2, eta="1/5").engine
    expected = [variance / (2 * h) * (h / 2) ** power for power in range(6)]
    assert expand_distance_sq(run, fmpq(1, 5), 6) == expected
    assert compute_leading_coefficient(run, fmpq(1, 5)) == variance / (2 * h)


def test_two_local_steps_on_a_line() -> None:
    """mu^2 sigma^2 (1 + q^2) / (1 - q^4) = mu^2 sigma^2 / (1 - q^2), q = 1 - mu h: local steps alone change nothing."""
    run = quadratics([[["3"]]], [["7"]], ["1"], deviation=2, eta="1/5", steps=2).engine
    assert expand_distance_sq(run, fmpq(1, 5), 4) == [fmpq(2, 3) * fmpq(3, 2) ** power for power in range(4)]


def test_one_of_two_clients_by_hand() -> None:
    """Steps mu/E_k and one client of K at random: tr(R)/(2 h) with both kinds of noise written out."""
    curvature, linear, deviation, steps = (2, 4), (1, 5), (1, 3), (1, 2)
    run = quadratics(
        [[[h]] for h in curvature],
        [[b] for b in linear],
        [7],
        deviation=list(deviation),
        eta=[ONE / e for e in steps],
        steps=steps,
        law=Uniform(1),
    ).engine
    best = fmpq(sum(linear), sum(curvature))
    gradients = [h * best - b for h, b in zip(curvature, linear, strict=True)]
    # Given the client, the displacement is -mu (grad F_k + mean of E_k noises).
    covariance = sum(g * g + fmpq(d * d, e) for g, d, e in zip(gradients, deviation, steps, strict=True)) / 2
    assert compute_leading_coefficient(run, ONE) == covariance / (2 * fmpq(sum(curvature), 2))


SEEDS = st.integers(0, 10**6)
some = settings(max_examples=40, deadline=None, derandomize=True)


def _random_run(seed: int, *, unbiased: bool = True) -> Run:
    """Return three clients with up to three dimensions, unequal E_k and steps 1/E_k, additive noise or mini-batches."""
    generator = np.random.default_rng(seed)
    dimension = 1 + seed % 3
    spectra = [[fmpq(int(generator.integers(1, 5)), 2) for _ in range(dimension)] for _ in range(3)]
    drawn = draw_quadratics(generator, spectra, shared=False, heterogeneity=ONE, noise=ONE)
    shares = RATIONAL.array(generator.integers(1, 4, 3))
    shares = shares / shares.sum()
    noise = RATIONAL.array(generator.integers(0, 4, 3))
    problem = quadratic(drawn.hessians, drawn.linear, drawn.start, weights=shares, noise=noise)
    if seed % 2:
        # The rows of the identity make the Hessians regular.
        rows = [
            np.concatenate([RATIONAL.identity(dimension), RATIONAL.array(generator.integers(-2, 3, (2, dimension)))])
            for _ in range(3)
        ]
        outputs = tuple(RATIONAL.array(generator.integers(-3, 4, dimension + 2)) for _ in range(3))
        tables = ClientData(tuple(rows), outputs)
        problem = least_squares(tables, drawn.start, batch=1 + seed % 3, replacement=seed % 4 == 1, weights=shares)
    steps = tuple(int(k) for k in generator.integers(1, 4, 3))
    free = RATIONAL.array(generator.integers(1, 5, 3))
    sizes = RATIONAL.array([1, 1, 1]) / RATIONAL.array(steps) if unbiased else free
    law = LAWS[int(generator.integers(4))]
    server = fmpq(int(generator.integers(1, 4)), 2)
    algorithm = fedavg(
        problem, rounds=1, local_step_size=sizes, local_steps=steps, server_step_size=server, participation=law
    )
    return Run(problem, algorithm)


@given(SEEDS)
@some
def test_the_closed_form_is_the_first_coefficient(seed: int) -> None:
    """The closed form is the first coefficient as equal rationals, and in floats."""
    run, unit = _random_run(seed), fmpq(1 + seed % 4, 3)
    leading = compute_leading_coefficient(run, unit)
    assert expand_distance_sq(run, unit, 1) == [leading]
    assert compute_leading_coefficient(run.as_floats(), plain_float(unit)) == pytest.approx(
        plain_float(leading), rel=1e-10
    )


@given(SEEDS, st.booleans())
@some
def test_exact_limits_at_tiny_steps(seed: int, unbiased: bool) -> None:
    """Each coefficient is the scaled remainder of the exact moments at mu = 10^-12."""
    run, mu = _random_run(seed, unbiased=unbiased), fmpq(1, 10**12)
    left = compute_stationary_moment(_at(run, mu))
    for power, coefficient in enumerate(expand_moments(run, ONE, 3)):
        scale = 1 + np.abs(plain_floats(coefficient)).max()
        assert plain_floats(left / mu**power) == pytest.approx(plain_floats(coefficient), rel=1e-8, abs=1e-8 * scale)
        left = left - coefficient * mu**power


@given(SEEDS)
@some
def test_the_unit_only_rescales(seed: int) -> None:
    """In units of u the coefficient of mu^k is multiplied by u^-k."""
    run, unit = _random_run(seed, unbiased=False), fmpq(2, 7)
    own = expand_distance_sq(run, ONE, 3)
    assert expand_distance_sq(run, unit, 3) == [c / unit ** (power + 1) for power, c in enumerate(own)]


@given(SEEDS)
@some
def test_small_steps_minimise_another_average(seed: int) -> None:
    """The limit is a stationary point of sum_i E[w_i] r_i K_i F_i, and the constant term of the expansion."""
    run = _random_run(seed, unbiased=False)
    away = compute_small_step_limit(run)
    work = run.algorithm.work
    effort = run.problem.weights * work.step_sizes * RATIONAL.array(work.steps)
    gradients = run.problem.gradients((run.problem.optimum + away)[None].repeat(3, axis=0))
    assert not (effort[:, None] * gradients).sum(axis=0).any()
    constant = expand_moments(run, ONE, 0)[0]
    point = np.concatenate([RATIONAL.identity(1)[0], away])
    assert (constant == np.outer(point, point)).all()
    assert compute_small_step_limit(run.as_floats()) == pytest.approx(FLOAT.array(away), rel=1e-9, abs=1e-11)


def test_a_common_step_size_biases_towards_busy_clients() -> None:
    """For E_k = 3 and 1 with minimisers 0 and 1 the limit is 1/4, not 1/2, and there is no leading term."""
    drawn: dict[str, Any] = {"deviation": 1, "eta": "1/10"}
    run = quadratics([[[1]], [[1]]], [[0], [1]], [0], steps=(3, 1), **drawn).engine
    assert compute_small_step_limit(run).tolist() == [fmpq(-1, 4)]
    for one, unit in ((run, ONE), (run.as_floats(), 1.0)):
        with pytest.raises(NotApplicable, match="does not tend to x"):
            compute_leading_coefficient(one, unit)
    alone = quadratics([[[1]], [[1]]], [[0], [1]], [0], law=Fixed((1,)), **drawn).engine
    assert compute_small_step_limit(alone).tolist() == [fmpq(1, 2)]


def test_rounding_is_not_a_bias() -> None:
    """Rounding in step sizes 1/(10 E_k) and gradients at x* is no bias."""
    steps = (3, 7, 1)
    drawn: dict[str, Any] = {"deviation": 1, "eta": [fmpq(1, 10 * e) for e in steps], "steps": steps}
    for linear in ([["1/3"], ["-1/7"], ["5"]], [[0], [0], [0]]):
        run = quadratics([[["1/3"]], [["3/7"]], [[1]]], linear, ["11/13"], law=Uniform(2), **drawn).engine
        exact = plain_float(compute_leading_coefficient(run, fmpq(1, 10)))
        assert compute_leading_coefficient(run.as_floats(), 0.1) == pytest.approx(exact, rel=1e-12)


def test_mini_batches_without_noise_at_the_optimum() -> None:
    """If a model fits all rows, noise vanishes at the optimum, and so do all coefficients."""
    run = data([[[1], [2]], [[3], ["1/2"]]], [[2, 4], [6, 1]], [5], batch=1, eta="1/10", law=Uniform(1)).engine
    assert expand_distance_sq(run, ONE, 3) == [0, 0, 0]
    assert compute_leading_coefficient(run, ONE) == 0


def test_flat_objectives_are_refused() -> None:
    """Flat objectives are rejected, also if only the participants are flat."""
    flat = quadratics([[[1, 0], [0, 0]]], [[1, 0]], [1, 1]).engine
    absent = quadratics([[[1, 0], [0, 0]], [[0, 0], [0, 1]]], [[1, 0], [0, 1]], [1, 1], law=Fixed((0,))).engine
    for run in (flat, absent):
        with pytest.raises(NotApplicable, match="without curvature"):
            expand_distance_sq(run, ONE, 2)
        for one, unit in ((run, ONE), (run.as_floats(), 1.0)):
            with pytest.raises(NotApplicable, match="without curvature"):
                compute_leading_coefficient(one, unit)


def test_floats_and_many_dimensions_are_refused() -> None:
    """Floats and many dimensions are rejected, since expansions are exact."""
    run = quadratics([[[1]]], [[1]], [1]).engine
    with pytest.raises(NotApplicable, match="rationals"):
        expand_distance_sq(run.as_floats(), 1.0, 2)
    size = 17
    problem = quadratic(RATIONAL.identity(size)[None], RATIONAL.identity(size)[:1], RATIONAL.zeros(size))
    with pytest.raises(NotApplicable, match="dimensions"):
        expand_distance_sq(Run(problem, fedavg(problem, rounds=1, local_step_size="1/2")), ONE, 2)


@pytest.mark.parametrize("server", ["1/2", "1", "3"])
@pytest.mark.parametrize("participation", [{"kind": "full"}, {"kind": "uniform", "clients": 1}])
def test_the_leading_term_depends_on_the_server_step(server: str, participation: dict[str, Any]) -> None:
    """The ratio of the leading term to the limit tends to one, for every server step."""
    problem = {
        "kind": "quadratic",
        "hessians": [[["1"]], [["1"]]],
        "linear": [["1"], ["-1"]],
        "start": ["3"],
        "noise": "1/2",
    }
    algorithm = {"local_step_size": "1/10000", "local_steps": 2, "rounds": 1}
    algorithm |= {"server_step_size": server, "participation": participation}
    run = parse_run({"problem": problem, "algorithm": algorithm}, FLOAT, Path())
    ratio = q.leading_limiting_distance_sq.on(run) / q.limiting_distance_sq.on(run)
    assert ratio == pytest.approx(1, abs=1e-3)


@pytest.mark.parametrize("name", ["fednova", "scaffold", "fedavgm"])
def test_limits_of_the_update_rule_have_no_value_for_definitions(name: str) -> None:
    """FedNova and SCAFFOLD tend to x*, so the update rule's limit has no value for them."""
    problem = {"kind": "quadratic", "hessians": [[["1"]], [["2"]]], "linear": [["1"], ["-1"]], "start": ["0"]}
    algorithm = {"name": name, "local_step_size": "1/1000", "local_steps": [1, 4], "rounds": 1}
    algorithm |= {"momentum": "1/2"} if name == "fedavgm" else {}
    run = parse_run({"problem": problem, "algorithm": algorithm}, RATIONAL, Path())
    for quantity in (q.small_step_bias, q.leading_limiting_distance_sq, q.distance_to_small_step_limit):
        with pytest.raises(NotApplicable, match="has no value"):
            quantity.on(run)


@pytest.mark.parametrize("start", [[0, 0], [10**9, 0]])
def test_rounding_is_no_bias(start: list[int]) -> None:
    """Gradients at x* that sum to 1e-17, or 1e-8 for a distant start, count as zero."""
    run = quadratics(
        [[["2", "1/3"], ["1/3", "1"]], [["1", "0"], ["0", "3"]], [["1/7", "0"], ["0", "1"]]],
        [["1/3", "0"], ["-1/10", "1"], ["2/9", "-5/7"]],
        start,
        deviation=1,
        importance=["1/3", "1/6", "1/2"],
        eta="1/10",
    ).engine
    exact = compute_leading_coefficient(run, fmpq(1, 10))
    assert plain_float(compute_leading_coefficient(run.as_floats(), 0.1)) == pytest.approx(plain_float(exact), rel=1e-6)
    assert abs(run.as_floats().problem.centred.linear).max() > 0.1
