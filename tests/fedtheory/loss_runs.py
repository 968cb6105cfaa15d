"""Shared parts of the tests of scalar losses: small problems, in either arithmetic."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from flint import fmpq

from fedtheory.arithmetic import RATIONAL, Arithmetic, Array
from fedtheory.engine.losses import LossRun
from fedtheory.federation import fedavg
from fedtheory.federation.losses import KINDS, LossProblem, Terms, build_separable

Term = tuple[int, int, object, object, object]
"""Client, coordinate, weight, centre, width."""

TWO_CLIENTS: tuple[Term, ...] = ((0, 0, 1, 2, "1/2"), (1, 0, 4, -1, 1), (1, 0, "1/2", 0, 2))
"""One dimension; curvatures 1 and 9/2."""
TWO_COORDINATES: tuple[Term, ...] = (*TWO_CLIENTS, (0, 1, "2", "1/2", "3/4"), (1, 1, 1, -1, 3))


def terms(given: Sequence[Term], kind: str = "huber", arithmetic: Arithmetic = RATIONAL) -> Terms:
    """Return terms of a kind."""
    owners, coordinates, *numbers = zip(*given, strict=True)
    arrays = (arithmetic.array(list(column)) for column in numbers)
    return Terms(KINDS[kind], np.array(owners), np.array(coordinates), *arrays)


def problem(
    given: Sequence[Term],
    start: Sequence[object],
    *,
    kind: str = "huber",
    arithmetic: Arithmetic = RATIONAL,
    weights: Sequence[object] | None = None,
    noise: Sequence[object] | None = None,
) -> LossProblem:
    """Return a problem with one client for each owner of a term."""
    return build_separable(
        terms(given, kind, arithmetic),
        arithmetic.array(list(start)),
        clients=1 + max(term[0] for term in given),
        weights=None if weights is None else arithmetic.array(list(weights)),
        noise=None if noise is None else arithmetic.array(list(noise)),
    )


def loss_run(
    at: LossProblem, *, rounds: int = 2, size: object = "1/20", steps: int | tuple[int, ...] = 2, server: object = 1
) -> LossRun:
    """Return FedAvg with full participation."""
    number = at.arithmetic.number
    algorithm = fedavg(
        at,
        rounds=rounds,
        local_step_size=number(size, "size"),
        local_steps=steps,
        server_step_size=number(server, "server"),
    )
    return LossRun(at, algorithm)


def random_terms(generator: np.random.Generator, clients: int, dimension: int) -> list[Term]:
    """Return one or two terms for each client and coordinate; all kinks are multiples of 1/4."""
    return [
        (
            client,
            coordinate,
            fmpq(int(generator.integers(1, 9)), 2),
            fmpq(int(generator.integers(-4, 5)), 2),
            fmpq(int(generator.integers(1, 9)), 4),
        )
        for client in range(clients)
        for coordinate in range(dimension)
        for _ in range(1 + int(generator.integers(2)))
    ]


def grid(reach: int = 6, division: int = 4) -> Array:
    """Return multiples of 1/division from -reach to reach, which contain all kinks of `random_terms`."""
    points: Array = RATIONAL.array(list(range(-reach * division, reach * division + 1))) / fmpq(division)
    return points
