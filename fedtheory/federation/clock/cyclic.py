"""Cyclic participation: clients participate in turn, equally many in each round.

Round n has the participants ``S_n = {(n m + j) mod M, j = 0 .. m-1}``, which all start from the newest model.  In
``M / gcd(M, m)`` rounds each client participates equally often (regularised participation, Wang and Ji 2022).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from fedtheory.arithmetic import Array, Number, arithmetic_of
from fedtheory.errors import InputError
from fedtheory.federation.clock.policy import Policy
from fedtheory.federation.clock.schedule import Update


@dataclass(frozen=True)
class Cyclic(Policy):
    """The server waits for the m clients in turn; their weights are ``w_i = d_i M / m``, or ``d_i / sum_S d_j``."""

    clients: int
    normalised: bool = False
    """Whether a round's weights are divided by their sum, instead of by m / M."""

    is_in_turn = True

    def next_update(self, now: Number, finish: Sequence[Number]) -> tuple[Number, tuple[int, ...]]:
        return next((update.time, update.reports) for update in self.updates(len(finish), lambda i: finish[i] - now))

    def updates(self, clients: int, duration: Callable[[int], Number]) -> Iterator[Update]:
        now, first = None, 0
        while True:
            reports = tuple(sorted((first + j) % clients for j in range(self.clients)))
            slowest = max(duration(client) for client in reports)
            now = slowest if now is None else now + slowest
            yield Update(now, reports, (0,) * clients, sent_to_all=True)
            first = (first + self.clients) % clients

    def weights(self, update: Update, weights: Array) -> Array:
        scale = arithmetic_of(weights).number(len(weights), "M") / self.clients
        if self.normalised:
            total = weights[list(update.reports)].sum()
            scale = 1 / total if total != 0 else total
        scaled: Array = weights * scale
        return scaled

    @property
    def changes_weights(self) -> str:
        return "participation is cyclic"

    def check(self, clients: int) -> None:
        if not 1 <= self.clients <= clients:
            expected = f"expected a whole number from 1 to {clients}, got {self.clients}"
            raise InputError("algorithm.participation.clients", expected)

    def describe(self, clients: int) -> str:
        """Describe the participants among `clients` clients."""
        by = ", weights normalised over those present" if self.normalised else ""
        return f"{self.clients} of {clients} clients a round in turn{by}"
