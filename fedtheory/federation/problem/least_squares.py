"""Least squares split over clients: ``F_i(w) = (1/n_i) sum_j (w'x_ij - y_ij)^2`` (renard2022, section 3.1).

A ridge adds ``ridge/2 |w|^2`` to the objective of every client.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from fedtheory.arithmetic import Arithmetic, Array, arithmetic_of, product
from fedtheory.errors import InputError
from fedtheory.federation.client_data import ClientData
from fedtheory.federation.oracles import ExactOracle, MiniBatch, Oracle
from fedtheory.federation.problem.checks import mark_semidefinite, uniform_weights
from fedtheory.federation.problem.quadratic import Problem, require_well_conditioned
from fedtheory.federation.problem.row_span import find_span
from fedtheory.federation.problem.scales import are_uneven, has_constant, measure_data


def least_squares(
    data: ClientData,
    start: Array,
    *,
    batch: int | None = None,
    replacement: bool = True,
    weights: Array | None = None,
    description: str = "least squares",
) -> Problem:
    """Return the problem of M clients with their data, from a start (d,).

    Without `batch` clients compute full gradients; with it, mini-batches of that
    size drawn with or without replacement.  In floats, with fewer rows than
    features, the problem is in the coordinates of `row_span`.  Raises `InputError` for invalid data or batches.
    """
    _check_data(data, batch, replacement)
    oracle = ExactOracle() if batch is None else MiniBatch(data, batch, replacement)
    weights = uniform_weights(arithmetic_of(start), len(data.inputs)) if weights is None else weights
    span = find_span(data, start)
    if span is None:
        return _build_problem(data, start, oracle, weights, description)
    data, start = span.inside
    inside = oracle if batch is None else MiniBatch(data, batch, replacement)
    return replace(_build_problem(data, start, inside, weights, description), span=span)


def expand_to_all_dimensions(problem: Problem) -> Problem:
    """Return the problem with one coordinate per feature, for algorithms that treat coordinates differently."""
    if problem.span is None:
        return problem
    data, oracle = problem.span.data, problem.oracle
    oracle = replace(oracle, data=data) if isinstance(oracle, MiniBatch) else oracle
    return _build_problem(data, problem.span.start, oracle, problem.weights, problem.description)


def _build_problem(data: ClientData, start: Array, oracle: Oracle, weights: Array, description: str) -> Problem:
    """Return the problem in the coordinates of its data."""
    hessians = np.stack([2 * product(x.T, x) / len(x) for x, _ in data])
    hessians = (hessians + hessians.transpose(0, 2, 1)) / 2
    hessians = hessians + data.penalties * arithmetic_of(start).identity(len(start))
    linear = np.stack([2 * product(y, x) / len(x) for x, y in data])
    constants = arithmetic_of(start).array([(y @ y) / len(y) for _, y in data])
    problem = Problem(mark_semidefinite(hessians), linear, constants, weights, start, oracle, data, description)
    require_well_conditioned(problem, "problem.data")
    return problem


def weigh_by_rows(data: ClientData, arithmetic: Arithmetic) -> Array:
    """Return p_i = n_i / n, (M,), so that all rows have equal weight."""
    counts = arithmetic.array(_count_rows(data))
    shares: Array = counts / counts.sum()
    return shares


THE_LOSS = "F_i is the average of (y - x'w)^2 over a client's rows; if your loss is half of it, double the step sizes"
"""Note on the definition of the loss."""


def list_data_notes(problem: Problem) -> list[str]:
    """Return notes on a problem of data: the loss, the columns, the batches, the client weights."""
    if problem.data is None:
        return list(problem.notes)
    counts, oracle = _count_rows(problem.data), problem.oracle
    batches = describe_batches(oracle.batch, counts) if isinstance(oracle, MiniBatch) else None
    found = [note for note in (batches, describe_weights(counts, problem.weights)) if note is not None]
    return [THE_LOSS, *problem.data.notes, *list_notes_on_columns(problem), *found]


def list_notes_on_columns(problem: Problem) -> list[str]:
    """Return sentences on columns of very different scales, and on a model without a constant term."""
    if problem.data is None:
        return []
    data = (problem.data if problem.span is None else problem.span.data).as_floats()
    return describe_columns(are_uneven(measure_data(data)), has_constant(data.inputs))


def describe_columns(are_far_apart: bool, is_one_constant: bool) -> list[str]:
    """Return sentences on columns of very different scales, and on data without a constant column."""
    notes = ["the columns have very different scales: standardize = true equalises them"] if are_far_apart else []
    if not is_one_constant:
        notes.append("no column of ones: intercept = true adds one; without it the model has no constant term")
    return notes


def describe_batches(batch: int, counts: Sequence[int]) -> str | None:
    """Return a sentence on clients with fewer rows, `counts`, than a batch; None if there are none."""
    small = sum(count < batch for count in counts)
    if not small:
        return None
    who = "a client has" if small == 1 else f"{small} clients have"
    return (
        f"{who} fewer rows ({min(counts)}) than a batch of {batch}: rows are drawn with replacement, so that the batch "
        "repeats some and misses others, and is not the full gradient"
    )


def _count_rows(data: ClientData) -> list[int]:
    return [len(outputs) for outputs in data.outputs]


def describe_weights(counts: Sequence[int], weights: Array) -> str | None:
    """Return a note that clients with different numbers of rows have equal weights; None if it does not apply."""
    if len(set(counts)) < 2 or (weights != weights[0]).any():
        return None
    return (
        f"clients have {min(counts)} to {max(counts)} rows and the same weight; "
        'shares = "samples" weighs them by their rows, as FedAvg is mostly run'
    )


def _check_data(data: ClientData, batch: int | None, replacement: bool) -> None:
    if not data.inputs:
        raise InputError("problem.clients", "expected at least one client")
    for client, (inputs, outputs) in enumerate(data):
        if len(inputs) == 0:
            raise InputError("problem.clients", f"client {client} has no data: use fewer clients")
        if len(inputs) != len(outputs):
            raise InputError("problem.data", f"client {client} has {len(inputs)} inputs and {len(outputs)} outputs")
    if data.ridge < 0:
        raise InputError("problem.ridge", f"expected a number that is not negative, got {data.ridge}")
    if batch is not None:
        _check_batch(data, batch, replacement)


def _check_batch(data: ClientData, batch: int, replacement: bool) -> None:
    smallest = min(len(outputs) for outputs in data.outputs)
    if batch < 1:
        raise InputError("problem.batch", f"expected a positive whole number, got {batch}")
    if not replacement and batch > smallest:
        raise InputError("problem.batch", f"expected at most {smallest} (the smallest client) without replacement")
