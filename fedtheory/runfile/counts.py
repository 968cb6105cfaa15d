"""Client types: each client that a `[problem]` table lists stands for `count` equal clients."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fedtheory.arithmetic import Arithmetic, Array
from fedtheory.errors import InputError
from fedtheory.federation.client_types import expand_weights
from fedtheory.federation.losses import LossProblem
from fedtheory.federation.problem import Problem
from fedtheory.federation.problem.checks import uniform_weights
from fedtheory.runfile.table import TomlTable, read_whole_number

Counts = tuple[int, ...]

MOST_WRITTEN_OUT = 2 * 10**7
"""Limit on the entries of all Hessians, if every client is represented."""
MOST_CLIENTS = 10**8
"""Limit on the number of clients, if only client types are represented."""


def read_counts(table: TomlTable, entries: int) -> Counts:
    """Return the number of clients of each type: one number for all types or one for each; one by default."""
    given = table.take("count", 1)
    listed = given if isinstance(given, list) else [given] * entries
    if len(listed) != entries:
        raise InputError(table.path("count"), f"expected {entries} numbers, one for each entry, got {len(listed)}")
    counts = tuple(read_whole_number(count, table.path("count"), 1) for count in listed)
    if sum(counts) > MOST_CLIENTS:
        expected = f"expected at most {MOST_CLIENTS} clients"
        raise InputError(table.path("count"), f"{expected}, got {sum(counts)}: use smaller counts")
    return counts


def merge_weights(weights: Array | None, counts: Counts, arithmetic: Arithmetic) -> Array | None:
    """Return the weights of the types (E,), from weights of types or of single clients.

    By default weights are proportional to counts.
    """
    if weights is None:
        shares: Array = arithmetic.array(counts) / arithmetic.number(sum(counts), "clients")
        return shares
    if len(weights) == sum(counts) != len(counts):
        return np.asarray(np.add.reduceat(weights, np.cumsum((0, *counts[:-1]))))
    return weights


@dataclass(frozen=True, eq=False)
class ProblemInTypes:
    """A problem with one client for each type, and the number of clients of each type."""

    problem: Problem
    """The weight of a type is the sum of its clients' weights."""
    counts: Counts
    given: Array | None = None
    """Weights of types (E,), divided equally among their clients, or of single clients (M,); None if all are equal."""

    @property
    def _weights(self) -> Array:
        """Weights of single clients, (M,)."""
        if self.given is None:
            return uniform_weights(self.problem.arithmetic, sum(self.counts))
        return expand_weights(self.given, self.counts) if len(self.given) == len(self.counts) else self.given

    @property
    def is_alike(self) -> bool:
        """Whether all clients of a type have equal weight."""
        first = np.cumsum((0, *self.counts[:-1]))
        if self.given is None or len(self.given) == len(self.counts):
            return True
        return bool((self.given == np.repeat(self.given[first], self.counts)).all())

    @property
    def is_uniform(self) -> bool:
        """Whether all clients have equal weight."""
        if self.given is None:
            return True
        weights = self._weights
        return bool((weights == weights[0]).all())

    def follow_all_clients(self) -> Problem:
        """Return the problem with every client; raise `InputError` if the clients would not fit into memory."""
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
