"""Instances with sampled clients and unequal local work (vlaski2023)."""

from __future__ import annotations

import numpy as np
from flint import fmpq

from fedtheory.arithmetic import RATIONAL
from fedtheory.engine.run import Run
from fedtheory.federation import Uniform, fedavg
from fedtheory.federation.client_data import ClientData
from fedtheory.federation.problem import Problem, least_squares, quadratic
from fedtheory.federation.problem.generators import draw_quadratics
from fedtheory.language import assumptions as a
from fedtheory.language.families import (
    CURVATURES,
    NOISES,
    SPREADS,
    Choices,
    compute_smoothness,
    family,
    pick,
)


def _make_sampled(problem: Problem, selected: int, steps: tuple[int, ...], effective: fmpq, rounds: int) -> Run:
    """Return FedAvg with uniform sampling, and with step sizes inverse to the clients' numbers of local steps."""
    sizes = RATIONAL.array([effective / count for count in steps])
    law = Uniform(selected)
    return Run(problem, fedavg(problem, rounds=rounds, local_step_size=sizes, local_steps=steps, participation=law))


def _draw_few_steps(generator: np.random.Generator, clients: int, most: int) -> tuple[int, ...]:
    """Draw the local steps of each client, one to three, with a bounded total."""
    steps = [1] * clients
    for client in generator.permutation(clients):
        steps[client] += int(generator.integers(min(2, max(most - sum(steps), 0)) + 1))
    return tuple(steps)


_EFFECTIVE: Choices = (fmpq(1, 64), fmpq(1, 8), fmpq(1, 2), fmpq(1), fmpq(3, 2))
"""Effective step sizes mu as fractions of 1/delta, delta the largest curvature of a client."""


@family("sampled clients", 240, meant_for=a.uniform_sampling)
def sampled_clients(number: int) -> Run:
    """Two to four clients of which some are sampled, one to three local steps each, quadratics or mini-batches."""
    generator = np.random.default_rng([8, number])
    clients = 2 + int(generator.integers(3 if number % 3 else 1))
    if number % 4 == 3:
        problem = _sample_data(generator, min(clients, 3))
    else:
        spectra = [[pick(generator, CURVATURES)] for _ in range(clients)]
        noise, spread = pick(generator, NOISES), pick(generator, SPREADS)
        problem = draw_quadratics(generator, spectra, shared=number % 5 == 0, heterogeneity=spread, noise=noise)
    smoothness = compute_smoothness(problem)
    steps = _draw_few_steps(generator, problem.clients, 5 if number % 4 != 3 else 4)
    selected = 1 + int(generator.integers(problem.clients))
    effective = pick(generator, _EFFECTIVE) / smoothness
    return _make_sampled(problem, selected, steps, effective, 1 + int(generator.integers(3)))


def _sample_data(generator: np.random.Generator, clients: int) -> Problem:
    """Return two samples in one dimension for each client, with mini-batches of one."""
    inputs = tuple(RATIONAL.array(generator.choice([-2, -1, 1, 2], (2, 1))) for _ in range(clients))
    outputs = tuple(RATIONAL.array(generator.integers(-1, 2, 2)) for _ in range(clients))
    return least_squares(ClientData(inputs, outputs), RATIONAL.array(generator.integers(-1, 2, 1)), batch=1)


@family("steady sampled clients", 210, in_floats=True, meant_for=a.uniform_sampling, for_rates=True)
def steady_sampled_clients(number: int) -> Run:
    """Strongly convex quadratics or data, up to two dimensions, sampled clients, for ladders of decreasing steps."""
    generator = np.random.default_rng([9, number])
    dimension, clients = 1 + number % 2, 2 + int(generator.integers(2))
    if number % 4 == 3:
        problem = _sample_data(generator, clients)
    else:
        spectra = [[pick(generator, (fmpq(1), fmpq(2), fmpq(4))) for _ in range(dimension)] for _ in range(clients)]
        noise, spread = pick(generator, NOISES), pick(generator, SPREADS)
        problem = draw_quadratics(generator, spectra, shared=number % 3 == 0, heterogeneity=spread, noise=noise)
    smoothness = compute_smoothness(problem)
    steps = _draw_few_steps(generator, clients, 4)
    return _make_sampled(problem, 1 + int(generator.integers(clients)), steps, fmpq(1, 16) / smoothness, 2)


@family("sampled clients, bold and timid steps", 120, meant_for=a.strongly_convex_clients)
def sampled_clients_large_and_small(number: int) -> Run:
    """Two clients of which one or both are sampled, with local steps of up to 3/delta, or very small ones."""
    generator = np.random.default_rng([12, number])
    spectra = [[pick(generator, CURVATURES[:3])] for _ in range(2)]
    noise, spread = pick(generator, NOISES[:3]), pick(generator, SPREADS)
    problem = draw_quadratics(generator, spectra, shared=number % 4 < 2, heterogeneity=spread, noise=noise)
    smoothness = compute_smoothness(problem)
    steps = _draw_few_steps(generator, 2, 4)
    large = pick(generator, (fmpq(1), fmpq(3, 2), fmpq(2), fmpq(3))) * max(steps)
    effective = (large if number % 2 else pick(generator, (fmpq(1, 16), fmpq(1, 64)))) / smoothness
    return _make_sampled(problem, 1 + int(generator.integers(2)), steps, effective, 1)


def _draw_unequal_steps(generator: np.random.Generator, clients: int) -> tuple[int, ...]:
    """Return local steps of each client, one to three, which are not all equal."""
    steps = [1] * (clients - 1) + [2 + int(generator.integers(2))]
    steps[0] += int(generator.integers(2)) if clients > 2 else 0
    return tuple(int(count) for count in generator.permutation(steps))


def _build_balanced_clients(generator: np.random.Generator) -> tuple[Problem, tuple[int, ...]]:
    """Return three clients: two with equal work and opposite gradients, and one between them with more work."""
    curvature, middle, reach = (fmpq(int(generator.integers(1, 4))) for _ in range(3))
    minimisers = RATIONAL.array([middle - reach, middle + reach, middle])
    hessians = RATIONAL.array([[[curvature]]] * 3)
    problem = quadratic(hessians, curvature * minimisers[:, None], RATIONAL.array(generator.integers(-2, 3, 1)))
    return problem, (1, 1, 2 + int(generator.integers(2)))


def _make_sampled_with_common_step(generator: np.random.Generator, number: int, dimension: int, fraction: fmpq) -> Run:
    """Return different sampled clients with unequal numbers of steps, all of one size."""
    clients = 2 + int(generator.integers(2))
    if number % 10 == 9:
        problem, steps = _build_balanced_clients(generator)
    else:
        spectra = [[pick(generator, (fmpq(1), fmpq(2), fmpq(4))) for _ in range(dimension)] for _ in range(clients)]
        noise, spread = pick(generator, NOISES[:2]), pick(generator, SPREADS[1:])
        problem = draw_quadratics(generator, spectra, shared=number % 3 == 0, heterogeneity=spread, noise=noise)
        steps = _draw_unequal_steps(generator, clients)
    smoothness = compute_smoothness(problem)
    law = Uniform(1 + int(generator.integers(problem.clients)))
    rounds, size = 1 + int(generator.integers(2)), fraction / (max(steps) * smoothness)
    return Run(problem, fedavg(problem, rounds=rounds, local_step_size=size, local_steps=steps, participation=law))


@family("sampled clients, common step", 240, meant_for=a.same_step_size)
def sampled_clients_common_step(number: int) -> Run:
    """Two or three sampled clients in one dimension, unequal numbers of local steps, one step size for all."""
    generator = np.random.default_rng([10, number])
    return _make_sampled_with_common_step(generator, number, 1, pick(generator, _EFFECTIVE[:4]))


@family("steady sampled clients, common step", 210, in_floats=True, meant_for=a.same_step_size, for_rates=True)
def steady_sampled_clients_common_step(number: int) -> Run:
    """Sampled clients with one step size and unequal numbers of steps, for ladders of decreasing steps."""
    generator = np.random.default_rng([11, number])
    return _make_sampled_with_common_step(generator, number, 1 + number % 2, fmpq(1, 4))
