"""Instances for bounds with weak assumptions on noise and strong ones on steps: rounds that are short relative to
1/L.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from flint import fmpq

from fedtheory.arithmetic import RATIONAL
from fedtheory.engine.run import Run
from fedtheory.federation import fedavg
from fedtheory.federation.client_data import ClientData
from fedtheory.federation.problem import Problem, least_squares
from fedtheory.language import assumptions as a
from fedtheory.language.families import family, pick, random_problem

_PARTS = (fmpq(1), fmpq(1), fmpq(1, 2), fmpq(1, 8), fmpq(1, 64))
"""Step sizes as fractions of the largest one in a short round."""


def _shorten(problem: Problem, part: fmpq, local_steps: int, rounds: int) -> Run:
    """Return FedAvg with rounds of length at most 1/(2 L), and shorter ones for rough noise."""
    run = Run(problem, fedavg(problem, rounds=rounds, local_step_size=fmpq(1), local_steps=local_steps))
    steepest = 2 * run.smoothness * local_steps + 2 * run.noise_smoothness
    return run.with_step_factor(part / steepest if steepest > 0 else part)


@family("short rounds", 180, meant_for=a.smooth_noise)
def short_rounds(number: int) -> Run:
    """Quadratics in one or two dimensions, up to three clients and four local steps, short rounds."""
    generator = np.random.default_rng([31, number])
    dimension, clients = 1 + number % 2, 1 + int(generator.integers(3))
    problem = random_problem(generator, clients, dimension, shared=number % 4 < 2)
    local_steps, rounds = 1 + int(generator.integers(4)), 1 + int(generator.integers(3))
    return _shorten(problem, pick(generator, _PARTS), local_steps, rounds)


@family("short rounds on data", 120, meant_for=a.smooth_noise)
def short_rounds_on_data(number: int) -> Run:
    """Least squares on a few small integers, mini-batches of one or two, with or without a ridge, short rounds."""
    generator = np.random.default_rng([32, number])
    dimension, clients = 1 + number % 2, 1 + int(generator.integers(3))
    inputs = tuple(RATIONAL.array(generator.integers(-2, 3, (3, dimension))) for _ in range(clients))
    outputs = tuple(RATIONAL.array(generator.integers(-1, 2, 3)) for _ in range(clients))
    start = RATIONAL.array(generator.integers(-2, 3, dimension))
    batch, ridge = 1 + int(generator.integers(2)), pick(generator, (fmpq(0), fmpq(1), fmpq(4)))
    data = ClientData(inputs, outputs, ridge)
    problem = least_squares(data, start, batch=batch, replacement=number % 3 == 0)
    return _shorten(problem, pick(generator, _PARTS), 1 + int(generator.integers(3)), 1 + int(generator.integers(2)))


@family("long short rounds", 80, in_floats=True, meant_for=a.smooth_noise)
def long_short_rounds(number: int) -> Run:
    """Up to five dimensions, ten clients, ten local steps and a hundred rounds, each short relative to 1/L."""
    generator = np.random.default_rng([33, number])
    dimension, clients = 1 + int(generator.integers(5)), 1 + int(generator.integers(10))
    problem = random_problem(generator, clients, dimension, shared=number % 2 == 0)
    local_steps, rounds = 1 + int(generator.integers(10)), int(pick(generator, (fmpq(3), fmpq(10), fmpq(100))).p)
    return _shorten(problem, pick(generator, _PARTS), local_steps, rounds)


@family("short rounds, unequal shares", 90, meant_for=a.smooth_noise)
def run_with_unequal_weights(number: int) -> Run:
    """Quadratics of two or three clients of unequal weight, and least squares on three rows each, short rounds."""
    generator = np.random.default_rng([34, number])
    dimension, clients = 1 + number % 2, 2 + int(generator.integers(2))
    if number % 3 == 0:
        inputs = tuple(RATIONAL.array(generator.integers(-2, 3, (3, dimension))) for _ in range(clients))
        outputs = tuple(RATIONAL.array(generator.integers(-1, 2, 3)) for _ in range(clients))
        start = RATIONAL.array(generator.integers(-2, 3, dimension))
        problem = least_squares(ClientData(inputs, outputs), start, batch=1)
    else:
        problem = random_problem(generator, clients, dimension, shared=number % 4 < 2)
    parts = RATIONAL.array(generator.integers(1, 6, clients))
    weighted = replace(problem, weights=parts / parts.sum())
    return _shorten(weighted, pick(generator, _PARTS), 1 + int(generator.integers(3)), 1 + int(generator.integers(2)))
