"""Instances with one policy each: one client, full rounds, sampling with replacement, ladders of updates."""

from __future__ import annotations

import numpy as np
from flint import fmpq

from fedtheory.engine.run import Run
from fedtheory.federation import Multinomial, fedavg
from fedtheory.federation.aggregation import compute_time_based_weights
from fedtheory.federation.clock import Asynchronous, Clock, FedFix, Policy, Synchronous
from fedtheory.federation.problem.generators import draw_quadratics
from fedtheory.language import assumptions as a
from fedtheory.language.families import NOISES, SPREADS, Choices, family, pick
from fedtheory.sources.fraboni2022.instances.asynchronous import (
    draw_clients_of_types,
    draw_integer_times,
    make_one_of_two,
    make_rare_sample,
    make_run_at_admissible_step,
)

_FRACTIONS: Choices = (fmpq(1), fmpq(1, 2), fmpq(1, 4), fmpq(6))


@family("one client", 210, meant_for=a.one_client)
def one_client(number: int) -> Run:
    """One client, up to three local steps and four rounds."""
    generator = np.random.default_rng([18, number])
    problem = draw_clients_of_types(generator, 1, 1 + number % 5 // 4)
    clock = Clock(Synchronous(), draw_integer_times(generator, 1, 4))
    steps, rounds = 1 + int(generator.integers(3)), 1 + int(generator.integers(4))
    return make_run_at_admissible_step(problem, pick(generator, _FRACTIONS), rounds, local_steps=steps, clock=clock)


@family("full rounds", 210, meant_for=a.full_rounds)
def full_rounds(number: int) -> Run:
    """One to four clients, all of them in every round, which lasts as long as the slowest one."""
    generator = np.random.default_rng([19, number])
    clients = 1 + int(generator.integers(4))
    problem = draw_clients_of_types(generator, clients, 1)
    clock = Clock(Synchronous(), draw_integer_times(generator, clients, 4))
    steps, rounds = 1 + int(generator.integers(2)), 1 + int(generator.integers(4))
    return make_run_at_admissible_step(problem, pick(generator, _FRACTIONS), rounds, local_steps=steps, clock=clock)


@family("drawn with replacement", 210, meant_for=a.multinomial_sampling)
def drawn_with_replacement(number: int) -> Run:
    """One to four clients, one to three draws with replacement, with the client weights as probabilities."""
    generator = np.random.default_rng([20, number])
    clients = 1 + int(generator.integers(4))
    problem = draw_clients_of_types(generator, clients, 1)
    return make_run_at_admissible_step(
        problem,
        pick(generator, _FRACTIONS),
        1 + int(generator.integers(3)),
        local_steps=1 + int(generator.integers(2)),
        clock=Clock(Synchronous(), draw_integer_times(generator, clients, 4)),
        participation=Multinomial(1 + int(generator.integers(3))),
    )


@family("a rare sample", 1, meant_for=a.theorem_step_size)
def a_rare_sample(_number: int) -> Run:
    """One client with one sample in 4000 that has all the curvature, mini-batches of one, 30 steps."""
    return make_rare_sample(4000, 30)


@family("much local work", 1, meant_for=a.unbiased_updates)
def much_local_work(_number: int) -> Run:
    """Two clients of which one participates, with 64 local steps in one round."""
    return make_one_of_two(64, 1, fmpq(1, 4096), 64)


def _make_steady(number: int, seed: int, policy: Policy) -> Run:
    """Return four updates of up to three strongly convex clients with times up to 3 and the closed-form weights."""
    generator = np.random.default_rng([seed, number])
    clients = 1 + int(generator.integers(3))
    spectra = [[pick(generator, (fmpq(1, 2), fmpq(1), fmpq(2)))] for _ in range(clients)]
    problem = draw_quadratics(
        generator, spectra, shared=False, heterogeneity=pick(generator, SPREADS), noise=pick(generator, NOISES)
    )
    clock = Clock(policy, draw_integer_times(generator, clients, 3))
    algorithm = fedavg(
        problem,
        rounds=4,
        local_step_size=fmpq(1, 64),
        local_steps=1 + int(generator.integers(2)),
        clock=clock,
        aggregation=compute_time_based_weights(clock, problem.weights),
    )
    return Run(problem, algorithm)


@family("steady full rounds", 204, in_floats=True, meant_for=a.full_rounds, for_rates=True)
def steady_full_rounds(number: int) -> Run:
    """Strongly convex quadratics, rounds that wait for all clients, for ladders of growing numbers of updates."""
    return _make_steady(number, 21, Synchronous())


@family("steady asynchronous", 204, in_floats=True, meant_for=a.asynchronous, for_rates=True)
def steady_asynchronous(number: int) -> Run:
    """Strongly convex quadratics, an update for every contribution, for ladders of growing numbers of updates."""
    return _make_steady(number, 22, Asynchronous("one-by-one" if number % 2 else "together"))


@family("steady intervals", 204, in_floats=True, meant_for=a.fixed_intervals, for_rates=True)
def steady_intervals(number: int) -> Run:
    """Strongly convex quadratics, an update at fixed intervals of 1 or 2, for ladders of growing numbers of updates."""
    return _make_steady(number, 23, FedFix(fmpq(1 + number % 2)))
