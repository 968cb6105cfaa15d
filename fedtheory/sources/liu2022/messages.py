"""Messages of one aggregation: through a parameter server, or around a ring (liu2022, pp. 5-6).

Both add up the models of N workers, b numbers each, so that every worker ends
with the sum.  The messages are listed one by one, and costs are computed from the list.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

SERVER = -1
"""Index of the parameter server as a sender or receiver; workers are 0 .. N-1."""


@dataclass(frozen=True)
class Message:
    """One message, in one phase; messages of a phase are sent at the same time."""

    phase: int
    sender: int
    receiver: int
    size: Fraction
    """Size of the message, in numbers."""


def list_server_messages(workers: int, size: Fraction) -> Iterator[Message]:
    """Yield the messages through a server: every worker sends its model, then receives the result."""
    for worker in range(workers):
        yield Message(0, worker, SERVER, size)
    for worker in range(workers):
        yield Message(1, SERVER, worker, size)


def list_ring_messages(workers: int, size: Fraction) -> Iterator[Message]:
    """Yield the messages around a ring: in 2(N-1) phases each worker sends a chunk of b/N to its neighbour."""
    for phase in range(2 * (workers - 1)):
        for worker in range(workers):
            yield Message(phase, worker, (worker + 1) % workers, size / workers)


def compute_busiest_load(messages: Iterator[Message]) -> Fraction:
    """Return the largest count of numbers that one node sends and receives, in total."""
    loads: Counter[int] = Counter()
    for message in messages:
        loads[message.sender] += message.size  # type: ignore[assignment]
        loads[message.receiver] += message.size  # type: ignore[assignment]
    return Fraction(max(loads.values(), default=0))


def compute_most_sent(messages: Iterator[Message]) -> Fraction:
    """Return the largest count of numbers that one worker sends."""
    sent: Counter[int] = Counter()
    for message in messages:
        if message.sender != SERVER:
            sent[message.sender] += message.size  # type: ignore[assignment]
    return Fraction(max(sent.values(), default=0))


@dataclass(frozen=True)
class FederationSize:
    """The lowest and highest values of the size and training time of a federation."""

    population: tuple[int, int]
    devices_per_round: tuple[int, int]
    participants: tuple[int, int]
    """Number of devices that participate in the training of one model."""
    rounds: tuple[int, int]
    days: tuple[int, int]
    """Training time."""


def cross_device() -> FederationSize:
    """Return the ranges of Kairouz et al., arXiv:1912.04977, as cited by liu2022."""
    return FederationSize(
        population=(10**6, 10**10),
        devices_per_round=(50, 5000),
        participants=(10**5, 10**7),
        rounds=(500, 10000),
        days=(1, 10),
    )
