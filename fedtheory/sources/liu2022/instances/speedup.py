"""Instances for bounds with second moments and for linear speed-up (liu2022): large steps, and steps tied to
sqrt(N/T).
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from flint import fmpq

from fedtheory.arithmetic import RATIONAL
from fedtheory.engine.run import Run
from fedtheory.federation import Aggregation, Uniform, fedavg
from fedtheory.federation.problem import Problem, quadratic
from fedtheory.federation.problem.generators import draw_quadratics
from fedtheory.language import assumptions as a
from fedtheory.language.families import (
    NOISES,
    SPREADS,
    STEP_FRACTIONS,
    Choices,
    compute_smoothness,
    family,
    pick,
    random_problem,
    with_fedavg,
)

_CURVED_AND_FLAT = [(fmpq(h), fmpq(1, division)) for h in (1, 2) for division in (1, 16, 256)]
"""Curvature of the first client, and step size as a fraction of 1/L."""


def _make_curved_and_flat(curvature: fmpq, fraction: fmpq) -> Run:
    """Return two clients in one dimension, one curved and one flat, from 1 to the optimum 0 in two local steps."""
    array = RATIONAL.array
    problem = quadratic(array([[[curvature]], [[0]]]), array([[0], [0]]), array([1]))
    return with_fedavg(problem, 4 * fraction, 2, 1)


@family("steps up to 1/L", 318, meant_for=a.bounded_second_moment)
def large_steps(number: int) -> Run:
    """Up to four clients, local steps and rounds; a third of the steps up to 2/L, the others at most 1/(6 K L)."""
    if number < len(_CURVED_AND_FLAT):
        return _make_curved_and_flat(*_CURVED_AND_FLAT[number])
    generator = np.random.default_rng([6, number])
    # Many instances are one-dimensional, where noise has two outcomes and a round can be enumerated.
    dimension, clients = 1 + number % 5 // 4, 1 + int(generator.integers(4))
    problem = random_problem(generator, clients, dimension, shared=number % 4 < 2)
    if number % 6 == 1:
        problem = replace(problem, start=problem.optimum)
    local_steps, rounds = 1 + int(generator.integers(4)), 1 + int(generator.integers(4))
    large = pick(generator, (fmpq(4), fmpq(4), fmpq(2), fmpq(8)))
    small = pick(generator, (fmpq(1), fmpq(1, 2), fmpq(1, 64))) * fmpq(4, 6 * local_steps)
    return with_fedavg(problem, large if number % 3 == 0 else small, local_steps, rounds)


def _draw_shape(generator: np.random.Generator, number: int) -> tuple[int, int, int]:
    """Return sqrt(N), sqrt(T) and K with N <= T and K dividing T; in two of three cases also K^4 N^3 <= T."""
    root_clients, root_iterations, local_steps = (
        [(1, 1, 1), (1, 4, 2), (1, 6, 2), (2, 8, 1), (1, 8, 2), (1, 3, 1), (1, 2, 1), (1, 5, 1)]
        if number % 3
        else [(2, 2, 1), (2, 4, 2), (2, 6, 3), (3, 3, 1), (3, 4, 4), (1, 2, 2), (1, 3, 3), (2, 4, 4)]
    )[int(generator.integers(8))]
    return root_clients, root_iterations, local_steps


def _set_speedup_step(problem: Problem, scale: fmpq, root_iterations: int, local_steps: int) -> Run:
    """Return FedAvg for T iterations with s = scale sqrt(N) / sqrt(T)."""
    size = scale * fmpq(math.isqrt(problem.clients), root_iterations)
    rounds = root_iterations**2 // local_steps
    return Run(problem, fedavg(problem, rounds=rounds, local_step_size=size, local_steps=local_steps))


@family("steps of the corollary", 312, meant_for=a.speedup_step)
def corollary_steps(number: int) -> Run:
    """N = 1, 4 or 9 clients, T = 1 to 64 iterations, s = sqrt(N) / (L sqrt(T)), all of them rational."""
    generator = np.random.default_rng([7, number])
    root_clients, root_iterations, local_steps = _draw_shape(generator, number)
    problem = random_problem(generator, root_clients**2, 1 + number % 4 // 3, shared=number % 3 > 0)
    smoothness = compute_smoothness(problem)
    return _set_speedup_step(problem, 1 / smoothness, root_iterations, local_steps)


_SMALL_CURVATURES: Choices = (*[fmpq(1, 16)] * 5, fmpq(1, 12), fmpq(1, 8), fmpq(1))
"""Curvatures, small enough for most steps sqrt(N/T), and one that is too large."""


@family("steps sqrt(N/T)", 372, meant_for=a.plain_speedup_step)
def plain_corollary_steps(number: int) -> Run:
    """N = 1, 4 or 9 clients, T = 1 to 64 iterations, s = sqrt(N) / sqrt(T), curvatures from 1/16 to 1."""
    generator = np.random.default_rng([10, number])
    root_clients, root_iterations, local_steps = _draw_shape(generator, number)
    curvature = pick(generator, _SMALL_CURVATURES)
    problem = draw_quadratics(
        generator,
        [[curvature]] * root_clients**2,
        shared=True,
        heterogeneity=pick(generator, SPREADS),
        noise=pick(generator, NOISES),
    )
    return _set_speedup_step(problem, fmpq(1), root_iterations, local_steps)


@family("gentle quadratics", 252, in_floats=True, meant_for=a.bounded_second_moment, for_rates=True)
def flat_quadratics(number: int) -> Run:
    """Up to three clients with curvatures of 1/4 and 1/2, for ladders on which the step size is sqrt(N) / sqrt(T)."""
    generator = np.random.default_rng([11, number])
    dimension, clients = 1 + number % 2, 1 + int(generator.integers(3))
    spectrum = [pick(generator, (fmpq(1, 2), fmpq(1, 4))) for _ in range(dimension)]
    problem = draw_quadratics(
        generator,
        [spectrum] * clients,
        shared=True,
        heterogeneity=pick(generator, SPREADS),
        noise=pick(generator, NOISES),
    )
    return with_fedavg(problem, fmpq(1), 1 + int(generator.integers(3)), 1)


@family("two-sided steps", 420, meant_for=a.two_sided_steps)
def two_sided_steps(number: int) -> Run:
    """Sampled clients with a common step size and number of local steps, server steps of 1/2, 1 and 2."""
    generator = np.random.default_rng([12, number])
    clients = 1 + int(generator.integers(3))
    problem = random_problem(generator, clients, 1, shared=number % 4 < 2)
    plain = with_fedavg(problem, pick(generator, STEP_FRACTIONS), 1 + int(generator.integers(2)), 1).algorithm
    law = Uniform(1 + int(generator.integers(clients)))
    aggregation = Aggregation(pick(generator, (fmpq(1), fmpq(1), fmpq(1, 2), fmpq(2))), law)
    return Run(problem, replace(plain, aggregation=aggregation))
