"""Least squares split over clients: ``F_i(w) = (1/n_i) sum_j (w'x_ij - y_ij)^2`` (renard2022, section 3.1)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from fedtheory.arithmetic import Array, arithmetic_of
from fedtheory.errors import InputError
from fedtheory.federation.client_data import ClientData
from fedtheory.federation.oracles import MiniBatch
from fedtheory.federation.problem.quadratic import Problem, quadratic


def least_squares(
    data: ClientData,
    start: Array,
    *,
    batch: int | None = None,
    replacement: bool = True,
    weights: Array | None = None,
    description: str = "least squares",
) -> Problem:
    """The problem of M clients with their data, from a start (d,).

    Without `batch` clients see full gradients; with it, mini-batches of that
    size drawn with or without replacement.  Raises `InputError`.
    """
    _check_data(data, batch, replacement)
    hessians = np.stack([2 * (x.T @ x) / len(x) for x, _ in data])
    hessians = (hessians + hessians.transpose(0, 2, 1)) / 2
    linear = np.stack([2 * (y @ x) / len(x) for x, y in data])
    constants = arithmetic_of(start).array([(y @ y) / len(y) for _, y in data])
    problem = quadratic(hessians, linear, start, constants=constants, weights=weights)
    oracle = problem.oracle if batch is None else MiniBatch(data, batch, replacement)
    return replace(problem, oracle=oracle, data=data, description=description)


def _check_data(data: ClientData, batch: int | None, replacement: bool) -> None:
    if not data.inputs:
        raise InputError("problem.clients", "expected at least one client")
    for client, (inputs, outputs) in enumerate(data):
        if len(inputs) == 0:
            raise InputError("problem.clients", f"client {client} has no data: use fewer clients")
        if len(inputs) != len(outputs):
            raise InputError("problem.data", f"client {client} has {len(inputs)} inputs and {len(outputs)} outputs")
    if batch is None:
        return
    smallest = min(len(outputs) for outputs in data.outputs)
    if batch < 1:
        raise InputError("problem.batch", f"expected a positive whole number, got {batch}")
    if not replacement and batch > smallest:
        raise InputError("problem.batch", f"expected at most {smallest} (the smallest client) without replacement")
