"""Instances with every clock policy and unequal reporting: small schedules, whole cycles, sampled rounds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from flint import fmpq

from fedtheory.arithmetic import RATIONAL, Array
from fedtheory.engine.run import Run
from fedtheory.federation import Full, Multinomial, Participation, Uniform, fedavg
from fedtheory.federation.aggregation import compute_time_based_weights
from fedtheory.federation.client_data import ClientData
from fedtheory.federation.clock import Asynchronous, Clock, FedBuff, FedFix, Policy, Synchronous
from fedtheory.federation.problem import Problem, least_squares, quadratic
from fedtheory.federation.problem.generators import draw_quadratics
from fedtheory.language import assumptions as a
from fedtheory.language.families import CURVATURES, NOISES, SPREADS, Choices, family, pick

_POLICIES: tuple[Policy, ...] = (
    Asynchronous("one-by-one"),
    Asynchronous("together"),
    FedFix(fmpq(1)),
    FedFix(fmpq(2)),
    FedBuff(2, "one-by-one"),
    FedBuff(2, "together"),
    Synchronous(),
)
_WEIGHTS: Choices = (fmpq(1, 4), fmpq(1, 2), fmpq(1), fmpq(1), fmpq(2), fmpq(4))
"""Aggregation weights d_i, times M."""


def draw_clients_of_types(generator: np.random.Generator, clients: int, dimension: int) -> Problem:
    """Return random quadratics, sometimes with clients of one type, sometimes with unequal client weights."""
    spectra = [[pick(generator, CURVATURES) for _ in range(dimension)] for _ in range(clients)]
    shared = bool(generator.integers(2))
    noise, spread = pick(generator, NOISES), pick(generator, SPREADS)
    problem = draw_quadratics(generator, spectra, shared=shared, heterogeneity=spread, noise=noise)
    if generator.integers(3) == 0:
        kinds = list(generator.integers(max(clients - 1, 1), size=clients))
        problem = replace(problem, hessians=problem.hessians[kinds], linear=problem.linear[kinds])
    if generator.integers(3) == 0:
        shares = RATIONAL.array(generator.integers(1, 4, clients))
        problem = replace(problem, weights=shares / shares.sum())
    return problem


def _draw_data(generator: np.random.Generator, clients: int) -> Problem:
    """Return least squares with two samples in one dimension for each client, and mini-batches of one."""
    inputs = tuple(RATIONAL.array(generator.choice([-2, -1, 1, 2], (2, 1))) for _ in range(clients))
    outputs = tuple(RATIONAL.array(generator.integers(-1, 2, 2)) for _ in range(clients))
    return least_squares(ClientData(inputs, outputs), RATIONAL.array(generator.integers(-1, 2, 1)), batch=1)


def draw_integer_times(generator: np.random.Generator, clients: int, slowest: int) -> tuple[fmpq, ...]:
    """Sample an integer client time for each client."""
    return tuple(fmpq(int(time)) for time in generator.integers(1, slowest + 1, clients))


def _choose_weights(generator: np.random.Generator, clock: Clock, problem: Problem) -> Array | None:
    """Draw aggregation weights: None for the client weights, the closed forms, ones, or unequal numbers."""
    kind = int(generator.integers(4))
    if kind == 0:
        return None
    if kind == 1 and not isinstance(clock.policy, FedBuff):
        return compute_time_based_weights(clock, problem.weights)
    if kind == 2:
        return problem.weights * 0 + 1
    return RATIONAL.array([pick(generator, _WEIGHTS) / problem.clients for _ in range(problem.clients)])


def _compute_admissible_step(run: Run) -> fmpq:
    """Return the largest local step size of Theorem 1, (98), with one in place of 48 K L for L = 0."""
    rho = max(fmpq(1), run.surrogate.totals.max())
    staleness = run.algorithm.schedule.largest_staleness
    server_step = run.algorithm.aggregation.server_step_size
    bound = fmpq(1) / (48 * max(run.algorithm.work.steps) * run.smoothness) if run.smoothness > 0 else fmpq(1)
    largest: fmpq = bound * min(fmpq(1), 1 / (3 * rho * rho * server_step * (staleness + 1)))
    return largest


_FRACTIONS: Choices = (fmpq(1), fmpq(1), fmpq(1, 2), fmpq(1, 4), fmpq(1, 2), fmpq(1), fmpq(6), fmpq(36))
"""Step sizes as multiples of the largest admissible one; some steps of proofs hold for larger ones as well."""


def make_run_at_admissible_step(problem: Problem, fraction: fmpq, rounds: int, **algorithm: Any) -> Run:
    """Return a run whose local step size is a multiple `fraction` of the largest one that Theorem 1 admits."""
    plain = Run(problem, fedavg(problem, rounds=rounds, local_step_size=fmpq(1), **algorithm))
    return plain.with_work(plain.algorithm.work.steps, fraction * _compute_admissible_step(plain))


def _make_equal_clients(clients: int, weights: Array | None = None) -> Problem:
    """Return clients with the objective x^2/2, from 1, without noise."""
    array = RATIONAL.array
    return quadratic(array([[[1]]] * clients), array([[0]] * clients), array([1]), weights=weights)


def _make_stale_report() -> Run:
    """Return a run in which the first client moves the server to the optimum, and the second one, of weight 1/16, then
    reports from the start.
    """
    problem, clock = _make_equal_clients(2), Clock(Asynchronous(), (fmpq(2), fmpq(3)))
    weights = RATIONAL.array(["1", "1/16"])
    return Run(problem, fedavg(problem, rounds=2, local_step_size=fmpq(1), clock=clock, aggregation=weights))


def _make_large_server_step() -> Run:
    """Return a run with one client, two local steps, and a server step of 20."""
    problem, size = _make_equal_clients(1), fmpq(1, 4)
    return Run(problem, fedavg(problem, rounds=1, local_step_size=size, local_steps=2, server_step_size=fmpq(20)))


def _make_unequal_sampled_clients() -> Run:
    """Return a round of one of 16 clients with very unequal client weights, at the step size of Theorem 1."""
    problem = _make_equal_clients(16, RATIONAL.array(["15/16", *["1/240"] * 15]))
    return Run(problem, fedavg(problem, rounds=1, local_step_size=fmpq(1, 144), participation=Uniform(1)))


def make_one_of_two(local_steps: int, rounds: int, step_size: fmpq, server_step: int) -> Run:
    """Return a run of two clients with opposite gradients at the optimum, one of which participates in each round."""
    array = RATIONAL.array
    problem = quadratic(array([[[1]]] * 2), array([[1], [-1]]), array([0]))
    algorithm = fedavg(
        problem,
        rounds=rounds,
        local_step_size=step_size,
        local_steps=local_steps,
        server_step_size=fmpq(server_step),
        participation=Uniform(1),
    )
    return Run(problem, algorithm)


def make_rare_sample(samples: int, rounds: int) -> Run:
    """Return a run of one client, only one of whose samples has curvature, with mini-batches of one, from 1."""
    inputs, outputs = RATIONAL.array([[1], *[[0]] * (samples - 1)]), RATIONAL.array([0] * samples)
    problem = least_squares(ClientData((inputs,), (outputs,)), RATIONAL.array([1]), batch=1)
    return make_run_at_admissible_step(problem, fmpq(1), rounds)


_SPECIAL_RUNS: tuple[Callable[[], Run], ...] = (
    _make_stale_report,
    _make_large_server_step,
    _make_unequal_sampled_clients,
    lambda: make_one_of_two(64, 1, fmpq(1, 4096), 64),
    lambda: make_one_of_two(8, 1, fmpq(1, 8000), 1),
    lambda: make_rare_sample(40, 1),
)
_RANDOM_RUNS = 340


@family("small schedules", _RANDOM_RUNS + len(_SPECIAL_RUNS), meant_for=a.aggregation_scheme)
def small_schedules(number: int) -> Run:
    """Up to four clients with every policy, times from 1 to 3, up to three local steps, weights of every kind."""
    if number >= _RANDOM_RUNS:
        return _SPECIAL_RUNS[number - _RANDOM_RUNS]()
    generator = np.random.default_rng([13, number])
    clients = 1 + int(generator.integers(4))
    problem = (
        _draw_data(generator, min(clients, 3))
        if number % 8 == 7
        else draw_clients_of_types(generator, clients, 1 + number % 9 // 8)
    )
    clients = problem.clients
    policy = _POLICIES[number % len(_POLICIES)]
    if isinstance(policy, FedBuff):
        policy = replace(policy, buffer=min(policy.buffer, clients))
    clock = Clock(policy, draw_integer_times(generator, clients, 1 if number % 5 == 0 else 3))
    weights = _choose_weights(generator, clock, problem)
    law: Participation = Full()
    if isinstance(policy, Synchronous) and generator.integers(3):
        law, weights = Uniform(1 + int(generator.integers(clients))), None
    return make_run_at_admissible_step(
        problem,
        pick(generator, _FRACTIONS),
        int(generator.integers(2, 9)),
        local_steps=1 + int(generator.integers(3)),
        server_step_size=pick(generator, (fmpq(1), fmpq(1), fmpq(1, 2), fmpq(2))),
        clock=clock,
        aggregation=weights,
        participation=law,
    )


def _draw_cycling_clients(generator: np.random.Generator, clients: int, number: int) -> Problem:
    """Return random quadratics in one dimension, with equal client weights unless `number` is a multiple of six."""
    problem = draw_clients_of_types(generator, clients, 1)
    return replace(problem, weights=RATIONAL.array([fmpq(1, clients)] * clients)) if number % 6 else problem


def _make_cycles(problem: Problem, clock: Clock, updates: int, step_size: fmpq, *, has_equal_weights: bool) -> Run:
    """Return a run with the aggregation weights one, or with those of the closed forms."""
    weights = problem.weights * 0 + 1 if has_equal_weights else compute_time_based_weights(clock, problem.weights)
    algorithm = fedavg(problem, rounds=updates, local_step_size=step_size, clock=clock, aggregation=weights)
    return Run(problem, algorithm)


@family("asynchronous cycles", 460, meant_for=a.asynchronous)
def asynchronous_cycles(number: int) -> Run:
    """Two to four clients with times from 1 to 4, one report at a time or ties together, one or two whole cycles."""
    generator = np.random.default_rng([14, number])
    clients = 2 + int(generator.integers(3))
    policy = Asynchronous("one-by-one" if number % 2 else "together")
    clock = Clock(policy, draw_integer_times(generator, clients, 1 if number % 7 == 0 else 4))
    problem = _draw_cycling_clients(generator, clients, number)
    period = fmpq(int(np.lcm.reduce([int(time.p) for time in clock.times])))
    updates = clock.updates_within(period * (1 + int(generator.integers(2))))
    step_size = pick(generator, (fmpq(1, 64), fmpq(1, 8)))
    return _make_cycles(problem, clock, updates, step_size, has_equal_weights=number % 5 == 0)


@family("fixed intervals", 240, meant_for=a.fixed_intervals)
def fixed_intervals(number: int) -> Run:
    """Two to four clients with times from 1 to 4, an interval of 1/2 to 4, one or two whole cycles."""
    generator = np.random.default_rng([15, number])
    clients = 2 + int(generator.integers(3))
    interval = pick(generator, (fmpq(1, 2), fmpq(1), fmpq(1), fmpq(3, 2), fmpq(2), fmpq(4)))
    clock = Clock(FedFix(interval), draw_integer_times(generator, clients, 1 if number % 7 == 0 else 4))
    problem = _draw_cycling_clients(generator, clients, number)
    cycle = int(np.lcm.reduce([int((time / interval).ceil()) for time in clock.times]))
    step_size = pick(generator, (fmpq(1, 64), fmpq(1, 8)))
    updates = cycle * (1 + int(generator.integers(2)))
    return _make_cycles(problem, clock, updates, step_size, has_equal_weights=number % 5 == 0)


@family("sampled weights", 240, meant_for=a.synchronous)
def sampled_weights(number: int) -> Run:
    """One to four clients in rounds that wait for all participants, sampled in every way, unequal update times."""
    generator = np.random.default_rng([16, number])
    clients = 1 + int(generator.integers(4))
    problem = draw_clients_of_types(generator, clients, 1)
    laws: tuple[Participation, ...] = (
        Full(),
        Uniform(1 + int(generator.integers(clients))),
        Multinomial(1 + int(generator.integers(3))),
    )
    return make_run_at_admissible_step(
        problem,
        pick(generator, _FRACTIONS),
        1 + int(generator.integers(4)),
        local_steps=1 + int(generator.integers(2)),
        clock=Clock(Synchronous(), draw_integer_times(generator, clients, 4)),
        participation=laws[number % 3],
    )
