"""Least squares split over clients: ``F_i(w) = (1/n_i) sum_j (w'x_ij - y_ij)^2`` (renard2022, section 3.1)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from fedtheory.arithmetic import Array, arithmetic_of
from fedtheory.errors import InputError
from fedtheory.oracles import MiniBatch
from fedtheory.problem.quadratic import Problem, quadratic


def least_squares(
    features: tuple[Array, ...],
    targets: tuple[Array, ...],
    start: Array,
    *,
    batch: int | None = None,
    replacement: bool = True,
    weights: Array | None = None,
    description: str = "least squares",
) -> Problem:
    """The problem of M clients with inputs (n_i, d) and outputs (n_i,).

    Without `batch` clients see full gradients; with it, mini-batches of that
    size drawn with or without replacement.  Raises `InputError`.
    """
    _check_data(features, targets, batch, replacement)
    hessians = np.stack([2 * (x.T @ x) / len(x) for x in features])
    hessians = (hessians + hessians.transpose(0, 2, 1)) / 2
    linear = np.stack([2 * (y @ x) / len(x) for x, y in zip(features, targets, strict=True)])
    constants = arithmetic_of(start).array([(y @ y) / len(y) for y in targets])
    problem = quadratic(hessians, linear, start, constants=constants, weights=weights)
    if batch is None:
        return replace(problem, description=description)
    return replace(problem, oracle=MiniBatch(features, targets, batch, replacement), description=description)


def _check_data(features: tuple[Array, ...], targets: tuple[Array, ...], batch: int | None, replacement: bool) -> None:
    if not features:
        raise InputError("problem.clients", "expected at least one client")
    for client, (inputs, outputs) in enumerate(zip(features, targets, strict=True)):
        if len(inputs) == 0:
            raise InputError("problem.clients", f"client {client} has no data: use fewer clients")
        if len(inputs) != len(outputs):
            raise InputError("problem.data", f"client {client} has {len(inputs)} inputs and {len(outputs)} outputs")
    if batch is None:
        return
    smallest = min(len(outputs) for outputs in targets)
    if batch < 1:
        raise InputError("problem.batch", f"expected a positive whole number, got {batch}")
    if not replacement and batch > smallest:
        raise InputError("problem.batch", f"expected at most {smallest} (the smallest client) without replacement")
