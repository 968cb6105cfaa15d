"""Families of instances: exact rational runs on which claims are tried.

An instance is named by its family and a number, so that any process can build
it again.  Numbers are small, so that a violation found here can be checked by
hand.  To add a family, write a function of a random generator and decorate it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from flint import fmpq

from fedtheory import assumptions as a
from fedtheory.arithmetic import RATIONAL
from fedtheory.assumptions import Assumption
from fedtheory.claim import Claim
from fedtheory.client_data import ClientData
from fedtheory.federation import Aggregation, Uniform, fedavg
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
    meant_for: Assumption | None = None
    """Claims that make this assumption are tried on such families only, other claims never."""
    for_rates: bool = False
    """Whether its runs are starting points of ladders."""


@dataclass(frozen=True)
class Instance:
    """One member of a family."""

    family: str
    number: int

    def run(self) -> Run:
        """The exact run."""
        return FAMILIES[self.family].build(self.number)


FAMILIES: dict[str, Family] = {}


def _family(
    name: str, size: int, *, in_floats: bool = False, meant_for: Assumption | None = None, for_rates: bool = False
) -> Callable[[Callable[[int], Run]], Callable[[int], Run]]:
    def register(build: Callable[[int], Run]) -> Callable[[int], Run]:
        description = (build.__doc__ or name).partition("\n")[0].rstrip(".")
        FAMILIES[name] = Family(name, description, size, build, in_floats, meant_for, for_rates)
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


@_family("steady quadratics", 210, in_floats=True, for_rates=True)
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


@_family("full gradients", 220, meant_for=a.full_gradients)
def full_gradients(number: int) -> Run:
    """Quadratics without noise, clients of unequal weight, steps up to 1/L, up to four local steps and three rounds."""
    generator = np.random.default_rng([5, number])
    dimension, clients = 1 + number % 2, 1 + int(generator.integers(3))
    shares = RATIONAL.array(generator.integers(1, 4, clients))
    spectra = [[_pick(generator, CURVATURES) for _ in range(dimension)] for _ in range(clients)]
    problem = random_quadratics(
        generator, spectra, shared=number % 4 < 2, heterogeneity=_pick(generator, SPREADS), noise=fmpq(0)
    )
    problem = replace(problem, weights=shares / shares.sum())
    fraction = _pick(generator, (fmpq(4), fmpq(2), fmpq(1), fmpq(1, 4)))
    return _with_fedavg(problem, fraction, 1 + int(generator.integers(4)), 1 + int(generator.integers(3)))


@_family("nearly the same clients", 200, meant_for=a.lipschitz_losses)
def nearly_the_same_clients(number: int) -> Run:
    """Quadratics without noise that hardly differ between clients, so that drift is small against the gaps."""
    generator = np.random.default_rng([27, number])
    dimension, clients = 1 + number % 2, 1 + int(generator.integers(3))
    shares = RATIONAL.array(generator.integers(1, 4, clients))
    spectrum = [_pick(generator, CURVATURES) for _ in range(dimension)]
    apart = _pick(generator, (fmpq(0), fmpq(1, 64)))
    spectra = [[curvature * (1 + client * apart) for curvature in spectrum] for client in range(clients)]
    spread = _pick(generator, (fmpq(1, 16), fmpq(1, 64), fmpq(1, 256)))
    problem = random_quadratics(generator, spectra, shared=dimension > 1, heterogeneity=spread, noise=fmpq(0))
    problem = replace(problem, weights=shares / shares.sum())
    fraction = _pick(generator, (fmpq(4), fmpq(2), fmpq(1), fmpq(1, 4)))
    return _with_fedavg(problem, fraction, 1 + int(generator.integers(4)), 1 + int(generator.integers(3)))


@_family("steps up to 1/L", 312, meant_for=a.bounded_second_moment)
def bold_steps(number: int) -> Run:
    """Up to four clients, local steps and rounds; steps up to 1/L, a few of 2/L, two of three at most 1/(6 K L)."""
    generator = np.random.default_rng([6, number])
    # Many in one dimension, where noise has two outcomes and a whole round can be enumerated.
    dimension, clients = 1 + number % 5 // 4, 1 + int(generator.integers(4))
    problem = _random_problem(generator, clients, dimension, shared=number % 4 < 2)
    if number % 6 == 1:
        problem = replace(problem, start=problem.optimum)
    local_steps, rounds = 1 + int(generator.integers(4)), 1 + int(generator.integers(4))
    bold = _pick(generator, (fmpq(4), fmpq(4), fmpq(2), fmpq(8)))
    tame = _pick(generator, (fmpq(1), fmpq(1, 2), fmpq(1, 64))) * fmpq(4, 6 * local_steps)
    return _with_fedavg(problem, bold if number % 3 == 0 else tame, local_steps, rounds)


def _speedup_shape(generator: np.random.Generator, number: int) -> tuple[int, int, int]:
    """sqrt(N), sqrt(T) and K with N <= T and K dividing T; in two of three K^4 N^3 <= T as well."""
    root_clients, root_iterations, local_steps = (
        [(1, 1, 1), (1, 4, 2), (1, 6, 2), (2, 8, 1), (1, 8, 2), (1, 3, 1), (1, 2, 1), (1, 5, 1)]
        if number % 3
        else [(2, 2, 1), (2, 4, 2), (2, 6, 3), (3, 3, 1), (3, 4, 4), (1, 2, 2), (1, 3, 3), (2, 4, 4)]
    )[int(generator.integers(8))]
    return root_clients, root_iterations, local_steps


def _with_speedup_step(problem: Problem, scale: fmpq, root_iterations: int, local_steps: int) -> Run:
    """FedAvg for T iterations with s = scale sqrt(N) / sqrt(T)."""
    size = scale * fmpq(math.isqrt(problem.clients), root_iterations)
    rounds = root_iterations**2 // local_steps
    return Run(problem, fedavg(problem, rounds=rounds, local_step_size=size, local_steps=local_steps))


@_family("steps of the corollary", 312, meant_for=a.speedup_step)
def corollary_steps(number: int) -> Run:
    """N = 1, 4 or 9 clients, T = 1 to 64 iterations, s = sqrt(N) / (L sqrt(T)), all of them rational."""
    generator = np.random.default_rng([7, number])
    root_clients, root_iterations, local_steps = _speedup_shape(generator, number)
    problem = _random_problem(generator, root_clients**2, 1 + number % 4 // 3, shared=number % 3 > 0)
    smoothness = Run(problem, fedavg(problem, rounds=1, local_step_size=fmpq(1))).smoothness
    return _with_speedup_step(problem, 1 / smoothness, root_iterations, local_steps)


_GENTLE: Choices = (*[fmpq(1, 16)] * 5, fmpq(1, 12), fmpq(1, 8), fmpq(1))
"""Curvatures small enough for most steps sqrt(N/T), and one that is not."""


@_family("steps sqrt(N/T)", 372, meant_for=a.plain_speedup_step)
def plain_corollary_steps(number: int) -> Run:
    """N = 1, 4 or 9 clients, T = 1 to 64 iterations, s = sqrt(N) / sqrt(T), curvatures from 1/16 to 1."""
    generator = np.random.default_rng([10, number])
    root_clients, root_iterations, local_steps = _speedup_shape(generator, number)
    curvature = _pick(generator, _GENTLE)
    problem = random_quadratics(
        generator,
        [[curvature]] * root_clients**2,
        shared=True,
        heterogeneity=_pick(generator, SPREADS),
        noise=_pick(generator, NOISES),
    )
    return _with_speedup_step(problem, fmpq(1), root_iterations, local_steps)


@_family("gentle quadratics", 210, in_floats=True, meant_for=a.bounded_second_moment, for_rates=True)
def gentle_quadratics(number: int) -> Run:
    """Up to three clients with curvatures of 1/4 and 1/2, for ladders on which the step size is sqrt(N) / sqrt(T)."""
    generator = np.random.default_rng([11, number])
    dimension, clients = 1 + number % 2, 1 + int(generator.integers(3))
    spectrum = [_pick(generator, (fmpq(1, 2), fmpq(1, 4))) for _ in range(dimension)]
    problem = random_quadratics(
        generator,
        [spectrum] * clients,
        shared=True,
        heterogeneity=_pick(generator, SPREADS),
        noise=_pick(generator, NOISES),
    )
    return _with_fedavg(problem, fmpq(1), 1 + int(generator.integers(3)), 1)


@_family("two-sided steps", 420, meant_for=a.two_sided_steps)
def two_sided_steps(number: int) -> Run:
    """Sampled clients with a common step size and number of local steps, server steps of 1/2, 1 and 2."""
    generator = np.random.default_rng([12, number])
    clients = 1 + int(generator.integers(3))
    problem = _random_problem(generator, clients, 1, shared=number % 4 < 2)
    plain = _with_fedavg(problem, _pick(generator, STEP_FRACTIONS), 1 + int(generator.integers(2)), 1).algorithm
    law = Uniform(1 + int(generator.integers(clients)))
    aggregation = Aggregation(_pick(generator, (fmpq(1), fmpq(1), fmpq(1, 2), fmpq(2))), law)
    return Run(problem, replace(plain, aggregation=aggregation))


def _sampled(problem: Problem, selected: int, steps: tuple[int, ...], effective: fmpq, rounds: int) -> Run:
    """Uniform sampling of some clients, with step sizes that undo their unequal numbers of local steps."""
    sizes = RATIONAL.array([effective / count for count in steps])
    law = Uniform(selected)
    return Run(problem, fedavg(problem, rounds=rounds, local_step_size=sizes, local_steps=steps, participation=law))


def _few_steps(generator: np.random.Generator, clients: int, most: int) -> tuple[int, ...]:
    """Local steps of each client, one to three, at most so many in total (and one each)."""
    steps = [1] * clients
    for client in generator.permutation(clients):
        steps[client] += int(generator.integers(min(2, max(most - sum(steps), 0)) + 1))
    return tuple(steps)


_EFFECTIVE: Choices = (fmpq(1, 64), fmpq(1, 8), fmpq(1, 2), fmpq(1), fmpq(3, 2))
"""Effective step sizes mu as fractions of 1/delta, delta the largest curvature of a client."""


@_family("sampled clients", 240, meant_for=a.uniform_sampling)
def sampled_clients(number: int) -> Run:
    """Two to four clients of which some are sampled, one to three local steps each, quadratics or mini-batches."""
    generator = np.random.default_rng([8, number])
    clients = 2 + int(generator.integers(3 if number % 3 else 1))
    if number % 4 == 3:
        problem = _sampled_data(generator, min(clients, 3))
    else:
        spectra = [[_pick(generator, CURVATURES)] for _ in range(clients)]
        noise, spread = _pick(generator, NOISES), _pick(generator, SPREADS)
        problem = random_quadratics(generator, spectra, shared=number % 5 == 0, heterogeneity=spread, noise=noise)
    smoothness = Run(problem, fedavg(problem, rounds=1, local_step_size=fmpq(1))).smoothness
    steps = _few_steps(generator, problem.clients, 6 if number % 4 != 3 else 4)
    selected = 1 + int(generator.integers(problem.clients))
    effective = _pick(generator, _EFFECTIVE) / smoothness
    return _sampled(problem, selected, steps, effective, 1 + int(generator.integers(3)))


def _sampled_data(generator: np.random.Generator, clients: int) -> Problem:
    """Two samples in one dimension for each client, mini-batches of one."""
    inputs = tuple(RATIONAL.array(generator.choice([-2, -1, 1, 2], (2, 1))) for _ in range(clients))
    outputs = tuple(RATIONAL.array(generator.integers(-1, 2, 2)) for _ in range(clients))
    return least_squares(ClientData(inputs, outputs), RATIONAL.array(generator.integers(-1, 2, 1)), batch=1)


@_family("steady sampled clients", 210, in_floats=True, meant_for=a.uniform_sampling, for_rates=True)
def steady_sampled_clients(number: int) -> Run:
    """Strongly convex quadratics or data, up to two dimensions, sampled clients, for ladders of ever smaller steps."""
    generator = np.random.default_rng([9, number])
    dimension, clients = 1 + number % 2, 2 + int(generator.integers(2))
    if number % 4 == 3:
        problem = _sampled_data(generator, clients)
    else:
        spectra = [[_pick(generator, (fmpq(1), fmpq(2), fmpq(4))) for _ in range(dimension)] for _ in range(clients)]
        noise, spread = _pick(generator, NOISES), _pick(generator, SPREADS)
        problem = random_quadratics(generator, spectra, shared=number % 3 == 0, heterogeneity=spread, noise=noise)
    smoothness = Run(problem, fedavg(problem, rounds=1, local_step_size=fmpq(1))).smoothness
    steps = _few_steps(generator, clients, 4)
    return _sampled(problem, 1 + int(generator.integers(clients)), steps, fmpq(1, 16) / smoothness, 2)


@_family("sampled clients, bold and timid steps", 120, meant_for=a.strongly_convex_clients)
def sampled_clients_bold_and_timid(number: int) -> Run:
    """Two clients of which one or both are sampled; every other time with local steps of up to 3/delta, else tiny."""
    generator = np.random.default_rng([12, number])
    spectra = [[_pick(generator, CURVATURES[:3])] for _ in range(2)]
    noise, spread = _pick(generator, NOISES[:3]), _pick(generator, SPREADS)
    problem = random_quadratics(generator, spectra, shared=number % 4 < 2, heterogeneity=spread, noise=noise)
    smoothness = Run(problem, fedavg(problem, rounds=1, local_step_size=fmpq(1))).smoothness
    steps = _few_steps(generator, 2, 4)
    bold = _pick(generator, (fmpq(1), fmpq(3, 2), fmpq(2), fmpq(3))) * max(steps)
    effective = (bold if number % 2 else _pick(generator, (fmpq(1, 16), fmpq(1, 64)))) / smoothness
    return _sampled(problem, 1 + int(generator.integers(2)), steps, effective, 1)


def _unequal_steps(generator: np.random.Generator, clients: int) -> tuple[int, ...]:
    """Local steps of each client, one to three, not the same for all."""
    steps = [1] * (clients - 1) + [2 + int(generator.integers(2))]
    steps[0] += int(generator.integers(2)) if clients > 2 else 0
    return tuple(int(count) for count in generator.permutation(steps))


def _balanced_pulls(generator: np.random.Generator) -> tuple[Problem, tuple[int, ...]]:
    """Three clients: two with equal work and opposite pulls, and one between them that works more."""
    curvature, middle, reach = (fmpq(int(generator.integers(1, 4))) for _ in range(3))
    minimisers = RATIONAL.array([middle - reach, middle + reach, middle])
    hessians = RATIONAL.array([[[curvature]]] * 3)
    problem = quadratic(hessians, curvature * minimisers[:, None], RATIONAL.array(generator.integers(-2, 3, 1)))
    return problem, (1, 1, 2 + int(generator.integers(2)))


def _sampled_with_common_step(generator: np.random.Generator, number: int, dimension: int, fraction: fmpq) -> Run:
    """Sampled clients that differ and take unequal numbers of steps, all of one size."""
    clients = 2 + int(generator.integers(2))
    if number % 10 == 9:
        problem, steps = _balanced_pulls(generator)
    else:
        spectra = [[_pick(generator, (fmpq(1), fmpq(2), fmpq(4))) for _ in range(dimension)] for _ in range(clients)]
        noise, spread = _pick(generator, NOISES[:2]), _pick(generator, SPREADS[1:])
        problem = random_quadratics(generator, spectra, shared=number % 3 == 0, heterogeneity=spread, noise=noise)
        steps = _unequal_steps(generator, clients)
    smoothness = Run(problem, fedavg(problem, rounds=1, local_step_size=fmpq(1))).smoothness
    law = Uniform(1 + int(generator.integers(problem.clients)))
    rounds, size = 1 + int(generator.integers(2)), fraction / (max(steps) * smoothness)
    return Run(problem, fedavg(problem, rounds=rounds, local_step_size=size, local_steps=steps, participation=law))


@_family("sampled clients, common step", 240, meant_for=a.same_step_size)
def sampled_clients_common_step(number: int) -> Run:
    """Two or three sampled clients in one dimension, unequal numbers of local steps, one step size for all."""
    generator = np.random.default_rng([10, number])
    return _sampled_with_common_step(generator, number, 1, _pick(generator, _EFFECTIVE[:4]))


@_family("steady sampled clients, common step", 210, in_floats=True, meant_for=a.same_step_size, for_rates=True)
def steady_sampled_clients_common_step(number: int) -> Run:
    """Sampled clients with one step size and unequal numbers of steps, for ladders of ever smaller steps."""
    generator = np.random.default_rng([11, number])
    return _sampled_with_common_step(generator, number, 1 + number % 2, fmpq(1, 4))


@cache
def families_for(claim: Claim) -> tuple[str, ...]:
    """Names of the families on which a claim is tried; none for a bare definition."""
    if claim.rate is None and not claim.relations:
        return ()
    suiting = [family for family in FAMILIES.values() if family.for_rates == (claim.rate is not None)]
    special = [family.name for family in suiting if family.meant_for in claim.assumptions]
    if special:
        return tuple(special)
    general = [family for family in suiting if family.meant_for is None]
    return tuple(f.name for f in general if claim.place == "run" or f.for_rates or not f.in_floats)


def complexity(instance: Instance, run: Run) -> tuple[int, int, int]:
    """How much a reader has to compute by hand: size of the run, length of its numbers, place in its family."""
    problem, algorithm = run.problem, run.algorithm
    size = problem.clients * problem.dimension**2 * max(algorithm.work.steps) * algorithm.rounds
    return size, len(run_toml(run_table(run))), instance.number
