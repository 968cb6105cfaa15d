"""The clock of an algorithm: a policy, and the time that each client works."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice, takewhile
from typing import Literal

import numpy as np
from flint import fmpq

from fedtheory.arithmetic import FLOAT, Number, plain_float
from fedtheory.errors import InputError, NotApplicable
from fedtheory.federation.clock.cyclic import Cyclic
from fedtheory.federation.clock.policy import FedFix, Policy, Synchronous
from fedtheory.federation.clock.schedule import Schedule, Update

_MOST_UPDATES = 10**5
"""Limit on the updates that are generated one by one to count those within a time budget."""

TimeLaw = Literal["fixed", "exponential"]


@dataclass(frozen=True)
class Clock:
    """A policy and the client times T_i; times are rationals, so that equal times are recognised."""

    policy: Policy
    times: tuple[fmpq, ...]
    """T_i, or E[T_i] if times are random; positive."""
    law: TimeLaw = "fixed"
    """Fixed times, or exponential ones, sampled again for each piece of work."""

    def __post_init__(self) -> None:
        if any(time <= 0 for time in self.times):
            raise InputError("algorithm.clock.times", f"expected positive numbers, got {min(self.times)}")
        self.policy.check(len(self.times))
        if self.is_random:
            # Random times are sampled in floats.
            for n, time in enumerate(self.times):
                FLOAT.positive(time, f"algorithm.clock.times[{n}]")
            if isinstance(self.policy, FedFix):
                FLOAT.positive(self.policy.interval, "algorithm.clock.interval")

    @property
    def is_synchronous(self) -> bool:
        """Whether all clients always start from the newest model."""
        return isinstance(self.policy, Synchronous)

    @property
    def starts_from_newest(self) -> bool:
        """Whether clients always start from the newest model; some may not participate in an update."""
        return isinstance(self.policy, Synchronous | Cyclic)

    @property
    def is_random(self) -> bool:
        """Whether the schedule is random."""
        return self.law != "fixed"

    @property
    def round(self) -> Update:
        """Return the first update of a clock that waits for all clients, none of whose models is stale."""
        everyone = tuple(range(len(self.times)))
        return Update(max(self.times), everyone, (0,) * len(everyone))

    def schedule(self, updates: int) -> Schedule:
        """Return the first server updates; raise `NotApplicable` if the times are random."""
        if self.is_random:
            reason = "the clients' times are random, so that there is no fixed schedule"
            raise NotApplicable(f"{reason}: `fedtheory simulate` samples schedules")
        return _build_fixed_schedule(self, updates)

    def draw(self, updates: int, generator: np.random.Generator) -> Schedule:
        """Return a sampled schedule; for fixed times, the same as `schedule`."""
        if not self.is_random:
            return self.schedule(updates)
        means = [plain_float(time) for time in self.times]
        return Schedule(tuple(islice(self._updates(lambda i: generator.exponential(means[i])), updates)))

    def updates_within(self, time: fmpq) -> int:
        """Count the updates within a budget of clock time."""
        if self.is_random:
            raise InputError("algorithm.time", "expected rounds: a clock with random times has no fixed number of them")
        updates = islice(self._updates(self.times.__getitem__), _MOST_UPDATES + 1)
        count = sum(1 for _ in takewhile(lambda update: update.time <= time, updates))
        if count > _MOST_UPDATES:
            raise InputError(
                "algorithm.time", f"expected a time of at most {_MOST_UPDATES} updates: use a shorter time"
            )
        return count

    def _updates(self, duration: Callable[[int], Number]) -> Iterator[Update]:
        return self.policy.updates(len(self.times), duration)


@lru_cache(maxsize=4)
def _build_fixed_schedule(clock: Clock, updates: int) -> Schedule:
    """Return the schedule of fixed times, cached for runs that differ in their step sizes."""
    return Schedule(tuple(islice(clock._updates(clock.times.__getitem__), updates)))


def synchronous(clients: int) -> Clock:
    """Return the clock of rounds that take one unit of time."""
    return Clock(Synchronous(), (fmpq(1),) * clients)
