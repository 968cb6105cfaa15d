"""Policies: rules for the times of the server's updates and the reports that they include.

A policy is given the time at which each client finishes its present work, and returns the time of the next update and
the clients that report (fraboni2022, Sections 2.2 and 4). A client that has finished before waits.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from heapq import nsmallest
from typing import Literal

from fedtheory.arithmetic import Array, Number, plain_float
from fedtheory.errors import InputError
from fedtheory.federation.clock.schedule import Update
from fedtheory.federation.clock.staleness import StalenessWeight

Ties = Literal["together", "one-by-one"]
"""Whether clients that finish at equal times report in one update (Algorithm 1 taken literally) or in order."""


class Policy(ABC):
    """A rule for the server's updates."""

    @abstractmethod
    def next_update(self, now: Number, finish: Sequence[Number]) -> tuple[Number, tuple[int, ...]]:
        """Return the time of the next update and its clients, for finishing times `finish` (M,) and the time `now`."""

    def updates(self, clients: int, duration: Callable[[int], Number]) -> Iterator[Update]:
        """Yield the updates; all clients start at time 0 with theta^0, and work on the model received last."""
        finish = [duration(client) for client in range(clients)]
        staleness, now = [0] * clients, finish[0] - finish[0]
        while True:
            now, reports = self.next_update(now, finish)
            yield Update(now, reports, tuple(staleness))
            staleness = [age + 1 for age in staleness]
            for client in reports:
                staleness[client], finish[client] = 0, now + duration(client)

    def weights(self, _update: Update, weights: Array) -> Array:
        """Return the weights of the reports of an update, (M,), for aggregation weights d_i, (M,)."""
        return weights

    is_in_turn = False
    """Whether the policy determines the participants of rounds that wait for them."""

    @property
    def changes_weights(self) -> str:
        """The reason why reports have other weights than d_i; empty if they do not."""
        return ""

    def check(self, clients: int) -> None:  # noqa: B027
        """Raise `InputError` if the policy is invalid for that number of clients; by default, all are valid."""


@dataclass(frozen=True)
class Synchronous(Policy):
    """The server waits for all clients: ``Delta t^n = max_i T_i^n``."""

    def next_update(self, now: Number, finish: Sequence[Number]) -> tuple[Number, tuple[int, ...]]:
        return max(now, *finish), tuple(range(len(finish)))


@dataclass(frozen=True)
class FedBuff(Policy):
    """The server waits for `buffer` reports (fraboni2022, Section 4.5; Nguyen et al. 2021)."""

    buffer: int
    ties: Ties = "together"
    staleness: StalenessWeight | None = None
    """The weight of a report by its staleness; None if all have equal weight."""

    def next_update(self, now: Number, finish: Sequence[Number]) -> tuple[Number, tuple[int, ...]]:
        first = nsmallest(self.buffer, range(len(finish)), key=lambda client: (finish[client], client))
        time = max(now, finish[first[-1]])
        if self.ties == "one-by-one":
            return time, tuple(sorted(first))
        return time, tuple(client for client, done in enumerate(finish) if done <= time)

    def weights(self, update: Update, weights: Array) -> Array:
        if self.staleness is None:
            return weights
        weighted: Array = weights * self.staleness.factors(update.staleness, weights)
        return weighted

    @property
    def changes_weights(self) -> str:
        return "" if self.staleness is None else "reports are weighted by their staleness"

    def check(self, clients: int) -> None:
        if not 1 <= self.buffer <= clients:
            expected = f"expected a whole number from 1 to {clients}, got {self.buffer}"
            raise InputError("algorithm.clock.buffer", expected)


@dataclass(frozen=True)
class Asynchronous(Policy):
    """A new model for each report: ``Delta t^n = min_i T_i^n``, a buffer of one."""

    ties: Ties = "together"

    def next_update(self, now: Number, finish: Sequence[Number]) -> tuple[Number, tuple[int, ...]]:
        return FedBuff(1, self.ties).next_update(now, finish)


@dataclass(frozen=True)
class FedFix(Policy):
    """A new model every `interval`, from the reports that have arrived, possibly none (fraboni2022, Section 4.4)."""

    interval: Number

    def next_update(self, now: Number, finish: Sequence[Number]) -> tuple[Number, tuple[int, ...]]:
        # Random times are floats.
        time = now + (plain_float(self.interval) if isinstance(now, float) else self.interval)
        return time, tuple(client for client, done in enumerate(finish) if done <= time)

    def check(self, _clients: int) -> None:
        if self.interval <= 0:
            raise InputError("algorithm.clock.interval", f"expected a positive number, got {self.interval}")
