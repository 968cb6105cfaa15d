"""Runs with all sources of error: noise, a distant start, different clients, several steps and rounds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import cycle, islice, product

from flint import fmpq

from fedtheory.arithmetic import FLOAT
from fedtheory.language.claim import Claim
from verify.falsify.local_search import reduce_to_conditions
from verify.falsify.run_tables import (
    STEP_SIZE,
    Table,
    build_diagonal,
    change,
    count_clients,
    evaluate_run,
    get,
    list_features,
)
from verify.falsify.starts import list_algorithms

_STEP = fmpq(1, 16)
"""Step size for largest curvature one."""


@dataclass(frozen=True)
class _Shape:
    """Curvatures and starts of the clients, assigned cyclically."""

    curvatures: Sequence[Sequence[int]]
    """Curvatures along the coordinates, in units of 1/64."""
    linear: Sequence[int] = (1, -1)
    """Linear terms of the clients, equal along all coordinates."""
    clients: int = 2
    start: Sequence[int] = (2,)
    """Start along the coordinates."""


_SHAPES = (
    _Shape([[64], [0]]),
    _Shape([[64], [8]]),
    _Shape([[64]]),
    _Shape([[64, 1]], start=[0, 2]),
    _Shape([[64]], [1, -1, -1, -1], clients=4, start=[0]),
    _Shape([[64]], [1], clients=1),
)
"""One flat client, different curvatures, equal ones, a flat direction, opposing clients, one client."""
_COUNTS = ((2, 2), (1, 2), (2, 64), (1, 64))
"""Local steps and rounds; the first pair that the conditions allow is used."""
_NOISE = fmpq(1)
_MOST = 12
"""Largest number of runs."""


def list_mixed_runs(claim: Claim, setting: set[str]) -> list[Table]:
    """Return runs of the algorithms that a claim concerns, on problems with all sources of error."""
    runs = (
        _allow(claim, [_set_problem(_equalise_steps(table), shape, noise) for noise in (_NOISE, None)], setting)
        for table in _list_algorithms(claim)
        for shape in _SHAPES
    )
    return list(islice((run for run in runs if run is not None), _MOST))


def _list_algorithms(claim: Claim) -> list[Table]:
    """Return the algorithms of the claim's families; those with client sampling also with full participation."""
    known = list_algorithms(claim)
    if any(get(table, "algorithm.participation") is None for table in known):
        return known
    return [*known, *(change(table, {"algorithm.participation": None}) for table in known)]


def _equalise_steps(table: Table) -> Table:
    """Use one step size for all clients."""
    given = get(table, STEP_SIZE)
    return change(table, {STEP_SIZE: [_STEP] * len(given) if isinstance(given, list) else _STEP})


def _allow(claim: Claim, tables: Sequence[Table], setting: set[str]) -> Table | None:
    """Return the first run that the claim concerns, with few steps and rounds; None without one."""
    for table, (steps, rounds) in product(tables, _COUNTS):
        own = isinstance(get(table, "algorithm.local_steps"), list)
        counts = {"algorithm.rounds": rounds} if own else {"algorithm.rounds": rounds, "algorithm.local_steps": steps}
        run = change(table, counts)
        run = reduce_to_conditions(claim, run) or run
        found = evaluate_run(claim, run, FLOAT) if list_features(run) <= setting else None
        if found is not None and found.applicable:
            return run
    return None


def _set_problem(table: Table, shape: _Shape, noise: fmpq | None) -> Table:
    dimension = len(shape.curvatures[0])
    count = shape.clients if shape.clients == 1 else max(count_clients(table), shape.clients)
    curvatures, slopes = islice(cycle(shape.curvatures), count), islice(cycle(shape.linear), count)
    problem = {
        "kind": "quadratic",
        "hessians": [build_diagonal([fmpq(entry, 64) for entry in entries]) for entries in curvatures],
        "linear": [[fmpq(slope)] * dimension for slope in slopes],
        "start": [fmpq(entry) for entry in shape.start],
        **({} if noise is None else {"noise": [noise] * count}),
    }
    weights = get(table, "problem.weights")
    if weights is not None and len(weights) == count:
        problem["weights"] = weights
    return _leave_one_out({**table, "problem": problem}, count)


def _leave_one_out(table: Table, count: int) -> Table:
    """Sample so many clients without replacement that at least one is left out."""
    drawn = get(table, "algorithm.participation.clients")
    if get(table, "algorithm.participation.kind") != "uniform" or drawn < count or count == 1:
        return table
    return change(table, {"algorithm.participation.clients": count - 1})
