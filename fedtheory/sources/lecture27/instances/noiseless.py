"""Instances without noise, for deterministic sources (lecture27)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from flint import fmpq

from fedtheory.arithmetic import RATIONAL
from fedtheory.engine.run import Run
from fedtheory.federation.problem import Problem
from fedtheory.federation.problem.generators import draw_quadratics
from fedtheory.language import assumptions as a
from fedtheory.language.families import (
    CURVATURES,
    SPREADS,
    family,
    pick,
    with_fedavg,
)


@family("full gradients", 208, meant_for=a.full_gradients)
def full_gradients(number: int) -> Run:
    """Quadratics without noise, clients of unequal weight, steps up to 1/L, up to four local steps and three rounds."""
    generator = np.random.default_rng([5, number])
    dimension, clients = 1 + number % 2, 1 + int(generator.integers(3))
    weights = RATIONAL.array(generator.integers(1, 4, clients))
    spectra = [[pick(generator, CURVATURES) for _ in range(dimension)] for _ in range(clients)]
    problem = draw_quadratics(
        generator, spectra, shared=number % 4 < 2, heterogeneity=pick(generator, SPREADS), noise=fmpq(0)
    )
    return _draw_run(generator, replace(problem, weights=weights / weights.sum()))


@family("nearly the same clients", 172, meant_for=a.lipschitz_losses)
def nearly_equal_clients(number: int) -> Run:
    """Nearly equal quadratics without noise, whose drift is small relative to the gaps."""
    generator = np.random.default_rng([27, number])
    dimension, clients = 1 + number % 2, 1 + int(generator.integers(3))
    weights = RATIONAL.array(generator.integers(1, 4, clients))
    spectrum = [pick(generator, CURVATURES) for _ in range(dimension)]
    difference = pick(generator, (fmpq(0), fmpq(1, 64)))
    spectra = [[curvature * (1 + client * difference) for curvature in spectrum] for client in range(clients)]
    spread = pick(generator, (fmpq(1, 16), fmpq(1, 64), fmpq(1, 256)))
    problem = draw_quadratics(generator, spectra, shared=dimension > 1, heterogeneity=spread, noise=fmpq(0))
    return _draw_run(generator, replace(problem, weights=weights / weights.sum()))


def _draw_run(generator: np.random.Generator, problem: Problem) -> Run:
    """Return FedAvg on a problem: steps up to 1/L, up to four local steps and three rounds."""
    fraction = pick(generator, (fmpq(4), fmpq(2), fmpq(1), fmpq(1, 4)))
    return with_fedavg(problem, fraction, 1 + int(generator.integers(4)), 1 + int(generator.integers(3)))
