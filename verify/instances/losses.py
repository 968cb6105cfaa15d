"""Sums of Huber, log-cosh and softplus losses: bounded gradients and different curvatures on the whole space.

Huber losses are evaluated in rationals, the others in enclosures.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from flint import fmpq

from fedtheory.arithmetic import RATIONAL, Array, round_up_to_rational
from fedtheory.engine.losses import LossRun
from fedtheory.federation import fedavg
from fedtheory.federation.losses import KINDS, LossProblem, Terms, build_separable
from fedtheory.language import assumptions as a
from fedtheory.language.families import CURVATURES, STEP_FRACTIONS, UNITS, Choices, family, pick

_WIDTHS: Choices = (fmpq(1, 4), fmpq(1), fmpq(2), fmpq(8))
_NOISES: Choices = (fmpq(1), fmpq(1, 2), fmpq(2))

_Term = tuple[int, int, fmpq, fmpq, fmpq]
"""Client, coordinate, weight, centre, width."""


def _draw_terms(generator: np.random.Generator, clients: int, dimension: int) -> Iterator[_Term]:
    """Yield one or two terms for each client and coordinate; a change of units multiplies all weights."""
    unit = pick(generator, UNITS)
    for client in range(clients):
        for coordinate in range(dimension):
            for _ in range(1 + int(generator.integers(2))):
                centre = fmpq(int(generator.integers(-4, 5)), 2)
                yield client, coordinate, unit * pick(generator, CURVATURES), centre, pick(generator, _WIDTHS)


def _build_problem(kind: str, terms: list[_Term], start: Array, clients: int, **keys: Array | None) -> LossProblem:
    owners, coordinates, *numbers = zip(*terms, strict=True)
    arrays = [RATIONAL.array(list(column)) for column in numbers]
    places = (np.array(owners), np.array(coordinates))
    return build_separable(Terms(KINDS[kind], *places, *arrays), start, clients=clients, **keys)


def _add_mirror_images(terms: list[_Term]) -> list[_Term]:
    """Add to each increasing term a decreasing one of half the weight, so that every sum has a minimiser."""
    mirrored = [(client, place, weight / 2, centre, -width) for client, place, weight, centre, width in terms]
    return [*terms, *mirrored]


def random_losses(
    generator: np.random.Generator,
    clients: int,
    dimension: int,
    noise: fmpq,
    shares: Array | None = None,
    *,
    kind: str = "huber",
) -> LossProblem:
    """Return random terms of a kind for each client and coordinate, in small rationals."""
    drawn = list(_draw_terms(generator, clients, dimension))
    start = RATIONAL.array(generator.integers(-3, 4, dimension))
    terms = _add_mirror_images(drawn) if KINDS[kind].can_reflect else drawn
    return _build_problem(kind, terms, start, clients, noise=RATIONAL.array([noise] * clients), weights=shares)


def with_fedavg_on_losses(
    problem: LossProblem, fraction: fmpq, local_steps: int | tuple[int, ...], rounds: int, sizes: Array | None = None
) -> LossRun:
    """Return FedAvg at a fraction of the step size 1/(4L), multiplied for each client by relative `sizes` (M,)."""
    smoothness = round_up_to_rational(LossRun(problem, fedavg(problem, rounds=1, local_step_size=fmpq(1))).smoothness)
    size = fraction / (4 * smoothness) * (fmpq(1) if sizes is None else sizes)
    return LossRun(problem, fedavg(problem, rounds=rounds, local_step_size=size, local_steps=local_steps))


def _choose_coins(number: int) -> tuple[int, int]:
    """Return up to two local steps and two rounds, so that two clients have at most 256 outcomes."""
    return 1 + number % 2, 1 + number // 2 % 2


@family("huber losses", 32)
def huber_losses(number: int) -> LossRun:
    """Huber losses of two or three clients with different curvatures and widths, one or two dimensions, no noise."""
    generator = np.random.default_rng([31, number])
    problem = random_losses(generator, 2 + int(generator.integers(2)), 1 + number % 2, fmpq(0))
    local_steps, rounds = 1 + int(generator.integers(3)), 1 + int(generator.integers(3))
    return with_fedavg_on_losses(problem, pick(generator, STEP_FRACTIONS), local_steps, rounds)


@family("noisy huber losses", 12)
def noisy_huber_losses(number: int) -> LossRun:
    """Huber losses of two clients in one dimension with two-point noise, all outcomes enumerated."""
    generator = np.random.default_rng([32, number])
    problem = random_losses(generator, 2, 1, pick(generator, _NOISES))
    return with_fedavg_on_losses(problem, pick(generator, STEP_FRACTIONS), *_choose_coins(number))


@family("huber losses with full gradients", 24, meant_for=a.full_gradients)
def huber_full_gradients(number: int) -> LossRun:
    """Huber losses without noise, two or three clients of unequal weight, steps up to 1/L, up to four local steps."""
    generator = np.random.default_rng([33, number])
    clients = 2 + int(generator.integers(2))
    shares = RATIONAL.array(generator.integers(1, 4, clients))
    problem = random_losses(generator, clients, 1 + number % 2, fmpq(0), shares / shares.sum())
    fraction = pick(generator, (fmpq(4), fmpq(2), fmpq(1), fmpq(1, 4)))
    return with_fedavg_on_losses(problem, fraction, 1 + int(generator.integers(4)), 1 + int(generator.integers(3)))


@family("huber losses, steps up to 1/L", 24, meant_for=a.bounded_second_moment)
def huber_bounded_gradients(number: int) -> LossRun:
    """Huber losses of clients of equal weight, every other run with two-point noise, steps up to 1/L."""
    generator = np.random.default_rng([34, number])
    noise = pick(generator, _NOISES) if number % 2 else fmpq(0)
    clients = 2 if number % 2 else 2 + int(generator.integers(2))
    problem = random_losses(generator, clients, 1 + number // 2 % 2, noise)
    return with_fedavg_on_losses(problem, pick(generator, (fmpq(4), fmpq(1), fmpq(1, 4))), *_choose_coins(number // 4))


@family("huber losses, short steps", 16, meant_for=a.aggregation_scheme)
def huber_short_steps(number: int) -> LossRun:
    """Huber losses of clients of unequal weight in full rounds, steps up to 1/(144 L K), some with two-point noise."""
    generator = np.random.default_rng([35, number])
    noise = pick(generator, _NOISES) if number % 4 == 3 else fmpq(0)
    clients = 2 if number % 4 == 3 else 2 + int(generator.integers(2))
    shares = RATIONAL.array(generator.integers(1, 4, clients))
    problem = random_losses(generator, clients, 1 + number % 2, noise, shares / shares.sum())
    local_steps, rounds = _choose_coins(number)
    return with_fedavg_on_losses(
        problem, pick(generator, (fmpq(1), fmpq(1, 2))) / (36 * local_steps), local_steps, rounds
    )


@family("huber losses, unequal local work", 16, meant_for=a.uniform_sampling)
def huber_unequal_work(number: int) -> LossRun:
    """Huber losses of two clients with E_k local steps of size mu/E_k, full participation."""
    generator = np.random.default_rng([36, number])
    noise = pick(generator, _NOISES) if number % 2 else fmpq(0)
    problem = random_losses(generator, 2, 1 + number // 2 % 2, noise)
    steps = ((1, 1), (1, 2), (2, 1), (2, 2))[int(generator.integers(4))]
    return with_fedavg_on_losses(problem, pick(generator, STEP_FRACTIONS), steps, 1, 1 / RATIONAL.array(list(steps)))


_SMOOTH = ("log-cosh", "softplus")


@family("smooth losses", 8, in_enclosures=True)
def smooth_losses(number: int) -> LossRun:
    """Log-cosh or softplus losses of two clients with different curvatures and widths, half of them with noise."""
    generator = np.random.default_rng([37, number])
    noise = pick(generator, _NOISES) if number % 4 > 1 else fmpq(0)
    problem = random_losses(generator, 2, 1, noise, kind=_SMOOTH[number % 2])
    return with_fedavg_on_losses(problem, pick(generator, STEP_FRACTIONS), *_choose_coins(number))


@family("smooth losses with full gradients", 6, in_enclosures=True, meant_for=a.full_gradients)
def smooth_full_gradients(number: int) -> LossRun:
    """Log-cosh or softplus losses without noise, two clients of unequal weight, steps up to 1/L."""
    generator = np.random.default_rng([38, number])
    shares = RATIONAL.array(generator.integers(1, 4, 2))
    problem = random_losses(generator, 2, 1, fmpq(0), shares / shares.sum(), kind=_SMOOTH[number % 2])
    fraction = pick(generator, (fmpq(4), fmpq(2), fmpq(1), fmpq(1, 4)))
    return with_fedavg_on_losses(problem, fraction, 1 + int(generator.integers(3)), 1 + int(generator.integers(2)))


@family("smooth losses, steps up to 1/L", 6, in_enclosures=True, meant_for=a.bounded_second_moment)
def smooth_bounded_gradients(number: int) -> LossRun:
    """Log-cosh or softplus losses of two clients of equal weight, half of them with noise, steps up to 1/L."""
    generator = np.random.default_rng([39, number])
    noise = pick(generator, _NOISES) if number % 4 > 1 else fmpq(0)
    problem = random_losses(generator, 2, 1, noise, kind=_SMOOTH[number % 2])
    return with_fedavg_on_losses(problem, pick(generator, (fmpq(4), fmpq(1), fmpq(1, 4))), *_choose_coins(number))


@family("smooth losses, short steps", 4, in_enclosures=True, meant_for=a.aggregation_scheme)
def smooth_short_steps(number: int) -> LossRun:
    """Log-cosh or softplus losses of clients of unequal weight in full rounds, steps up to 1/(144 L K)."""
    generator = np.random.default_rng([40, number])
    shares = RATIONAL.array(generator.integers(1, 4, 2))
    problem = random_losses(generator, 2, 1, fmpq(0), shares / shares.sum(), kind=_SMOOTH[number % 2])
    local_steps, rounds = _choose_coins(number)
    return with_fedavg_on_losses(problem, fmpq(1, 36 * local_steps), local_steps, rounds)


@family("smooth losses, unequal local work", 4, in_enclosures=True, meant_for=a.uniform_sampling)
def smooth_unequal_work(number: int) -> LossRun:
    """Log-cosh or softplus losses of two clients with E_k local steps of size mu/E_k, full participation."""
    generator = np.random.default_rng([41, number])
    noise = pick(generator, _NOISES) if number % 4 > 1 else fmpq(0)
    problem = random_losses(generator, 2, 1, noise, kind=_SMOOTH[number % 2])
    steps = ((1, 1), (1, 2), (2, 1), (2, 2))[number % 4]
    return with_fedavg_on_losses(problem, pick(generator, STEP_FRACTIONS), steps, 1, 1 / RATIONAL.array(list(steps)))
