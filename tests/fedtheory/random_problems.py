"""Random problems in rationals, and equivalent formulations, for properties that hold on every run."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from flint import fmpq
from hypothesis import settings
from hypothesis import strategies as st

from fedtheory.arithmetic import RATIONAL, Array
from fedtheory.federation.problem import Problem, quadratic
from fedtheory.federation.problem.generators import draw_quadratics

few = settings(max_examples=25, deadline=None, derandomize=True)
seeds = st.integers(0, 10**6)
CURVATURES = (fmpq(1, 2), fmpq(1), fmpq(2), fmpq(3))


def fractions(generator: np.random.Generator, size: int) -> Array:
    """Return positive rationals."""
    return RATIONAL.array(generator.integers(1, 7, size)) / fmpq(5)


def random_problem(generator: np.random.Generator, clients: int, dimension: int, noisy: bool = True) -> Problem:
    """Return a problem with different Hessians, unequal weights, and a variance for each client."""
    spectra = [[CURVATURES[int(generator.integers(4))] for _ in range(dimension)] for _ in range(clients)]
    drawn = draw_quadratics(generator, spectra, shared=False, heterogeneity=fmpq(1), noise=fmpq(0))
    shares = fractions(generator, clients)
    noise = fractions(generator, clients) if noisy else None
    constants = fractions(generator, clients)
    return quadratic(
        drawn.hessians, drawn.linear, drawn.start, constants=constants, weights=shares / shares.sum(), noise=noise
    )


def rotated(problem: Problem, turn: Array) -> Problem:
    """Return the problem under x -> Q x, with H -> Q H Q' and b -> Q b."""
    return replace(
        problem,
        hessians=turn @ problem.hessians @ turn.T,
        linear=problem.linear @ turn.T,
        start=turn @ problem.start,
    )


def permuted(problem: Problem, order: Array) -> Problem:
    """Return the clients in another order, with their weights and noise."""
    return quadratic(
        problem.hessians[order],
        problem.linear[order],
        problem.start,
        constants=problem.constants[order],
        weights=problem.weights[order],
        noise=problem.oracle.variances[order],  # type: ignore[attr-defined]
    )


def same(left: Array, right: Array) -> bool:
    """Return whether two arrays have the same shape and the same entries."""
    return left.shape == right.shape and bool((left == right).all())
