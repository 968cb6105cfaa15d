"""Runs in which everything plays a part: noise, distance, pulls and curvatures of clients, several steps and rounds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from flint import fmpq

from fedtheory.arithmetic import FLOAT
from fedtheory.language.claim import Claim
from verify.falsify.local import conditions_are_met, within_conditions
from verify.falsify.tables import STEP_SIZE, Table, changed, clients, features, get, read

_STEP = fmpq(1, 16)
"""Step size, for a largest curvature of one."""
_SHAPES = (((fmpq(1),), (fmpq(1, 8),)), ((fmpq(1),),), ((fmpq(1), fmpq(1, 64)),))
"""Curvatures along the coordinates, of one client after another: different, alike, of two scales."""
_COUNTS = ((2, 2), (1, 2), (2, 64), (1, 64))
"""Local steps and rounds: the first that the conditions allow."""
_PULLS = (fmpq(1), fmpq(-1))


def mixed(claim: Claim, tables: Sequence[Table], setting: set[str]) -> Iterator[Table]:
    """The algorithms of quadratic runs on problems in which everything plays a part."""
    algorithms = {str(table["algorithm"]): table for table in map(_even, tables) if "hessians" in table["problem"]}
    for table in algorithms.values():
        for curvatures in _SHAPES:
            run = _allowed(claim, _with_problem(table, curvatures, "problem.noise" in setting))
            if run is not None and features(run) <= setting:
                yield run


def _even(table: Table) -> Table:
    """The same step size for everyone."""
    given = get(table, STEP_SIZE)
    return changed(table, {STEP_SIZE: [_STEP] * len(given) if isinstance(given, list) else _STEP})


def _allowed(claim: Claim, table: Table) -> Table | None:
    """The run with a few steps and rounds, as the conditions allow it."""
    for steps, rounds in _COUNTS:
        own = isinstance(get(table, "algorithm.local_steps"), list)
        counts = {"algorithm.rounds": rounds} if own else {"algorithm.rounds": rounds, "algorithm.local_steps": steps}
        run = changed(table, counts)
        run = within_conditions(claim, run) or run
        found = read(run, FLOAT)
        if found is not None and conditions_are_met(claim, found):
            return run
    return None


def _with_problem(table: Table, curvatures: Sequence[Sequence[fmpq]], noisy: bool) -> Table:
    count = max(clients(table), 2)
    hessians = [_diagonal(curvatures[client % len(curvatures)]) for client in range(count)]
    problem = {
        "kind": "quadratic",
        "hessians": hessians,
        "linear": [[_PULLS[client % len(_PULLS)]] * len(curvatures[0]) for client in range(count)],
        "start": [fmpq(2)] * len(curvatures[0]),
        **({"noise": [fmpq(1)] * count} if noisy else {}),
    }
    weights = get(table, "problem.weights")
    if weights is not None and len(weights) == count:
        problem["weights"] = weights
    return {**table, "problem": problem}


def _diagonal(entries: Sequence[fmpq]) -> list[list[fmpq]]:
    return [
        [entry if row == column else fmpq(0) for column in range(len(entries))] for row, entry in enumerate(entries)
    ]
