"""Instances with fairly represented types of clients, and the two examples (fraboni2022, Section 3)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from flint import fmpq

from fedtheory.arithmetic import RATIONAL, Array
from fedtheory.engine.run import Run
from fedtheory.federation import Full, Uniform, fedavg
from fedtheory.federation.clock import Asynchronous, Clock, FedBuff, FedFix, Policy, Synchronous
from fedtheory.federation.problem import Problem
from fedtheory.federation.problem.generators import draw_quadratics, draw_vector
from fedtheory.federation.problem.matrices import quadratic
from fedtheory.language import assumptions as a
from fedtheory.language.families import CURVATURES, NOISES, SPREADS, Choices, family, pick
from fedtheory.sources.fraboni2022.instances.asynchronous import make_run_at_admissible_step

_POLICIES: tuple[Policy, ...] = (
    Asynchronous("one-by-one"),
    Asynchronous("together"),
    FedFix(fmpq(1)),
    FedBuff(2, "one-by-one"),
    FedBuff(2, "together"),
    Synchronous(),
)
_WEIGHTS: Choices = (fmpq(1, 4), fmpq(1, 2), fmpq(1), fmpq(2))
_FRACTIONS: Choices = (fmpq(1), fmpq(1), fmpq(1, 2))
_PAIRS = [0, 1, 0, 1]
"""Types of four clients; the first two and the last two report together."""


def _make_run(generator: np.random.Generator, problem: Problem, **algorithm: Any) -> Run:
    """Return a run with a random step size that Theorem 1 admits."""
    return make_run_at_admissible_step(problem, pick(generator, _FRACTIONS), **algorithm)


def _draw_clients(generator: np.random.Generator, types: list[int]) -> Problem:
    """Return quadratics in one dimension; clients with the same number in `types` have the same objective."""
    spectra = [[pick(generator, CURVATURES)] for _ in types]
    noise, spread = pick(generator, NOISES), pick(generator, SPREADS)
    drawn = draw_quadratics(generator, spectra, shared=False, heterogeneity=spread, noise=noise)
    return replace(drawn, hessians=drawn.hessians[types], linear=drawn.linear[types])


def _draw_weights(generator: np.random.Generator, clients: int) -> Array:
    return RATIONAL.array([pick(generator, _WEIGHTS) for _ in range(clients)])


def _make_late_client() -> Run:
    """Return a run that ends before the second of two clients has reported."""
    problem = _make_unit_curvature(RATIONAL.zeros(2, 1), RATIONAL.identity(1)[0])
    clock = Clock(Asynchronous(), (fmpq(1), fmpq(4)))
    return Run(problem, fedavg(problem, rounds=3, local_step_size=fmpq(1, 1296), clock=clock))


@family("one type", 216, meant_for=a.one_type)
def clients_of_one_type(number: int) -> Run:
    """Two to four clients with the same objective, any policy, unequal aggregation weights and client weights."""
    if number == 0:
        return _make_late_client()
    generator = np.random.default_rng([18, number])
    clients = 2 + int(generator.integers(3))
    shares = _draw_weights(generator, clients)
    problem = replace(_draw_clients(generator, [0] * clients), weights=shares / shares.sum())
    times = tuple(fmpq(int(time)) for time in generator.integers(1, 4, clients))
    return _make_run(
        generator,
        problem,
        rounds=int(generator.integers(2, 8)),
        local_steps=1 + int(generator.integers(2)),
        clock=Clock(_POLICIES[number % len(_POLICIES)], times),
        aggregation=_draw_weights(generator, clients),
    )


def _make_slow_run() -> Run:
    """Return a run with one client of small weight that hardly moves in very many updates."""
    one = RATIONAL.identity(1)
    problem = quadratic(one[None], one * 0, one[0])
    weights = RATIONAL.array([fmpq(1, 4096)])
    return Run(problem, fedavg(problem, rounds=320, local_step_size=fmpq(1, 144), aggregation=weights))


def _draw_alternating_pairs(generator: np.random.Generator) -> Run:
    """Draw a run in which two pairs of clients take turns."""
    weights = RATIONAL.array([pick(generator, _WEIGHTS)] * 4)
    return _make_run(
        generator,
        _draw_clients(generator, _PAIRS),
        rounds=int(generator.integers(2, 7)),
        local_steps=1 + int(generator.integers(2)),
        clock=Clock(FedBuff(2, "one-by-one"), (fmpq(1),) * 4),
        aggregation=weights,
    )


def _draw_unbiased_run(generator: np.random.Generator) -> Run:
    """Draw a run with unbiased sampling, or full participation."""
    clients = 1 + int(generator.integers(4))
    problem = _draw_clients(generator, list(range(clients)))
    law = Uniform(1 + int(generator.integers(clients))) if generator.integers(2) else Full()
    rounds, steps = int(generator.integers(1, 6)), 1 + int(generator.integers(2))
    return _make_run(generator, problem, rounds=rounds, local_steps=steps, participation=law)


@family("fair types", 210, meant_for=a.fair_types)
def fair_clients(number: int) -> Run:
    """Types of clients that have their weight in every update: pairs that take turns, or unbiased sampling."""
    if number == 0:
        return _make_slow_run()
    generator = np.random.default_rng([19, number])
    return _draw_alternating_pairs(generator) if number % 2 else _draw_unbiased_run(generator)


def _make_unit_curvature(optima: Array, start: Array) -> Problem:
    """Return the objectives |x - optimum|^2 / 2 of the clients, (M, d), with the start, (d,)."""
    identity = RATIONAL.identity(len(start))
    return quadratic(np.stack([identity] * len(optima)), optima, start)


_STEPS: Choices = (fmpq(1, 8), fmpq(1, 4), fmpq(1, 2), fmpq(3, 4), fmpq(7, 8), fmpq(1, 16), fmpq(3, 2), fmpq(9, 8))


@family("turns of pairs", 288, meant_for=a.turns_of_pairs)
def pairs_in_turn(number: int) -> Run:
    """Example 1: two pairs of clients, one of each of two types, report in turn, also with large steps."""
    generator = np.random.default_rng([20, number])
    dimension = 1 + number % 4 // 3
    optima = np.stack([draw_vector(generator, dimension) for _ in range(2)])
    distance = draw_vector(generator, dimension)
    distance[0] = distance[0] + (fmpq(3) if distance[0] >= 0 else fmpq(-3))
    problem = _make_unit_curvature(optima[_PAIRS], optima.sum(axis=0) / fmpq(2) + distance)
    algorithm = fedavg(
        problem,
        rounds=2 * int(generator.integers(2, 7)),
        local_step_size=pick(generator, _STEPS),
        local_steps=1 + int(generator.integers(3)),
        clock=Clock(FedBuff(2, "one-by-one"), (fmpq(1),) * 4),
        aggregation=RATIONAL.array([fmpq(1, 2)] * 4),
    )
    return Run(problem, algorithm)


def _take_turns(problem: Problem, weights: list[fmpq], step_size: fmpq, rounds: int, local_steps: int = 1) -> Run:
    """Return a run in which two clients report in turn, with the given aggregation weights."""
    algorithm = fedavg(
        problem,
        rounds=rounds,
        local_step_size=step_size,
        local_steps=local_steps,
        clock=Clock(Asynchronous("one-by-one"), (fmpq(1),) * 2),
        aggregation=RATIONAL.array(weights),
    )
    return Run(problem, algorithm)


def _make_shifted_objectives() -> Run:
    """Return two objectives that differ by a constant, from their common minimiser."""
    zeros = RATIONAL.zeros(2, 1)
    problem = quadratic(zeros[..., None] + 1, zeros, zeros[0], constants=RATIONAL.array([0, 1]))
    return _take_turns(problem, [fmpq(1, 2)] * 2, fmpq(1, 2), 4)


def _make_heavy_weights() -> Run:
    """Return two clients with weights far above one and small steps."""
    problem = _make_unit_curvature(RATIONAL.array([[1], [-1]]), RATIONAL.array([3]))
    return _take_turns(problem, [fmpq(64)] * 2, fmpq(1, 4096), 4)


@family("turns of clients", 288, meant_for=a.turns_of_clients)
def clients_in_turn(number: int) -> Run:
    """Example 2: two clients report in turn, with equal or unequal weights."""
    if number < 2:
        return _make_heavy_weights() if number else _make_shifted_objectives()
    generator = np.random.default_rng([21, number])
    dimension = 1 + number % 4 // 3
    optima = np.stack([draw_vector(generator, dimension) for _ in range(2)])
    problem = _make_unit_curvature(optima, draw_vector(generator, dimension))
    chosen = [pick(generator, _WEIGHTS) for _ in range(2)]
    rounds, local_steps = 2 * int(generator.integers(2, 5)), 1 + int(generator.integers(3))
    return _take_turns(problem, chosen, pick(generator, _STEPS[:6]), rounds, local_steps)
