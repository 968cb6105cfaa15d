"""Tiny runs in two forms, for the engine and for the enumeration of outcomes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import enumeration as brute
from flint import fmpq

from fedtheory.arithmetic import RATIONAL, Array
from fedtheory.engine.run import Run
from fedtheory.federation import Full, Participation, fedavg
from fedtheory.federation.client_data import ClientData
from fedtheory.federation.problem import Problem, least_squares, quadratic

Numbers = Sequence[Any]


@dataclass(frozen=True)
class Pair:
    """One run in both forms."""

    engine: Run
    tiny: brute.TinyRun


def _per_client(value: Any, clients: int) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, list | tuple) else (value,) * clients


def _pair(
    problem: Problem,
    clients: Sequence[brute.Client],
    importance: tuple[fmpq, ...],
    start: Numbers,
    *,
    eta: Any = "1/4",
    steps: Any = 1,
    rounds: int = 1,
    server: Any = 1,
    law: Participation | None = None,
    weights: brute.Law | None = None,
) -> Pair:
    count = len(clients)
    sizes = RATIONAL.array(list(_per_client(eta, count)))
    algorithm = fedavg(
        problem,
        rounds=rounds,
        local_step_size=sizes,
        local_steps=_per_client(steps, count),
        server_step_size=server,
        participation=law or Full(),
    )
    tiny = brute.TinyRun(
        tuple(clients),
        importance,
        brute.point(*start),
        tuple(brute.number(size) for size in _per_client(eta, count)),
        _per_client(steps, count),
        rounds,
        brute.number(server),
        weights or brute.full_weights(importance),
    )
    return Pair(Run(problem, algorithm), tiny)


def _importance(weights: Numbers | None, clients: int) -> tuple[fmpq, ...]:
    return (fmpq(1, clients),) * clients if weights is None else brute.point(*weights)


def quadratics(
    hessians: Sequence[Any],
    linear: Sequence[Numbers],
    start: Numbers,
    *,
    deviation: Any = 0,
    constants: Numbers | None = None,
    importance: Numbers | None = None,
    **algorithm: Any,
) -> Pair:
    """Return quadratics with two-point noise: +-deviation along a random axis, common or per client."""
    clients = len(hessians)
    deviations = brute.point(*_per_client(deviation, clients))
    offsets = brute.point(*(constants or (0,) * clients))
    shares = _importance(importance, clients)
    problem = quadratic(
        RATIONAL.array(hessians),
        RATIONAL.array(linear),
        RATIONAL.array(list(start)),
        constants=RATIONAL.array(list(offsets)),
        weights=RATIONAL.array(list(shares)),
        noise=RATIONAL.array([d * d for d in deviations]),
    )
    drawn = [
        brute.quadratic_client([brute.point(*row) for row in h], brute.point(*b), c, d * d, d)
        for h, b, c, d in zip(hessians, linear, offsets, deviations, strict=True)
    ]
    return _pair(problem, drawn, shares, start, **algorithm)


def data(
    inputs: Sequence[Sequence[Numbers]],
    outputs: Sequence[Numbers],
    start: Numbers,
    *,
    batch: int | None,
    replacement: bool = True,
    ridge: Any = 0,
    importance: Numbers | None = None,
    **algorithm: Any,
) -> Pair:
    """Return least squares on a few rows for each client, with mini-batches."""
    shares = _importance(importance, len(inputs))
    tables = ClientData(
        tuple(RATIONAL.array([list(row) for row in rows]) for rows in inputs),
        tuple(RATIONAL.array(list(column)) for column in outputs),
        brute.number(ridge),
    )
    problem = least_squares(
        tables,
        RATIONAL.array(list(start)),
        batch=batch,
        replacement=replacement,
        weights=RATIONAL.array(list(shares)),
    )
    drawn = [
        brute.data_client(
            [brute.point(*row) for row in rows], brute.point(*column), batch, replacement, brute.number(ridge)
        )
        for rows, column in zip(inputs, outputs, strict=True)
    ]
    return _pair(problem, drawn, shares, start, **algorithm)


def plain(values: Array) -> Any:
    """Return an engine's array as nested lists."""
    return values.tolist()


def assert_server_agrees(pair: Pair) -> None:
    """Assert that all expectations of the server's model agree, as equal rationals."""
    exact, truth = pair.engine.trajectory, brute.server_truth(pair.tiny)
    assert plain(exact.server_mean) == [list(mean) for mean in truth.mean]
    assert plain(exact.server_suboptimality) == truth.suboptimality
    assert plain(exact.server_distance_sq) == truth.distance_sq
    assert plain(exact.server_gradient_sq) == truth.gradient_sq


def assert_local_agrees(pair: Pair) -> None:
    """Assert that all expectations inside rounds agree, as equal rationals."""
    exact, truth = pair.engine.trajectory, brute.local_truth(pair.tiny)
    assert plain(exact.local_suboptimality) == truth.suboptimality
    assert plain(exact.local_distance_sq) == truth.distance_sq
    assert plain(exact.drift) == truth.drift
