"""Clients in types: each client of a `[problem]` table stands for as many equal ones as its `count` says."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fedtheory.arithmetic import Arithmetic, Array
from fedtheory.errors import InputError
from fedtheory.federation.losses import LossProblem
from fedtheory.federation.problem import Problem
from fedtheory.federation.problem.checks import uniform_weights
from fedtheory.federation.types import expand_weights
from fedtheory.runfile.table import TomlTable, whole_number

Counts = tuple[int, ...]

MOST_WRITTEN_OUT = 2 * 10**7
"""Entries of the Hessians of all clients, one by one."""
MOST_CLIENTS = 10**8
"""Clients in types, whose weights alone are listed."""


def read_counts(table: TomlTable, entries: int) -> Counts:
    """Return the number of clients of each entry: one number for all entries or one for each; one by default."""
    given = table.take("count", 1)
    listed = given if isinstance(given, list) else [given] * entries
    if len(listed) != entries:
        raise InputError(table.path("count"), f"expected {entries} numbers, one for each entry, got {len(listed)}")
    counts = tuple(whole_number(count, table.path("count"), 1) for count in listed)
    if sum(counts) > MOST_CLIENTS:
        expected = f"expected at most {MOST_CLIENTS} clients"
        raise InputError(table.path("count"), f"{expected}, got {sum(counts)}: use smaller counts")
    return counts


def entry_weights(weights: Array | None, counts: Counts, arithmetic: Arithmetic) -> Array | None:
    """Weights of the entries (E,), from those of entries or of single clients; in proportion to counts without any."""
    if weights is None:
        shares: Array = arithmetic.array(counts) / arithmetic.number(sum(counts), "clients")
        return shares
    if len(weights) == sum(counts) != len(counts):
        return np.asarray(np.add.reduceat(weights, np.cumsum((0, *counts[:-1]))))
    return weights


@dataclass(frozen=True, eq=False)
class ProblemInTypes:
    """A problem whose clients are types, and how many clients each type has."""

    problem: Problem
    """With the weights of all clients of a type together."""
    counts: Counts
    given: Array | None = None
    """Weights of types (E,), which their clients share evenly, or of single clients (M,); without any all are equal."""

    @property
    def _weights(self) -> Array:
        """Weights of single clients, (M,)."""
        if self.given is None:
            return uniform_weights(self.problem.arithmetic, sum(self.counts))
        return expand_weights(self.given, self.counts) if len(self.given) == len(self.counts) else self.given

    @property
    def is_alike(self) -> bool:
        """Whether the clients of each type have the same weight."""
        first = np.cumsum((0, *self.counts[:-1]))
        if self.given is None or len(self.given) == len(self.counts):
            return True
        return bool((self.given == np.repeat(self.given[first], self.counts)).all())

    @property
    def is_uniform(self) -> bool:
        """Whether all clients count alike."""
        if self.given is None:
            return True
        weights = self._weights
        return bool((weights == weights[0]).all())

    def follow_all_clients(self) -> Problem:
        """The problem with every client; `InputError` where these would not fit into memory."""
        if set(self.counts) == {1}:
            return self.problem
        problem, clients = self.problem, sum(self.counts)
        each = len(problem.terms.owners) if isinstance(problem, LossProblem) else problem.dimension**2
        if clients * each > MOST_WRITTEN_OUT:
            numbers = "terms" if isinstance(problem, LossProblem) else "entries in all Hessians"
            expected = f"expected at most {MOST_WRITTEN_OUT} {numbers} of single clients"
            way_out = "use smaller counts; synchronous rounds whose clients are treated alike need no single clients"
            raise InputError("problem.count", f"{expected}, got {clients} clients x {each}: {way_out}")
        places = np.repeat(np.arange(len(self.counts)), self.counts)
        return problem.with_clients(places.tolist(), self._weights)
