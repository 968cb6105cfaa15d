"""Schedules of a clock: for each server update its time, the reporting clients, and their staleness."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from fedtheory.arithmetic import Array, Number


@dataclass(frozen=True)
class Update:
    """The server update n, from theta^n to theta^{n+1}."""

    time: Number
    """t^{n+1}."""
    reports: tuple[int, ...]
    """S_n, the reporting clients, in ascending order."""
    staleness: tuple[int, ...]
    """n - rho_i(n) for every client: the number of updates since it received the model that it works on."""
    sent_to_all: bool = False
    """Whether all clients start from the new model, including those that have not reported."""

    @cached_property
    def work(self) -> tuple[tuple[int, int], ...]:
        """The reporting clients, each with its staleness, which determine the weights of an update."""
        return tuple((client, self.staleness[client]) for client in self.reports)

    @property
    def receivers(self) -> tuple[int, ...]:
        """The clients that receive the new model, in ascending order."""
        return tuple(range(len(self.staleness))) if self.sent_to_all else self.reports


@dataclass(frozen=True, eq=False)
class Schedule:
    """N server updates of M clients."""

    updates: tuple[Update, ...]

    @cached_property
    def times(self) -> list[Number]:
        """t^0 .. t^N, with t^0 = 0."""
        return [self.updates[0].time * 0, *(update.time for update in self.updates)]

    @cached_property
    def participates(self) -> Array:
        """Whether client i reports in update n, (N, M) booleans."""
        clients = len(self.updates[0].staleness)
        reports: Array = np.zeros((len(self.updates), clients), dtype=bool)
        for row, update in zip(reports, self.updates, strict=True):
            row[list(update.reports)] = True
        return reports

    @cached_property
    def staleness(self) -> Array:
        """n - rho_i(n), (N, M) whole numbers."""
        return np.array([update.staleness for update in self.updates])

    @cached_property
    def received(self) -> Array:
        """rho_i(n), the version of the model that client i works on in round n, (N, M)."""
        versions: Array = np.arange(len(self.updates))[:, None] - self.staleness
        return versions

    @property
    def largest_staleness(self) -> int:
        """tau = max_{i,n} (n - rho_i(n)) (fraboni2022, Assumption 4)."""
        return int(self.staleness.max())

    def smallest_window(self, weights: Array) -> int:
        """Return the smallest W that divides N with equal sums of `weights` (N, M) in every block of W updates.

        See fraboni2022, Assumption 6; W = N always qualifies.
        """
        total, rounding = len(weights), 0 if weights.dtype == object else 1e-9
        sums = np.concatenate([weights[:1] - weights[:1], np.cumsum(weights, axis=0)])
        for window in range(1, total):
            if total % window == 0:
                blocks = sums[window::window] - sums[:-window:window]
                if (abs(blocks - blocks[:1]) <= rounding).all():
                    return window
        return total
