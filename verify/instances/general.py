"""Instances for claims that assume nothing special: FedAvg with steps up to 1/(4L)."""

from __future__ import annotations

import numpy as np
from flint import fmpq

from fedtheory.arithmetic import RATIONAL
from fedtheory.engine.run import Run
from fedtheory.federation.client_data import ClientData
from fedtheory.federation.problem import least_squares, quadratic
from fedtheory.federation.problem.generators import draw_quadratics
from fedtheory.language.families import (
    NOISES,
    SPREADS,
    STEP_FRACTIONS,
    family,
    pick,
    random_problem,
    with_fedavg,
)

_BY_HAND = [
    (curvatures, linear, start, local_steps, noise)
    for curvatures in ((1, 1), (4, 4), (1, 0), (4, 0), (64, 0))
    for linear in (0, 1, 2)
    for start in (0, 1)
    for local_steps in (1, 2)
    for noise in (0, 1)
]


@family("by hand", len(_BY_HAND))
def by_hand(number: int) -> Run:
    """Two clients with opposite linear terms, one dimension, optimum at 0, one round, step size 1/(4L)."""
    curvatures, linear, start, local_steps, noise = _BY_HAND[number]
    array, force = RATIONAL.array, linear * max(curvatures)
    hessians = array([[[h]] for h in curvatures])
    problem = quadratic(hessians, array([[force], [-force]]), array([start]), noise=array([noise] * 2))
    return with_fedavg(problem, fmpq(1), local_steps, 1)


@family("small quadratics", 120)
def small_quadratics(number: int) -> Run:
    """One or two dimensions, up to three clients, up to three local steps, one or two rounds."""
    generator = np.random.default_rng([1, number])
    dimension, clients = 1 + number % 2, 1 + int(generator.integers(3))
    problem = random_problem(generator, clients, dimension, shared=number % 4 < 2)
    local_steps, rounds = 1 + int(generator.integers(3)), 1 + int(generator.integers(2))
    return with_fedavg(problem, pick(generator, STEP_FRACTIONS), local_steps, rounds)


@family("small data", 204)
def small_data(number: int) -> Run:
    """Least squares on a few small integers, with full gradients or mini-batches of size one."""
    generator = np.random.default_rng([2, number])
    dimension, clients = 1 + number % 2, 1 + int(generator.integers(2))
    # All clients have the same number of rows, so that with equal weights F is the loss of all data.
    count = 2 + int(generator.integers(2))
    inputs = tuple(RATIONAL.array(generator.integers(-2, 3, (count, dimension))) for _ in range(clients))
    outputs = tuple(RATIONAL.array(generator.integers(-1, 2, count)) for _ in range(clients))
    start = RATIONAL.array(generator.integers(-1, 2, dimension))
    batch = None if number % 3 == 0 else 1
    problem = least_squares(ClientData(inputs, outputs), start, batch=batch, replacement=number % 3 == 1)
    fraction = pick(generator, (fmpq(1), fmpq(1, 2), fmpq(1, 4)))
    return with_fedavg(problem, fraction, 1 + int(generator.integers(3)), 1)


@family("wide quadratics", 100, in_floats=True)
def wide_quadratics(number: int) -> Run:
    """Up to five dimensions, ten clients, ten local steps and thirty rounds, half with different Hessians."""
    generator = np.random.default_rng([3, number])
    dimension, clients = 1 + int(generator.integers(5)), 1 + int(generator.integers(10))
    problem = random_problem(generator, clients, dimension, shared=number % 2 == 0)
    local_steps, rounds = 1 + int(generator.integers(10)), 1 + int(generator.integers(30))
    return with_fedavg(problem, pick(generator, STEP_FRACTIONS), local_steps, rounds)


@family("steady quadratics", 210, in_floats=True, for_rates=True)
def steady_quadratics(number: int) -> Run:
    """Strongly convex quadratics with one Hessian for all clients, for statements about growing horizons."""
    generator = np.random.default_rng([4, number])
    dimension, clients = 1 + number % 2, 1 + int(generator.integers(4))
    spectrum = [pick(generator, (fmpq(1), fmpq(2), fmpq(4))) for _ in range(dimension)]
    problem = draw_quadratics(
        generator,
        [spectrum] * clients,
        shared=True,
        heterogeneity=pick(generator, SPREADS),
        noise=pick(generator, NOISES),
    )
    return with_fedavg(problem, pick(generator, (fmpq(1), fmpq(1, 2))), 1 + int(generator.integers(4)), 1)


@family("steady quadratics, curvatures that differ", 210, in_floats=True, for_rates=True)
def unequal_steady_quadratics(number: int) -> Run:
    """Strongly convex quadratics with different Hessians for two to four clients, half of them without noise."""
    generator = np.random.default_rng([31, number])
    dimension, clients = 1 + number % 2, 2 + int(generator.integers(3))
    spectra = [[pick(generator, (fmpq(1), fmpq(2), fmpq(4))) for _ in range(dimension)] for _ in range(clients)]
    noise = fmpq(0) if number % 4 < 2 else pick(generator, NOISES)
    problem = draw_quadratics(generator, spectra, shared=False, heterogeneity=pick(generator, SPREADS), noise=noise)
    return with_fedavg(problem, pick(generator, (fmpq(1), fmpq(1, 2))), 1 + int(generator.integers(4)), 1)
