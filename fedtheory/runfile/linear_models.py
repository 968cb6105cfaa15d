"""Reads linear models on data from a run file: logistic regression for two classes, other losses for numbers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from fedtheory.arithmetic import FLOAT, Array
from fedtheory.errors import InputError
from fedtheory.federation.client_data import ClientData
from fedtheory.federation.client_types import expand_weights
from fedtheory.federation.linear_models import LinearModel, LinearModelProblem, MarginLoss, RowBatches
from fedtheory.federation.losses import KINDS
from fedtheory.federation.oracles import ExactOracle, Oracle
from fedtheory.federation.problem import Problem
from fedtheory.federation.problem.checks import require_weights, uniform_weights
from fedtheory.federation.problem.datasets import DataSet
from fedtheory.runfile.common_keys import read_start
from fedtheory.runfile.counts import Counts, ProblemInTypes, read_counts
from fedtheory.runfile.limits import MOST_NUMBERS
from fedtheory.runfile.problems import (
    build_problem_on,
    is_intercept_free,
    read_batches,
    read_classes,
    read_rows,
    read_shares,
    read_types,
    split_rows,
)
from fedtheory.runfile.table import TomlTable

LEAST_SQUARES = "least-squares"
LOGISTIC = "logistic"
"""Kind of a problem with two classes: log(1 + exp(-s x'w)) with labels s = -1 and 1."""
REGRESSIONS = tuple(name for name, kind in KINDS.items() if kind.is_convex)
"""Kinds whose loss is a convex smooth function of the residual x'w - y."""


def read_any_problem(table: TomlTable, folder: Path) -> ProblemInTypes:
    """Return the problem of a `[problem]` table of any kind; clients of a linear model are not grouped by type."""
    if not is_linear_model(table):
        return read_types(table, folder)
    kind = table.choice("kind", (LOGISTIC, *KINDS))
    _require_floats_and_convexity(table, kind)
    rows = read_classes(table, folder) if kind == LOGISTIC else (*read_rows(table, folder), ())
    problem = _build_problem(table, kind, *rows)
    table.finish()
    return ProblemInTypes(problem, (1,) * problem.clients)


def build_any_problem_on(table: TomlTable, data: DataSet) -> Problem:
    """Return the problem on a data set of the kind that a `[problem]` table names; least squares by default."""
    kind = table.choice("kind", (LEAST_SQUARES, LOGISTIC, *REGRESSIONS), LEAST_SQUARES)
    if kind == LEAST_SQUARES:
        return build_problem_on(table, data)
    return _build_problem(table, kind, *split_rows(table, data), data.classes)


def is_linear_model(table: TomlTable) -> bool:
    """Return whether a `[problem]` table describes a linear model on data."""
    kind, is_on_data = table.peek("kind"), any(table.peek(key) is not None for key in ("data", "inputs"))
    return kind == LOGISTIC or (isinstance(kind, str) and kind in KINDS and is_on_data)


def _require_floats_and_convexity(table: TomlTable, kind: str) -> None:
    """Raise `InputError` for rationals, and for losses that are not convex."""
    if table.arithmetic is not FLOAT:
        expected = "has no rational values on data; expected --arithmetic float, which is the default"
        raise InputError(table.path("kind"), f"{kind!r} {expected}")
    if kind not in (LOGISTIC, *REGRESSIONS):
        raise InputError(
            table.path("kind"), f"expected one of {LOGISTIC}, {', '.join(REGRESSIONS)} on data, got {kind!r}"
        )


def _build_problem(
    table: TomlTable, kind: str, data: ClientData, name: str, names: tuple[str, ...]
) -> LinearModelProblem:
    """Return the problem of a kind on the rows of each client; `name` is that of the data, `names` those of labels."""
    classes = None
    if kind == LOGISTIC:
        data, classes = _label_rows(table, data, names)
    start = read_start(table, data.inputs[0].shape[1])
    types = read_counts(table, len(data.inputs))
    weights = read_shares(table, data, types)
    data = _repeat_rows(table, data, types)
    counts = np.array([len(outputs) for outputs in data.outputs])
    weights = uniform_weights(FLOAT, len(counts)) if weights is None else weights
    weights = expand_weights(weights, types) if len(weights) == len(types) != len(counts) else weights
    _require_clients(table, counts, weights)
    inputs, outputs = np.concatenate(data.inputs), np.concatenate(data.outputs)
    ones = np.ones(len(outputs))
    labels, offsets = (ones, outputs) if classes is None else (outputs, 0 * ones)
    inputs = inputs if classes is None else inputs * labels[:, None]
    origin = np.zeros(len(start))
    penalties = replace(data, ridge=_read_ridge(table), free=is_intercept_free(table, data)).penalties
    model = LinearModel(_read_loss(table, kind), inputs, offsets, counts, penalties, origin, labels)
    what = f"{kind} regression on {name}"
    oracle = _read_oracle(table, counts)
    return LinearModelProblem(model, weights, start, oracle, description=what, classes=classes)


def _repeat_rows(table: TomlTable, data: ClientData, counts: Counts) -> ClientData:
    """Repeat the rows of each client by its count; raise `InputError` if there are too many."""
    if set(counts) == {1}:
        return data
    rows = sum(count * len(outputs) for count, outputs in zip(counts, data.outputs, strict=True))
    if rows * data.inputs[0].shape[1] > MOST_NUMBERS:
        expected = f"expected at most {MOST_NUMBERS} numbers in the rows of all clients (rows x columns)"
        got = f"{rows} x {data.inputs[0].shape[1]}"
        raise InputError(table.path("count"), f"{expected}, got {got}: use smaller counts")
    return data.select_clients(np.repeat(np.arange(len(counts)), counts).tolist())


def _read_loss(table: TomlTable, kind: str) -> MarginLoss:
    """Read the loss of a linear model."""
    if kind == LOGISTIC:
        return MarginLoss(KINDS["softplus"], -1.0)
    width = float(table.number("width", 1))
    if not width > 0:
        raise InputError(table.path("width"), f"expected a positive number, got {width:g}")
    return MarginLoss(KINDS[kind], width)


def _read_ridge(table: TomlTable) -> float:
    """Read the coefficient of the ridge penalty, which is not negative."""
    ridge = float(table.number("ridge", 0))
    if ridge < 0:
        raise InputError(table.path("ridge"), f"expected a number that is not negative, got {ridge:g}")
    return ridge


def _label_rows(table: TomlTable, data: ClientData, names: tuple[str, ...]) -> tuple[ClientData, tuple[str, str]]:
    """Return the rows with label -1 for the smaller and 1 for the larger class, and the names of the two classes."""
    labels = np.unique(np.concatenate(data.outputs))
    called = [names[int(label)] if names else f"{label:g}" for label in labels]
    key = table.path("target" if table.has("target") else "data")
    if len(labels) == 1:
        raise InputError(key, f"expected two classes, got the label {called[0]} in all rows")
    if len(labels) > 2:
        what = f"{len(labels)} different labels ({', '.join(called[:4])}{', ...' if len(labels) > 4 else ''})"
        are_classes = bool(names) or ((labels == np.round(labels)).all() and len(labels) <= _MANY)
        way_out = "keep the rows of two of them" if are_classes else 'use kind = "least-squares" or "huber" for numbers'
        raise InputError(key, f"expected two classes, got {what}: {way_out}")
    signed = tuple(np.where(part == labels[1], 1.0, -1.0) for part in data.outputs)
    return replace(data, outputs=signed), (called[0], called[1])


_MANY = 50
"""Largest number of distinct whole-number labels that are taken for classes, not for measurements."""


def _require_clients(table: TomlTable, counts: Array, weights: Array) -> None:
    require_weights(weights)
    if len(weights) != len(counts):
        raise InputError(table.path("weights"), f"expected {len(counts)} numbers, got {len(weights)}")
    for client in np.flatnonzero(counts == 0):
        raise InputError(table.path("clients"), f"client {client} has no data: use fewer clients")


def _read_oracle(table: TomlTable, counts: Array) -> Oracle:
    """Read the stochastic gradients; full gradients if no batches are given."""
    batches = read_batches(table)
    if not batches:
        return ExactOracle()
    batch, replacement = batches["batch"], batches["replacement"]
    if not replacement and batch > counts.min():
        expected = f"expected at most {counts.min()} (the smallest client) without replacement"
        raise InputError(table.path("batch"), f"{expected}, got {batch}")
    return RowBatches(batch, replacement, counts)
