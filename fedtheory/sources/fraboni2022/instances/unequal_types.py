"""Instances with clients of different types, and with FedFix intervals as long as the slowest client's time."""

from __future__ import annotations

import numpy as np
from flint import fmpq

from fedtheory.arithmetic import RATIONAL
from fedtheory.engine.run import Run
from fedtheory.federation import Full, Uniform, fedavg
from fedtheory.federation.aggregation import compute_time_based_weights
from fedtheory.federation.client_data import ClientData
from fedtheory.federation.clock import Asynchronous, Clock, FedFix
from fedtheory.federation.problem import Problem, least_squares, quadratic
from fedtheory.language import assumptions as a
from fedtheory.language.families import Choices, family, pick
from fedtheory.sources.fraboni2022.instances.asynchronous import draw_integer_times

_CURVATURES: Choices = (fmpq(1, 2), fmpq(1), fmpq(2))
_STEPS: Choices = (fmpq(1, 64), fmpq(1, 8), fmpq(1, 4))


def _draw_distinct_clients(generator: np.random.Generator, clients: int) -> Problem:
    """Return one-dimensional clients h_i/2 (x - i)^2 with different minimisers i, from a start of at most 2."""
    curvatures = [pick(generator, _CURVATURES) for _ in range(clients)]
    hessians = RATIONAL.array([[[h]] for h in curvatures])
    linear = RATIONAL.array([[h * minimiser] for minimiser, h in enumerate(curvatures)])
    return quadratic(hessians, linear, RATIONAL.array(generator.integers(-2, 3, 1)))


def _make_long_interval_run(generator: np.random.Generator, clients: int) -> Run:
    """Return FedFix with the weights (40) and an interval of at least the slowest client's time."""
    problem, times = _draw_distinct_clients(generator, clients), draw_integer_times(generator, clients, 3)
    clock = Clock(FedFix(max(times) * pick(generator, (fmpq(1), fmpq(3, 2)))), times)
    algorithm = fedavg(
        problem,
        rounds=1 + int(generator.integers(3)),
        local_step_size=pick(generator, _STEPS),
        local_steps=1 + int(generator.integers(2)),
        clock=clock,
        aggregation=compute_time_based_weights(clock, problem.weights),
    )
    return Run(problem, algorithm)


@family("intervals that no client exceeds", 140, meant_for=a.fixed_intervals)
def long_intervals(number: int) -> Run:
    """Two or three clients of FedFix that all report in every update."""
    return _make_long_interval_run(np.random.default_rng([24, number]), 2 + number % 2)


@family("one client and long intervals", 210, meant_for=a.one_client)
def one_client_and_long_intervals(number: int) -> Run:
    """One client of FedFix that reports in every update."""
    return _make_long_interval_run(np.random.default_rng([25, number]), 1)


@family("every client a type", 140, meant_for=a.fair_types)
def every_client_a_type(number: int) -> Run:
    """One to three clients of different types, all of them in every round, or sampled without bias."""
    generator = np.random.default_rng([26, number])
    problem = _draw_distinct_clients(generator, 1 + number % 3)
    law = Full() if number % 2 else Uniform(1 + int(generator.integers(problem.clients)))
    size, rounds = pick(generator, _STEPS), 1 + int(generator.integers(3))
    return Run(problem, fedavg(problem, rounds=rounds, local_step_size=size, participation=law))


@family("unlike clients one at a time", 140, meant_for=a.somebody_reports)
def unlike_clients_one_at_a_time(number: int) -> Run:
    """Two or three clients with different minimisers that report in turn, or every seventh time all together."""
    generator = np.random.default_rng([27, number])
    problem = _draw_distinct_clients(generator, 2 + number % 2)
    if number % 7 == 0:
        return Run(problem, fedavg(problem, rounds=2, local_step_size=pick(generator, _STEPS)))
    clock = Clock(Asynchronous("one-by-one"), draw_integer_times(generator, problem.clients, 3))
    weights = compute_time_based_weights(clock, problem.weights)
    size, rounds = pick(generator, _STEPS), 2 + int(generator.integers(4))
    return Run(problem, fedavg(problem, rounds=rounds, local_step_size=size, clock=clock, aggregation=weights))


@family("some of unlike clients", 140, meant_for=a.strongly_convex_clients)
def some_of_unlike_clients(number: int) -> Run:
    """One of two, or one or two of three clients with different minimisers, with moderate steps."""
    generator = np.random.default_rng([28, number])
    problem = _draw_distinct_clients(generator, 2 + number % 2)
    law = Uniform(1 + int(generator.integers(problem.clients - 1)))
    effective = pick(generator, (fmpq(1, 32), fmpq(1, 128)))
    steps = tuple(1 + int(count) for count in generator.integers(2, size=problem.clients))
    sizes = RATIONAL.array([effective / count for count in steps])
    return Run(problem, fedavg(problem, rounds=1, local_step_size=sizes, local_steps=steps, participation=law))


@family("a few rows", 210, meant_for=a.least_squares_loss)
def a_few_rows(number: int) -> Run:
    """Two clients with two or three rows of small integers, full gradients or mini-batches of one."""
    generator = np.random.default_rng([29, number])
    shape = (2 + int(generator.integers(2)), 1 + number % 2)
    inputs = tuple(RATIONAL.array(generator.integers(-2, 3, shape)) for _ in range(2))
    outputs = tuple(RATIONAL.array(generator.integers(-1, 2, shape[0])) for _ in range(2))
    start = RATIONAL.array(generator.integers(-1, 2, shape[1]))
    batch = None if number % 3 == 0 else 1
    problem = least_squares(ClientData(inputs, outputs), start, batch=batch, replacement=number % 3 == 1)
    return Run(problem, fedavg(problem, rounds=1 + number % 2, local_step_size=pick(generator, _STEPS)))
