"""Invariances of every run, on random instances."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from flint import fmpq
from hypothesis import given
from hypothesis import strategies as st
from random_problems import few, fractions, permuted, random_problem, rotated, same, seeds

from fedtheory.arithmetic import FLOAT, RATIONAL
from fedtheory.engine.run import Run
from fedtheory.federation import Full, Multinomial, Participation, Uniform, fedavg
from fedtheory.federation.client_data import ClientData
from fedtheory.federation.problem import Problem, least_squares, quadratic
from fedtheory.federation.problem.generators import draw_rotation


def _law(number: int, clients: int) -> Participation:
    return (Full(), Uniform(max(1, clients - 1)), Multinomial(2))[number % 3]


def _run(problem: Problem, generator: np.random.Generator, law: Participation | None = None) -> Run:
    """Return two rounds of up to three local steps, with unequal step sizes and a server step."""
    sizes = fractions(generator, problem.clients) / fmpq(6)
    algorithm = fedavg(
        problem,
        rounds=2,
        local_step_size=sizes,
        local_steps=1 + int(generator.integers(3)),
        server_step_size=fmpq(int(generator.integers(1, 5)), 3),
        participation=law or Full(),
    )
    return Run(problem, algorithm)


SCALARS = (
    "server_suboptimality",
    "server_distance_sq",
    "server_gradient_sq",
    "local_suboptimality",
    "local_distance_sq",
    "drift",
)


@given(seeds, st.integers(1, 3), st.integers(2, 3), st.integers(0, 2))
@few
def test_rotating_coordinates_changes_no_scalar(seed: int, clients: int, dimension: int, law: int) -> None:
    """Under x -> Q x, with H -> Q H Q' and b -> Q b, no scalar changes."""
    generator = np.random.default_rng(seed)
    run = _run(random_problem(generator, clients, dimension), generator, _law(law, clients))
    turn = draw_rotation(generator, dimension)
    turned = Run(rotated(run.problem, turn), run.algorithm)
    for name in SCALARS:
        assert same(getattr(run.trajectory, name), getattr(turned.trajectory, name)), name
    assert same(turned.trajectory.server_mean, run.trajectory.server_mean @ turn.T)
    assert same(turned.problem.optimum, turn @ run.problem.optimum)


@given(seeds, st.integers(2, 4), st.integers(1, 2), st.integers(0, 2))
@few
def test_the_order_of_clients_does_not_matter(seed: int, clients: int, dimension: int, law: int) -> None:
    """Permuted clients give the same server, and permuted drift."""
    generator = np.random.default_rng(seed)
    run = _run(random_problem(generator, clients, dimension), generator, _law(law, clients))
    order = generator.permutation(clients)
    work = run.algorithm.work
    other = Run(
        permuted(run.problem, order), replace(run.algorithm, work=replace(work, step_sizes=work.step_sizes[order]))
    )
    assert same(run.trajectory.moments, other.trajectory.moments)
    assert same(run.trajectory.local_suboptimality, other.trajectory.local_suboptimality)
    assert same(run.trajectory.drift[:, :, order], other.trajectory.drift)
    assert run.smoothness == other.smoothness
    assert run.noise_variance.value == other.noise_variance.value


@given(seeds, st.integers(1, 3), st.integers(1, 2), st.sampled_from(["2", "1/3", "7/5"]), st.integers(0, 2))
@few
def test_units_of_the_objective(seed: int, clients: int, dimension: int, unit: str, law: int) -> None:
    """Objectives times c with step sizes over c give equal iterates, and suboptimality and gradients times c."""
    generator = np.random.default_rng(seed)
    run = _run(random_problem(generator, clients, dimension), generator, _law(law, clients))
    c, problem, work = RATIONAL.number(unit, "unit"), run.problem, run.algorithm.work
    scaled = quadratic(
        c * problem.hessians,
        c * problem.linear,
        problem.start,
        constants=c * problem.constants,
        weights=problem.weights,
        noise=c * c * problem.oracle.variances,  # type: ignore[attr-defined]
    )
    other = Run(scaled, replace(run.algorithm, work=replace(work, step_sizes=work.step_sizes / c)))
    for name, power in zip(SCALARS, (1, 0, 2, 1, 0, 0), strict=True):
        assert same(getattr(run.trajectory, name) * c**power, getattr(other.trajectory, name)), name
    assert other.smoothness == c * run.smoothness
    assert other.problem.optimal_value == c * problem.optimal_value


@given(seeds, st.integers(1, 4), st.integers(1, 3))
@few
def test_one_local_step_is_centralised_descent(seed: int, clients: int, dimension: int) -> None:
    """With tau = 1 and full participation the run is SGD with noise of variance sum_i p_i^2 sigma_i^2."""
    generator = np.random.default_rng(seed)
    problem = random_problem(generator, clients, dimension)
    eta, variances = fmpq(1, 5), problem.oracle.variances  # type: ignore[attr-defined]
    run = Run(problem, fedavg(problem, rounds=3, local_step_size=eta))
    noise = (problem.weights * problem.weights * variances).sum()
    central = quadratic(problem.hessian[None], problem.mean_linear[None], problem.start, noise=RATIONAL.array([noise]))
    alone = Run(central, fedavg(central, rounds=3, local_step_size=eta))
    assert same(run.trajectory.moments, alone.trajectory.moments)
    assert same(run.trajectory.server_suboptimality, alone.trajectory.server_suboptimality)


@given(seeds, st.integers(2, 5))
@few
def test_equal_clients_divide_the_noise_by_their_number(seed: int, clients: int) -> None:
    """With tau = 1 and M equal clients the noise is that of SGD with sigma^2 / M."""
    generator = np.random.default_rng(seed)
    one = random_problem(generator, 1, 2)
    variance = one.oracle.variances  # type: ignore[attr-defined]
    many = quadratic(
        np.repeat(one.hessians, clients, 0),
        np.repeat(one.linear, clients, 0),
        one.start,
        noise=np.repeat(variance, clients),
    )
    calm = quadratic(one.hessians, one.linear, one.start, noise=variance / clients)
    runs = [Run(p, fedavg(p, rounds=3, local_step_size=fmpq(1, 4))) for p in (many, calm)]
    assert same(runs[0].trajectory.moments, runs[1].trajectory.moments)


@given(seeds, st.integers(2, 4), st.integers(1, 3))
@few
def test_identical_clients_without_noise_are_one_client(seed: int, clients: int, steps: int) -> None:
    """The run is the same for all weights and participation laws, and has no drift."""
    generator = np.random.default_rng(seed)
    one = random_problem(generator, 1, 2, noisy=False)
    shares = fractions(generator, clients)
    many = quadratic(
        np.repeat(one.hessians, clients, 0), np.repeat(one.linear, clients, 0), one.start, weights=shares / shares.sum()
    )
    alone = Run(one, fedavg(one, rounds=3, local_step_size=fmpq(1, 4), local_steps=steps)).trajectory
    for law in (Full(), Multinomial(2)):
        together = Run(
            many, fedavg(many, rounds=3, local_step_size=fmpq(1, 4), local_steps=steps, participation=law)
        ).trajectory
        assert same(together.moments, alone.moments)
        assert (together.drift == 0).all()


@given(seeds, st.integers(1, 3), st.integers(1, 3), st.integers(1, 3))
@few
def test_one_client_is_plain_sgd(seed: int, dimension: int, steps: int, rounds: int) -> None:
    """With M = 1, E|x - x*|^2 follows the textbook recursion of mean and covariance."""
    generator = np.random.default_rng(seed)
    problem = random_problem(generator, 1, dimension)
    eta = fmpq(1, 5)
    trajectory = Run(problem, fedavg(problem, rounds=rounds, local_step_size=eta, local_steps=steps)).trajectory
    hessian, variance = problem.hessians[0], problem.oracle.variances[0]  # type: ignore[attr-defined]
    keep = RATIONAL.identity(dimension) - eta * hessian
    mean, covariance = problem.start, RATIONAL.zeros(dimension, dimension)
    for n in range(rounds):
        for k in range(steps):
            away = mean - problem.optimum
            assert trajectory.local_distance_sq[n, k] == away @ away + covariance.trace()
            mean = mean - eta * (hessian @ mean - problem.linear[0])
            covariance = keep @ covariance @ keep + eta * eta * variance / dimension * RATIONAL.identity(dimension)
        assert trajectory.server_mean[n + 1].tolist() == mean.tolist()
        away = mean - problem.optimum
        assert trajectory.server_distance_sq[n + 1] == away @ away + covariance.trace()
    assert (trajectory.drift == 0).all()


@given(seeds, st.integers(1, 3), st.integers(1, 3), st.integers(0, 2))
@few
def test_both_arithmetics_agree(seed: int, clients: int, dimension: int, law: int) -> None:
    """Rational and float runs agree to nine digits with additive noise."""
    generator = np.random.default_rng(seed)
    _assert_floats_agree(_run(random_problem(generator, clients, dimension), generator, _law(law, clients)))


@given(seeds, st.integers(1, 3), st.booleans(), st.integers(0, 2))
@few
def test_both_arithmetics_agree_on_data(seed: int, clients: int, replacement: bool, law: int) -> None:
    """Rational and float runs agree to nine digits with mini-batches."""
    generator = np.random.default_rng(seed)
    rows = [3 + int(generator.integers(3)) for _ in range(clients)]
    table = ClientData(
        tuple(
            RATIONAL.array(generator.integers(-3, 4, (n, 2))) / fmpq(3) + RATIONAL.array(np.eye(n, 2, dtype=int))
            for n in rows
        ),
        tuple(RATIONAL.array(generator.integers(-3, 4, n)) for n in rows),
    )
    problem = least_squares(table, RATIONAL.array([1, -1]), batch=2, replacement=replacement)
    if np.linalg.cond(FLOAT.array(problem.hessian)) < 1e3:
        _assert_floats_agree(_run(problem, generator, _law(law, clients)))


def _assert_floats_agree(run: Run) -> None:
    floats = run.as_floats()
    assert floats.trajectory.moments.dtype == float
    for name in (*SCALARS, "server_mean"):
        exact, near = FLOAT.array(getattr(run.trajectory, name)), getattr(floats.trajectory, name)
        scale = max(1e-300, float(np.abs(exact).max(initial=0.0)))
        assert near == pytest.approx(exact, rel=1e-9, abs=1e-9 * scale), name
    for name in ("smoothness", "strong_convexity", "initial_distance_sq", "initial_gap"):
        exact_number: Any = FLOAT.number(getattr(run, name), name)
        assert getattr(floats, name) == pytest.approx(exact_number, rel=1e-9, abs=1e-9), name


@given(seeds, st.integers(1, 3), st.integers(1, 2))
@few
def test_translating_space_translates_the_run(seed: int, clients: int, dimension: int) -> None:
    """Under x -> x + a, with b_i -> b_i + H_i a, distances, gaps and drift do not change."""
    generator = np.random.default_rng(seed)
    run = _run(random_problem(generator, clients, dimension), generator)
    problem, shift = run.problem, fractions(generator, dimension)
    linear = problem.linear + problem.hessians @ shift
    moved = Run(replace(problem, linear=linear, start=problem.start + shift), run.algorithm)
    for name in SCALARS:
        assert same(getattr(run.trajectory, name), getattr(moved.trajectory, name)), name
    assert same(run.trajectory.server_mean + shift, moved.trajectory.server_mean)


@given(seeds, st.integers(1, 3), st.integers(1, 2))
@few
def test_the_centred_problem_is_the_same_problem(seed: int, clients: int, dimension: int) -> None:
    """Values and gradients of every client agree at translated points; the optimum is the origin."""
    generator = np.random.default_rng(seed)
    problem = random_problem(generator, clients, dimension)
    centred, at = problem.centred, fractions(generator, dimension)
    assert (centred.optimum == 0).all()
    assert centred.value(at) == problem.value(at + problem.optimum)
    here, there = (np.tile(p, (clients, 1)) for p in (at, at + problem.optimum))
    assert same(centred.gradients(here), problem.gradients(there))
    assert problem.value(at) >= problem.optimal_value
