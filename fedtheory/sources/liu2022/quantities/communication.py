"""Messages of one aggregation, counted one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

from fedtheory.engine.run import Run
from fedtheory.language.quantities.quantity import constant
from fedtheory.sources.liu2022.messages import (
    Message,
    compute_busiest_load,
    compute_most_sent,
    list_ring_messages,
    list_server_messages,
)

model_size = constant(
    "model_size",
    "b",
    "numbers in a model, d",
    lambda run: run.arithmetic.number(run.problem.features, "d"),
    primitive="setting",
)


def _count_messages(
    count: Callable[[Iterator[Message]], Fraction], list_messages: Callable[[int, Fraction], Iterator[Message]]
) -> Callable[[Run], Any]:
    """Return a measure that counts all messages of one aggregation of a run, whose models have d numbers."""

    def measure(run: Run) -> Any:
        counted = count(list_messages(run.clients, Fraction(run.problem.features)))
        return run.arithmetic.number(str(counted), "messages")

    return measure


parameter_server_load = constant(
    "parameter_server_load",
    r"\text{load of the parameter server}",
    "numbers that the parameter server receives and sends in one aggregation, counted message by message",
    _count_messages(compute_busiest_load, list_server_messages),
    primitive="setting",
)
ring_worker_load = constant(
    "ring_worker_load",
    r"\text{sent by each worker of the ring}",
    "numbers that a worker of the ring sends in one aggregation, counted message by message",
    _count_messages(compute_most_sent, list_ring_messages),
    primitive="setting",
)
