"""Instances with smooth nonconvex objectives: indefinite quadratics and Hampel's bounded losses.

Claims that assume smoothness, and nothing that implies convexity, are tried on these and on convex instances.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from flint import fmpq

from fedtheory.arithmetic import RATIONAL
from fedtheory.engine.losses import LossRun
from fedtheory.engine.run import Run
from fedtheory.federation.problem import Problem
from fedtheory.federation.problem.generators import draw_quadratics
from fedtheory.language import assumptions as a
from fedtheory.language.families import NOISES, SPREADS, Choices, family, pick, with_fedavg
from fedtheory.runfile import run_table
from verify.instances.losses import random_losses, with_fedavg_on_losses

_POSITIVE: Choices = (fmpq(1), fmpq(2), fmpq(1, 2))
_NEGATIVE: Choices = (fmpq(-1), fmpq(-1, 2), fmpq(-1, 4))
_STEPS: Choices = (fmpq(4), fmpq(4), fmpq(2), fmpq(1), fmpq(1, 4))
"""Step sizes as fractions of 1/(4L), up to 1/L."""
_QUIET = fmpq(0)
_COINS: Choices = (fmpq(1), fmpq(1, 2), fmpq(2))


@family("quadratics that are not convex", 210, meant_for=a.smooth)
def nonconvex_quadratics(number: int) -> Run:
    """Quadratics of one to three clients, at least one with a negative curvature, half with noise, steps up to 1/L."""
    generator = np.random.default_rng([42, number])
    clients, dimension = 1 + int(generator.integers(3)), 1 + number % 2
    noise = pick(generator, NOISES[1:]) if number // 2 % 2 else fmpq(0)
    problem = nonconvex_problem(generator, max(clients, 2 if number % 3 == 0 else 1), dimension, number % 3, noise)
    return with_fedavg(problem, pick(generator, _STEPS), 1 + int(generator.integers(3)), 1 + int(generator.integers(3)))


@family("bounded losses that are not convex", 180, meant_for=a.smooth)
def hampel_losses(number: int) -> LossRun:
    """Hampel losses of one to three clients, without noise, also from points with zero gradient, steps up to 1/L."""
    generator = np.random.default_rng([43, number])
    problem = random_losses(generator, 1 + int(generator.integers(3)), 1 + number % 2, fmpq(0), kind="hampel")
    rounds = (1, 2, 3, 9)[int(generator.integers(4))]
    steps = 1 if rounds > 3 else 1 + int(generator.integers(3))
    return with_fedavg_on_losses(problem, pick(generator, _STEPS), steps, rounds)


@family("noisy bounded losses that are not convex", 60, meant_for=a.smooth)
def noisy_hampel_losses(number: int) -> LossRun:
    """Hampel losses of one or two clients in one dimension with two-point noise, all outcomes enumerated."""
    generator = np.random.default_rng([44, number])
    clients = 1 + int(generator.integers(2))
    problem = random_losses(generator, clients, 1, pick(generator, _COINS), kind="hampel")
    return with_fedavg_on_losses(problem, pick(generator, _STEPS), 1 + number % 2, 1 + number // 2 % 2)


def nonconvex_problem(
    generator: np.random.Generator, clients: int, dimension: int, shape: int, noise: fmpq = _QUIET
) -> Problem:
    """Return random quadratics with at least one nonconvex client, in small rationals.

    With `shape` 0 the average Hessian is positive definite, so that F has a minimiser; this needs two clients. With 1
    all clients share an indefinite Hessian, so that dissimilarity is bounded on the whole space. With 2 each client has
    its own Hessian, the first is indefinite, and F may be unbounded below.
    """
    first = [pick(generator, _NEGATIVE), *(pick(generator, _POSITIVE) for _ in range(dimension - 1))]
    spectra = [first, *([pick(generator, _POSITIVE + _NEGATIVE) for _ in range(dimension)] for _ in range(clients - 1))]
    if shape == 0:
        # The other clients outweigh the first one in all directions.
        outweighing = max(-first[0] * 2, fmpq(1))
        spectra[1:] = [[outweighing + pick(generator, _POSITIVE) for _ in range(dimension)] for _ in range(clients - 1)]
    return draw_quadratics(generator, spectra, shared=shape == 1, heterogeneity=pick(generator, SPREADS), noise=noise)


def nonconvex_problem_table(
    generator: np.random.Generator, clients: int, dimension: int = 1, noise: fmpq = _QUIET
) -> dict[str, Any]:
    """Return the `[problem]` table of random quadratics with a nonconvex client, such as [[1]] and [[-1/2]]."""
    shape = int(generator.integers(3)) if clients > 1 else 1 + int(generator.integers(2))
    problem = nonconvex_problem(generator, clients, dimension, shape, noise)
    table: dict[str, Any] = run_table(with_fedavg(problem, fmpq(1), 1, 1))["problem"]
    return table


def negate_curvature(problem: dict[str, Any], client: int, factor: fmpq = _NEGATIVE[1]) -> dict[str, Any]:
    """Multiply one client's curvature in a `[problem]` table by a negative factor; Huber becomes Hampel.

    The stationary point of a quadratic client does not change. Other losses and data are not modified.
    """
    if problem["kind"] == "huber":
        return problem | {"kind": "hampel"}
    if "hessians" not in problem:
        return problem
    changed = {key: list(problem[key]) for key in ("hessians", "linear")}
    for key, values in changed.items():
        values[client] = (RATIONAL.array(values[client]) * factor).tolist()
        changed[key] = values
    return problem | changed
