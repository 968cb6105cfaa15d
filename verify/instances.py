"""Families of instances: exact rational runs on which claims are tried.

An instance is named by its family and a number, so that any process can build
it again.  Numbers are small, so that a violation found here can be checked by
hand.  To add a family, write a function of a random generator and decorate it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from flint import fmpq

from fedtheory.arithmetic import RATIONAL
from fedtheory.claim import Claim
from fedtheory.client_data import ClientData
from fedtheory.federation import fedavg
from fedtheory.problem import Problem, least_squares, quadratic
from fedtheory.problem.generators import random_quadratics
from fedtheory.run import Run
from fedtheory.runfile import run_table, run_toml

Choices = tuple[fmpq, ...]

CURVATURES: Choices = (fmpq(1), fmpq(2), fmpq(4), fmpq(1, 2), fmpq(1, 4))
SPREADS: Choices = (fmpq(0), fmpq(1, 2), fmpq(1), fmpq(2))
NOISES: Choices = (fmpq(0), fmpq(1), fmpq(1, 4), fmpq(4))
UNITS: Choices = (fmpq(1), fmpq(1), fmpq(1, 64), fmpq(64))
STEP_FRACTIONS: Choices = (fmpq(1), fmpq(1), fmpq(1, 2), fmpq(1, 8))
"""Step sizes as fractions of 1/(4L); the edge of the usual condition counts twice."""


@dataclass(frozen=True)
class Family:
    """A named way to draw instances."""

    name: str
    description: str
    size: int
    build: Callable[[int], Run]
    in_floats: bool = False
    """Whether its runs are evaluated in floats first; violations and near ties then go to rationals."""


@dataclass(frozen=True)
class Instance:
    """One member of a family."""

    family: str
    number: int

    def run(self) -> Run:
        """The exact run."""
        return FAMILIES[self.family].build(self.number)


FAMILIES: dict[str, Family] = {}


def _family(name: str, size: int, in_floats: bool = False) -> Callable[[Callable[[int], Run]], Callable[[int], Run]]:
    def register(build: Callable[[int], Run]) -> Callable[[int], Run]:
        description = (build.__doc__ or name).partition("\n")[0].rstrip(".")
        FAMILIES[name] = Family(name, description, size, build, in_floats)
        return build

    return register


def _pick(generator: np.random.Generator, choices: Choices) -> fmpq:
    return choices[int(generator.integers(len(choices)))]


def _with_fedavg(problem: Problem, fraction: fmpq, local_steps: int, rounds: int) -> Run:
    """FedAvg at a fraction of the step size 1/(4L)."""
    smoothness = Run(problem, fedavg(problem, rounds=1, local_step_size=fmpq(1))).smoothness
    size = fraction / (4 * smoothness) if smoothness > 0 else fraction
    return Run(problem, fedavg(problem, rounds=rounds, local_step_size=size, local_steps=local_steps))


_BY_HAND = [
    (curvatures, pull, start, local_steps, noise)
    for curvatures in ((1, 1), (4, 4), (1, 0), (4, 0), (64, 0))
    for pull in (0, 1, 2)
    for start in (0, 1)
    for local_steps in (1, 2)
    for noise in (0, 1)
]


@_family("by hand", len(_BY_HAND))
def by_hand(number: int) -> Run:
    """Two clients pulled apart by equal forces, one dimension, optimum at 0, one round, step size 1/(4L)."""
    curvatures, pull, start, local_steps, noise = _BY_HAND[number]
    array, force = RATIONAL.array, pull * max(curvatures)
    hessians = array([[[h]] for h in curvatures])
    problem = quadratic(hessians, array([[force], [-force]]), array([start]), noise=array([noise] * 2))
    return _with_fedavg(problem, fmpq(1), local_steps, 1)


def _random_problem(generator: np.random.Generator, clients: int, dimension: int, shared: bool) -> Problem:
    """Random quadratics, some of them in other units: a bound with a lost factor fails under a change of units."""
    unit = _pick(generator, UNITS)
    spectra = [[unit * _pick(generator, CURVATURES) for _ in range(dimension)] for _ in range(clients)]
    return random_quadratics(
        generator,
        spectra,
        shared=shared,
        heterogeneity=_pick(generator, SPREADS),
        noise=unit * unit * _pick(generator, NOISES),
    )


@_family("small quadratics", 160)
def small_quadratics(number: int) -> Run:
    """One or two dimensions, up to three clients, up to three local steps, one or two rounds."""
    generator = np.random.default_rng([1, number])
    dimension, clients = 1 + number % 2, 1 + int(generator.integers(3))
    problem = _random_problem(generator, clients, dimension, shared=number % 4 < 2)
    local_steps, rounds = 1 + int(generator.integers(3)), 1 + int(generator.integers(2))
    return _with_fedavg(problem, _pick(generator, STEP_FRACTIONS), local_steps, rounds)


@_family("small data", 204)
def small_data(number: int) -> Run:
    """Least squares on a few small whole numbers, with full gradients or mini-batches of one."""
    generator = np.random.default_rng([2, number])
    dimension, clients = 1 + number % 2, 1 + int(generator.integers(2))
    # As many rows for each client, so that equal shares make F the loss of all the data.
    count = 2 + int(generator.integers(2))
    inputs = tuple(RATIONAL.array(generator.integers(-2, 3, (count, dimension))) for _ in range(clients))
    outputs = tuple(RATIONAL.array(generator.integers(-1, 2, count)) for _ in range(clients))
    start = RATIONAL.array(generator.integers(-1, 2, dimension))
    batch = None if number % 3 == 0 else 1
    problem = least_squares(ClientData(inputs, outputs), start, batch=batch, replacement=number % 3 == 1)
    fraction = _pick(generator, (fmpq(1), fmpq(1, 2), fmpq(1, 4)))
    return _with_fedavg(problem, fraction, 1 + int(generator.integers(3)), 1)


@_family("wide quadratics", 100, in_floats=True)
def wide_quadratics(number: int) -> Run:
    """Up to five dimensions, ten clients, ten local steps and thirty rounds, half with different Hessians."""
    generator = np.random.default_rng([3, number])
    dimension, clients = 1 + int(generator.integers(5)), 1 + int(generator.integers(10))
    problem = _random_problem(generator, clients, dimension, shared=number % 2 == 0)
    local_steps, rounds = 1 + int(generator.integers(10)), 1 + int(generator.integers(30))
    return _with_fedavg(problem, _pick(generator, STEP_FRACTIONS), local_steps, rounds)


@_family("steady quadratics", 210, in_floats=True)
def steady_quadratics(number: int) -> Run:
    """Strongly convex quadratics with one Hessian for all clients, for statements about ever longer horizons."""
    generator = np.random.default_rng([4, number])
    dimension, clients = 1 + number % 2, 1 + int(generator.integers(4))
    spectrum = [_pick(generator, (fmpq(1), fmpq(2), fmpq(4))) for _ in range(dimension)]
    problem = random_quadratics(
        generator,
        [spectrum] * clients,
        shared=True,
        heterogeneity=_pick(generator, SPREADS),
        noise=_pick(generator, NOISES),
    )
    return _with_fedavg(problem, _pick(generator, (fmpq(1), fmpq(1, 2))), 1 + int(generator.integers(4)), 1)


def families_for(claim: Claim) -> tuple[str, ...]:
    """Names of the families on which a claim is tried; none for a bare definition."""
    if claim.rate is not None:
        return ("steady quadratics",)
    if not claim.relations:
        return ()
    small = ("by hand", "small quadratics", "small data")
    return (*small, "wide quadratics") if claim.place == "run" else small


def complexity(instance: Instance, run: Run) -> tuple[int, int, int]:
    """How much a reader has to compute by hand: size of the run, length of its numbers, place in its family."""
    problem, algorithm = run.problem, run.algorithm
    size = problem.clients * problem.dimension**2 * max(algorithm.work.steps) * algorithm.rounds
    return size, len(run_toml(run_table(run))), instance.number
