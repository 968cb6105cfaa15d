"""Facts about how an algorithm moves and what it sends: trajectories compared, messages counted."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

from fedtheory.engine.restarted import as_printed, largest_deviation_sq, restarting_first
from fedtheory.engine.run import Run
from fedtheory.federation.communication import (
    Message,
    busiest_load,
    most_sent_by_a_worker,
    parameter_server,
    ring_all_reduce,
)
from fedtheory.language.quantities.notion import Quantity


def _messages(
    count: Callable[[Iterator[Message]], Fraction], listed: Callable[[int, Fraction], Iterator[Message]]
) -> Callable[[Run], Any]:
    """A count over all messages of one aggregation of a run, whose models are d numbers."""

    def measure(run: Run) -> Any:
        counted = count(listed(run.problem.clients, Fraction(run.problem.dimension)))
        return run.arithmetic.number(str(counted), "messages")

    return measure


model_size = Quantity(
    "model_size",
    "b",
    "numbers in a model, d",
    lambda run: run.arithmetic.number(run.problem.dimension, "d"),
    is_constant=True,
)
parameter_server_load = Quantity(
    "parameter_server_load",
    r"\text{load of the parameter server}",
    "numbers that the parameter server receives and sends in one aggregation, counted message by message",
    _messages(busiest_load, parameter_server),
    is_constant=True,
)
ring_worker_load = Quantity(
    "ring_worker_load",
    r"\text{sent by each worker of the ring}",
    "numbers that a worker of the ring sends in one aggregation, counted message by message",
    _messages(most_sent_by_a_worker, ring_all_reduce),
    is_constant=True,
)
restarted_deviation = Quantity(
    "restarted_deviation",
    r"\max_{t,i}\|x_i^t-x_i^{\mathrm{FedAvg},t}\|",
    "largest distance between the iterates of the printed loop over t and those of FedAvg, with the same draws",
    lambda run: largest_deviation_sq(run, as_printed),
    root=True,
)
restarting_first_deviation = Quantity(
    "restarting_first_deviation",
    r"\max_{t,i}\|x_i^t-x_i^{\mathrm{FedAvg},t}\|",
    "the same for the loop that restarts where (t-1) mod K = 0, before the gradient is observed",
    lambda run: largest_deviation_sq(run, restarting_first),
    root=True,
)
