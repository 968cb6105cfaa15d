"""Run tables and a claim for tests of the search for violations."""

from __future__ import annotations

from typing import Any

from flint import fmpq

from verify.falsify.run_tables import Table

HALF, EIGHTH = fmpq(1, 2), fmpq(1, 8)


def _table(count: int = 2, steps: Any = 2, rounds: int = 3, dimension: int = 1, **algorithm: Any) -> Table:
    identity = [[fmpq(int(row == column)) for column in range(dimension)] for row in range(dimension)]
    problem = {
        "kind": "quadratic",
        "hessians": [identity] * count,
        "linear": [[fmpq(place)] * dimension for place in range(count)],
        "start": [fmpq(3)] * dimension,
    }
    own = {"local_step_size": EIGHTH, "local_steps": steps, "rounds": rounds}
    return {"problem": problem, "algorithm": own | algorithm}
