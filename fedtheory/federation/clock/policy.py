"""When the server makes its next model, and out of whose work.

A policy sees the time at which each client finishes its present work and says when the next update happens and who
reports (fraboni2022, Sections 2.2 and 4). A client that has finished but is not yet requested waits.
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
"""Clients that finish at the same time report in one update (Algorithm 1 read literally), or in client order."""


class Policy(ABC):
    """A rule for the server's updates."""

    @abstractmethod
    def next_update(self, now: Number, finish: Sequence[Number]) -> tuple[Number, tuple[int, ...]]:
        """Time of the next update and the clients that report, for finishing times `finish` (M,) and the time `now`."""

    def updates(self, clients: int, duration: Callable[[int], Number]) -> Iterator[Update]:
        """Return the events: all clients start at time 0 with theta^0, and work on the model they received last."""
        finish = [duration(client) for client in range(clients)]
        staleness, now = [0] * clients, finish[0] - finish[0]
        while True:
            now, reports = self.next_update(now, finish)
            yield Update(now, reports, tuple(staleness))
            staleness = [age + 1 for age in staleness]
            for client in reports:
                staleness[client], finish[client] = 0, now + duration(client)

    def weights(self, _update: Update, weights: Array) -> Array:
        """Weights with which the reports of an update count, (M,), for aggregation weights d_i, (M,)."""
        return weights

    is_in_turn = False
    """Whether the policy determines the participants of rounds that wait for them."""

    @property
    def changes_weights(self) -> str:
        """The reason why reports do not count with the weights d_i; empty where they do."""
        return ""

    def check(self, clients: int) -> None:  # noqa: B027
        """Raise `InputError` if the policy makes no sense for that number of clients; any is fine by default."""


@dataclass(frozen=True)
class Synchronous(Policy):
    """The server waits for all clients: ``Delta t^n = max_i T_i^n``."""

    def next_update(self, now: Number, finish: Sequence[Number]) -> tuple[Number, tuple[int, ...]]:
        return max(now, *finish), tuple(range(len(finish)))


@dataclass(frozen=True)
class FedBuff(Policy):
    """The server waits for `buffer` contributions (fraboni2022, Section 4.5; Nguyen et al. 2021)."""

    buffer: int
    ties: Ties = "together"
    staleness: StalenessWeight | None = None
    """The weight of a report by its staleness; None if all count alike."""

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
    """A new model for each contribution: ``Delta t^n = min_i T_i^n``, a buffer of one."""

    ties: Ties = "together"

    def next_update(self, now: Number, finish: Sequence[Number]) -> tuple[Number, tuple[int, ...]]:
        return FedBuff(1, self.ties).next_update(now, finish)


@dataclass(frozen=True)
class FedFix(Policy):
    """A new model every `interval`, out of what has arrived; possibly nothing (fraboni2022, Section 4.4)."""

    interval: Number

    def next_update(self, now: Number, finish: Sequence[Number]) -> tuple[Number, tuple[int, ...]]:
        # Random times are floats.
        time = now + (plain_float(self.interval) if isinstance(now, float) else self.interval)
        return time, tuple(client for client, done in enumerate(finish) if done <= time)

    def check(self, _clients: int) -> None:
        if self.interval <= 0:
            raise InputError("algorithm.clock.interval", f"expected a positive number, got {self.interval}")
