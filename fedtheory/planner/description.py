"""Describes a data file: columns, clients, curvatures, heterogeneity, and a first run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import floor, log10
from typing import Any

import numpy as np

from fedtheory.arithmetic import FLOAT, Array
from fedtheory.engine.run import Run
from fedtheory.errors import Unresolved
from fedtheory.federation import fedavg
from fedtheory.federation.problem import Problem, least_squares
from fedtheory.federation.problem.columns import ColumnChoice
from fedtheory.federation.problem.datasets import DataSet, load
from fedtheory.federation.problem.least_squares import THE_LOSS, notes_on_columns, weigh_by_rows
from fedtheory.runfile.problems import split_data

LOCAL_STEPS, ROUNDS = 5, 100
"""Local steps and rounds of the first run."""


@dataclass(frozen=True)
class ColumnScale:
    """Range of the numbers in a column."""

    name: str
    mean: float
    deviation: float
    least: float
    largest: float


@dataclass(frozen=True)
class ClientSummary:
    """One client's rows and its objective F_i; norms are Euclidean, for models with the columns of the run."""

    name: str
    rows: int
    target_mean: float
    smoothness: float
    """L_i, the largest curvature of F_i."""
    strong_convexity: float | None
    """mu_i, the smallest curvature; None if floats cannot resolve it."""
    gradient_at_optimum: float
    """|grad F_i(x*)|, x* the minimiser of F: zero for clients with the same minimiser."""
    curvature_apart: float
    """Largest modulus of a curvature of F_i - F."""


@dataclass(frozen=True, eq=False)
class DataDescription:
    """A data file, and least squares on it as a first run."""

    file: str
    choice: ColumnChoice
    given: DataSet
    standardize: bool
    intercept: bool

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the features."""
        return self.given.columns or tuple(f"x{n}" for n in range(self.given.features.shape[1]))

    @property
    def features(self) -> list[ColumnScale]:
        """The scale of each feature, in the units of the file."""
        return [_scale(name, column) for name, column in zip(self.names, self.given.features.T, strict=True)]

    @property
    def target(self) -> ColumnScale:
        """The scale of the target."""
        return _scale(self.given.target, self.given.outputs)

    @property
    def labels(self) -> tuple[str, ...]:
        """The clients; one if the file has no client column."""
        return ("all rows",) if self.given.clients is None else self.given.clients.labels

    @property
    def rows(self) -> list[Array]:
        """Row numbers of each client."""
        return [np.arange(len(self.given.outputs))] if self.given.clients is None else self.given.clients.rows

    @property
    def counts(self) -> list[int]:
        """n_i, the rows of each client."""
        return [len(part) for part in self.rows]

    @cached_property
    def run(self) -> Run:
        """FedAvg on the data as the run file prepares it, with a step size of at most 1/(4L)."""
        data = split_data(self.given.prepared(self.standardize, self.intercept), self.rows, FLOAT)
        problem = least_squares(data, FLOAT.zeros(data.inputs[0].shape[1]), weights=weigh_by_rows(data, FLOAT))
        run = Run(problem, fedavg(problem, rounds=ROUNDS, local_steps=LOCAL_STEPS, local_step_size=1))
        return run.with_step_factor(_round_down(1 / (4 * run.smoothness)) if run.smoothness > 0 else 1.0)

    @property
    def problem(self) -> Problem:
        """Least squares on the data."""
        return self.run.problem

    @property
    def clients(self) -> list[ClientSummary]:
        """Each client."""
        problem, run = self.problem, self.run
        pulls = np.linalg.norm(problem.gradients(np.tile(problem.optimum, (problem.clients, 1))), axis=1)
        apart = np.abs(np.linalg.eigvalsh(problem.hessians - problem.hessian)).max(axis=1)
        try:
            least: list[float | None] = [max(float(value), 0.0) for value in run.client_strong_convexity]
        except Unresolved:
            least = [None] * problem.clients
        numbers = zip(self.labels, self.rows, run.client_smoothness, least, pulls, apart, strict=True)
        return [
            ClientSummary(
                label,
                len(rows),
                float(self.given.outputs[rows].mean()),
                float(top),
                low,
                float(pull),
                float(far),
            )
            for label, rows, top, low, pull, far in numbers
        ]

    @property
    def constants(self) -> dict[str, float | None]:
        """Constants of the whole problem, with client weights proportional to numbers of rows."""
        problem, run = self.problem, self.run
        clients = self.clients
        return {
            "smoothness": run.smoothness,
            "strong_convexity": _measure_if_resolved(lambda: run.strong_convexity),
            "objective_smoothness": run.objective_smoothness,
            "objective_strong_convexity": _measure_if_resolved(lambda: run.smallest_curvature),
            "gradient_dissimilarity_at_optimum": max(client.gradient_at_optimum for client in clients),
            "curvature_dissimilarity": max(client.curvature_apart for client in clients),
            "initial_gap": float(run.initial_gap),
            "optimal_value": float(problem.optimal_value),
        }

    @property
    def notes(self) -> list[str]:
        """Notes to read before a run."""
        found = [THE_LOSS, *self.given.notes, *(f"column {name!r} never changes" for name in self._constant)]
        if self.given.clients is None:
            found.append("no column assigns rows to clients: name one as client, or split the rows with clients = N")
        found += notes_on_columns(self.problem)
        if len(set(self.counts)) > 1:
            found.append(
                f'clients have {min(self.counts)} to {max(self.counts)} rows: shares = "samples" weighs them by their '
                'rows, "equal" lets all count alike'
            )
        curvatures = self.problem.curvatures
        if curvatures.min() <= 0 or len(curvatures) < self.problem.dimension:
            found.append('F has flat directions: a ridge, such as ridge = "1/100", gives it one minimiser')
        return found

    @property
    def _constant(self) -> list[str]:
        """Return the names of the features that do not vary."""
        return [scale.name for scale in self.features if scale.deviation == 0]

    def run_table(self, data: str | None = None) -> dict[str, Any]:
        """Return a first run file; `data` is the name of the data file in it."""
        problem: dict[str, Any] = {"kind": "least-squares", "data": data or self.file}
        columns = {"target": self.choice.target, "client": self.choice.client, "features": self.choice.features}
        problem |= {key: list(v) if isinstance(v, tuple) else v for key, v in columns.items() if v is not None}
        if self.given.clients is None:
            problem["clients"] = min(10, len(self.given.outputs))
        problem |= {"shares": "samples"} if len(set(self.counts)) > 1 else {}
        problem |= {"standardize": True} if self.standardize else {}
        problem |= {"intercept": self.intercept} if self.intercept != self.given.intercept else {}
        step_size = float(self.run.algorithm.work.step_sizes[0])
        return {
            "problem": problem,
            "algorithm": {"local_step_size": step_size, "local_steps": LOCAL_STEPS, "rounds": ROUNDS},
        }


def describe(
    file: str, choice: ColumnChoice, standardize: bool | None = None, intercept: bool | None = None
) -> DataDescription:
    """Return the description of a file or of a named data set; raise `InputError` if it cannot be read.

    By default, features are standardised if their scales are far apart, and a column of ones is added if there is none.
    """
    given = load(file, choice)
    prepared = given.prepared(standardize, intercept)
    return DataDescription(file, choice, given, prepared.scaling is not None, prepared.intercept)


def _measure_if_resolved(measure: Callable[[], float]) -> float | None:
    """Return a non-negative curvature; None if floats cannot resolve it."""
    try:
        return max(float(measure()), 0.0)
    except Unresolved:
        return None


def _scale(name: str, column: Array) -> ColumnScale:
    """Return the mean, deviation and range of a column."""
    return ColumnScale(name, *map(float, (column.mean(), column.std(), column.min(), column.max())))


def _round_down(number: float) -> float:
    """Return a number rounded down to two digits."""
    unit = 10.0 ** (floor(log10(number)) - 1)
    return float(f"{floor(number / unit * (1 + 1e-12)) * unit:.2g}")


def document(found: DataDescription, data: str | None = None) -> Mapping[str, Any]:
    """Return everything as nested dictionaries and lists."""
    return {
        "file": found.file,
        "rows": sum(found.counts),
        "target": vars(found.target),
        "features": [vars(scale) for scale in found.features],
        "standardize": found.standardize,
        "intercept": found.intercept,
        "clients": [vars(client) for client in found.clients],
        "constants": found.constants,
        "notes": found.notes,
        "run": found.run_table(data),
    }
