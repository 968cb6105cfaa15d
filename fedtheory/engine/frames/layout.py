"""Indices of the places of several runs in one stack: run, round and local step of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fedtheory.arithmetic import Array


@dataclass(frozen=True, eq=False)
class PlaceLayout:
    """P places in order of their runs, which are numbered from 0."""

    owners: Array
    """Run of each place, (P,)."""
    rounds: Array
    steps: Array
    """Round and local step of each place, (P,)."""

    @classmethod
    def from_sizes(cls, sizes: Sequence[tuple[int, int]]) -> PlaceLayout:
        """Return the layout of all rounds and steps of runs with the given (rounds, steps)."""
        owners = np.repeat(np.arange(len(sizes)), [rounds * steps for rounds, steps in sizes])
        each = np.concatenate([np.indices(size).reshape(2, -1) for size in sizes], axis=1)
        return cls(owners, *each)

    def select_each(self, values: Sequence[Array]) -> Array:
        """Select the entry of each place's run, (P, ...)."""
        found: Array = np.stack(values)[self.owners]
        return found

    def gather(self, values: Sequence[Array]) -> Array:
        """Select entries from arrays of runs, (rounds, steps, clients) with axes of full length or one.

        The result is (P, clients).
        """
        if all(value.shape[:2] == (1, 1) for value in values):
            return self.select_each([value[0, 0] for value in values])
        return np.concatenate([self._repeat_at_places(value, number) for number, value in enumerate(values)])

    def _repeat_at_places(self, value: Array, number: int) -> Array:
        """Return the values of one run at its own places."""
        own = self.owners == number
        rounds, steps, _ = value.shape
        at: Array = value[self.rounds[own] * (rounds > 1), self.steps[own] * (steps > 1)]
        return at
