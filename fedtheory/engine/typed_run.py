"""Runs of clients in types: the expectations of the server's model cost what the types cost, not what clients cost."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fedtheory.arithmetic import Array
from fedtheory.engine.run import Run


@dataclass(frozen=True, eq=False, repr=False)
class TypedRun(Run):
    """One algorithm on a problem whose clients are types; weights are those of all clients of a type together.

    Errors of the server's model and of the averaged iterate are those of all clients one by one, and so are constants
    that are extremes over clients.  What counts single clients is for runs in which they are written out.
    """

    counts: tuple[int, ...] = ()
    """Number of clients of each type, (E,)."""

    def summary(self) -> str:
        """The algorithm, its rounds and its problem, with the number of clients."""
        return f"{super().summary()}, which stand for {sum(self.counts)} clients in types"


def clients_of(run: Run) -> int:
    """M, also where a problem's clients are types."""
    return sum(run.counts) if isinstance(run, TypedRun) else run.problem.clients


def of_each_client(run: Run, values: Array) -> Array:
    """Values of the problem's clients (..., E) as those of all clients, (..., M)."""
    return np.repeat(values, run.counts, axis=-1) if isinstance(run, TypedRun) else values
