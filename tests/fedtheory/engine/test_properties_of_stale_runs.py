"""Invariances of every run with stale models, on random instances."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from flint import fmpq
from hypothesis import given
from hypothesis import strategies as st
from random_problems import few, fractions, permuted, random_problem, rotated, same, seeds

from fedtheory.arithmetic import Array
from fedtheory.engine.run import Run
from fedtheory.federation import fedavg
from fedtheory.federation.aggregation import compute_time_based_weights
from fedtheory.federation.clock import Asynchronous, Clock, FedBuff, FedFix, Policy, Synchronous
from fedtheory.federation.problem import Problem, quadratic
from fedtheory.federation.problem.generators import draw_rotation

SCALARS = (
    "server_suboptimality",
    "server_distance_sq",
    "server_gradient_sq",
    "local_suboptimality",
    "local_distance_sq",
    "local_gradient_sq",
    "drift",
)


def _policy(number: int, clients: int) -> Policy:
    return (Asynchronous(), FedFix(fmpq(3, 4)), FedBuff(1 + clients // 2))[number]


def _run(problem: Problem, generator: np.random.Generator, clock: Clock, weights: Array | None = None) -> Run:
    """Return five updates of up to two local steps, with unequal step sizes and a server step."""
    algorithm = fedavg(
        problem,
        rounds=5,
        local_step_size=fractions(generator, problem.clients) / fmpq(6),
        local_steps=1 + int(generator.integers(2)),
        server_step_size=fmpq(int(generator.integers(1, 5)), 3),
        clock=clock,
        aggregation=weights,
    )
    return Run(problem, algorithm)


def _random_run(seed: int, clients: int, dimension: int, policy: int, noisy: bool = True) -> Run:
    generator = np.random.default_rng(seed)
    problem = random_problem(generator, clients, dimension, noisy)
    clock = Clock(_policy(policy, clients), tuple(fractions(generator, clients)))
    return _run(problem, generator, clock, fractions(generator, clients))


def _with_clock(run: Run, clock: Clock) -> Run:
    return Run(run.problem, replace(run.algorithm, clock=clock))


policies = st.integers(0, 2)


@given(seeds, st.integers(1, 3), st.integers(2, 3), policies)
@few
def test_rotating_coordinates_changes_no_scalar(seed: int, clients: int, dimension: int, policy: int) -> None:
    """Under x -> Q x, with H -> Q H Q' and b -> Q b, no scalar changes."""
    run = _random_run(seed, clients, dimension, policy)
    turn = draw_rotation(np.random.default_rng(seed + 1), dimension)
    other = Run(rotated(run.problem, turn), run.algorithm).trajectory
    for name in SCALARS:
        assert same(getattr(run.trajectory, name), getattr(other, name)), name
    assert same(other.server_mean, run.trajectory.server_mean @ turn.T)


@given(seeds, st.integers(2, 4), st.integers(1, 2), policies)
@few
def test_the_order_of_clients_does_not_matter(seed: int, clients: int, dimension: int, policy: int) -> None:
    """Permuted clients give the same server, and permuted drift."""
    run = _random_run(seed, clients, dimension, policy)
    order = np.random.default_rng(seed + 1).permutation(clients)
    problem, algorithm = run.problem, run.algorithm
    moved = permuted(problem, order)
    chosen = algorithm.aggregation.weights(problem.weights)[order]
    other = Run(
        moved,
        replace(
            algorithm,
            work=replace(algorithm.work, step_sizes=algorithm.work.step_sizes[order]),
            clock=replace(algorithm.clock, times=tuple(algorithm.clock.times[i] for i in order)),
            aggregation=replace(algorithm.aggregation, chosen=tuple(chosen)),
        ),
    )
    assert same(run.trajectory.moments, other.trajectory.moments)
    assert same(run.trajectory.local_suboptimality, other.trajectory.local_suboptimality)
    assert same(run.trajectory.drift[:, :, order], other.trajectory.drift)
    assert run.algorithm.times(problem.weights) == other.algorithm.times(moved.weights)


@given(seeds, st.integers(1, 4), st.integers(1, 2))
@few
def test_clocks_that_are_synchronous_after_all(seed: int, clients: int, dimension: int) -> None:
    """Equal times, a buffer for all clients, and a long interval give synchronous rounds."""
    run = _random_run(seed, clients, dimension, 0)
    times, equal = run.algorithm.clock.times, (fmpq(2, 3),) * clients
    waiting = _with_clock(run, Clock(Synchronous(), times))
    alike = [
        Clock(Asynchronous(), equal),
        Clock(FedBuff(clients), times),
        Clock(FedBuff(clients, "one-by-one"), times),
        Clock(FedFix(max(times)), times),
        Clock(FedFix(2 * max(times)), times),
    ]
    for clock in alike:
        assert same(_with_clock(run, clock).trajectory.moments, waiting.trajectory.moments), clock
    assert _with_clock(run, alike[1]).algorithm.times(run.problem.weights) == waiting.algorithm.times(
        run.problem.weights
    )


@given(seeds, st.integers(1, 4), st.integers(1, 2))
@few
def test_half_an_interval_skips_every_second_update(seed: int, clients: int, dimension: int) -> None:
    """In FedFix-0.5 with equal clients every second model is the synchronous one with eta_g = 2."""
    generator = np.random.default_rng(seed)
    problem = random_problem(generator, clients, dimension)
    clock = Clock(FedFix(fmpq(1, 2)), (fmpq(1),) * clients)
    run = _run(problem, generator, clock, compute_time_based_weights(clock, problem.weights))
    run = run.with_rounds(6)
    single = Run(problem, replace(run.algorithm, aggregation=replace(run.algorithm.aggregation, server_step_size=1)))
    double = replace(single.algorithm.aggregation, server_step_size=fmpq(2), chosen=None)
    waiting = Run(
        problem, replace(run.algorithm, clock=Clock(Synchronous(), clock.times), aggregation=double, rounds=3)
    )
    assert same(single.trajectory.moments[::2], waiting.trajectory.moments)
    # Nothing arrives in the first half of a client's time.
    assert same(run.trajectory.moments[1::2], run.trajectory.moments[:-1:2])


@given(seeds, st.integers(1, 3), st.integers(0, 2))
@few
def test_one_client_is_never_stale(seed: int, dimension: int, policy: int) -> None:
    """With M = 1 every policy is centralised SGD."""
    run = _random_run(seed, 1, dimension, policy)
    clocks = [Clock(Asynchronous("one-by-one"), (fmpq(7, 3),)), Clock(FedBuff(1), (fmpq(1, 9),))]
    clocks.append(Clock(FedFix(fmpq(1)), (fmpq(1),)))
    waiting = _with_clock(run, Clock(Synchronous(), (fmpq(1),)))
    for clock in clocks:
        assert same(_with_clock(run, clock).trajectory.moments, waiting.trajectory.moments)


@given(seeds, st.integers(1, 3), st.integers(1, 2), policies)
@few
def test_the_mean_is_linear_in_start_and_linear_terms(seed: int, clients: int, dimension: int, policy: int) -> None:
    """Means are linear in starts and linear terms, and independent of noise."""
    run = _random_run(seed, clients, dimension, policy)
    generator, problem = np.random.default_rng(seed + 1), run.problem
    linear, start = problem.linear * fmpq(-2, 3), fractions(generator, dimension)
    linear[0] = linear[0] + fractions(generator, dimension)
    parts = [
        quadratic(problem.hessians, b, x, weights=problem.weights)
        for b, x in ((problem.linear, problem.start), (linear, start), (problem.linear + linear, problem.start + start))
    ]
    first, second, both = (Run(part, run.algorithm).trajectory.server_mean for part in parts)
    assert same(first + second, both)
    assert same(first, run.trajectory.server_mean)


@given(seeds, st.integers(1, 4), st.integers(1, 2), policies)
@few
def test_without_noise_there_is_one_path(seed: int, clients: int, dimension: int, policy: int) -> None:
    """Without noise second moments have rank one; with noise, variances are positive."""
    run = _random_run(seed, clients, dimension, policy, noisy=False)
    moments = run.trajectory.moments
    assert same(moments, moments[:, :, :1] * moments[:, :1, :])
    virtual = run.trajectory.stale.moments
    assert same(virtual, virtual[..., :1] * virtual[..., :1, :])


@given(seeds, st.integers(1, 4), st.integers(1, 2), policies)
@few
def test_virtual_iterates_lead_from_model_to_model(seed: int, clients: int, dimension: int, policy: int) -> None:
    """theta^{n,0} = theta^n and theta^{n,K} = theta^{n+1}, in all second moments."""
    trajectory = _random_run(seed, clients, dimension, policy).trajectory
    assert same(trajectory.stale.moments[:, 0], trajectory.moments[:-1])
    assert same(trajectory.stale.moments[:, -1], trajectory.moments[1:])
