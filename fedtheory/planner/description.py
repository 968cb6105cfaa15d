"""Describes a data file: columns, clients, curvatures, heterogeneity, and a first run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from math import floor, log10
from typing import Any

import numpy as np

from fedtheory.arithmetic import FLOAT, Array
from fedtheory.engine.run import Run
from fedtheory.errors import InputError, Unresolved
from fedtheory.federation import fedavg
from fedtheory.federation.linear_models import LinearModelProblem
from fedtheory.federation.problem import Problem, least_squares
from fedtheory.federation.problem.columns import ColumnChoice
from fedtheory.federation.problem.datasets import DataSet, load
from fedtheory.federation.problem.least_squares import THE_LOSS, list_notes_on_columns, weigh_by_rows
from fedtheory.federation.problem.suspects import describe_combinations
from fedtheory.runfile import parse_run
from fedtheory.runfile.linear_models import LEAST_SQUARES, LOGISTIC
from fedtheory.runfile.problems import split_data

KINDS = (LEAST_SQUARES, LOGISTIC)
"""Kinds of first runs: regression for numbers, classification for two labels."""
LOCAL_STEPS, ROUNDS = 5, 100
"""Local steps and rounds of the first run."""
RIDGE = "1/100"
"""The ridge of a first classification: without one, classes that a hyperplane separates have no minimiser."""
_ROUNDING = 1e-13
"""Gradients at x* below this fraction of the gradients at the start are rounding errors."""


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
    """The mean of the target; of two classes, the fraction of rows in the larger one."""
    smoothness: float
    """L_i, the largest curvature of F_i."""
    strong_convexity: float | None
    """mu_i, the smallest curvature; None if floats cannot resolve it."""
    gradient_at_optimum: float
    """|grad F_i(x*)|, x* the minimiser of F: zero for clients with the same minimiser."""
    curvature_apart: float | None
    """Largest modulus of a curvature of F_i - F; None for losses whose curvature varies."""


@dataclass(frozen=True, eq=False)
class DataDescription:
    """A data file, and least squares or logistic regression on it as a first run."""

    file: str
    choice: ColumnChoice
    given: DataSet
    standardize: bool
    intercept: bool
    kind: str = LEAST_SQUARES
    """One of `KINDS`."""

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
        """The scale of the target; labels of two classes count as 0 and 1."""
        return _scale(self.given.target, self._outputs)

    @property
    def classes(self) -> tuple[str, ...]:
        """The names of the two classes, the first of which counts as 0; none for a regression."""
        return self.run.problem.classes or () if isinstance(self.run.problem, LinearModelProblem) else ()

    @property
    def _outputs(self) -> Array:
        """Return the target of each row, (n,); 1 for the larger label of a classification, else 0."""
        outputs = self.given.outputs
        return outputs if self.kind == LEAST_SQUARES else (outputs == outputs.max()).astype(float)

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
        run = self._classify() if self.kind == LOGISTIC else self._regress()
        return run.with_step_factor(_round_down(1 / (4 * run.smoothness)) if run.smoothness > 0 else 1.0)

    def _classify(self) -> Run:
        """Return logistic regression with step size one; rows without a client belong to one client."""
        problem = {**self._make_problem_table(self.file), "clients": 1}
        if self.given.clients is not None:
            del problem["clients"]
        algorithm = {"local_step_size": 1, "local_steps": LOCAL_STEPS, "rounds": ROUNDS}
        return parse_run({"problem": problem, "algorithm": algorithm}, FLOAT)

    def _regress(self) -> Run:
        """Return least squares with step size one; rows without a client belong to one client."""
        data = split_data(self.given.prepare(self.standardize, self.intercept), self.rows, FLOAT)
        problem = least_squares(data, FLOAT.zeros(data.inputs[0].shape[1]), weights=weigh_by_rows(data, FLOAT))
        return Run(problem, fedavg(problem, rounds=ROUNDS, local_steps=LOCAL_STEPS, local_step_size=1))

    @property
    def problem(self) -> Problem:
        """Least squares or logistic regression on the data."""
        return self.run.problem

    @property
    def clients(self) -> list[ClientSummary]:
        """Each client."""
        problem, run = self.problem, self.run
        try:
            least: list[float | None] = [max(float(value), 0.0) for value in run.client_strong_convexity]
        except Unresolved:
            least = [None] * problem.clients
        numbers = zip(
            self.labels,
            self.rows,
            run.client_smoothness,
            least,
            _measure_gradients_at_optimum(problem),
            self._measure_curvature_differences(),
            strict=True,
        )
        return [
            ClientSummary(label, len(rows), float(self._outputs[rows].mean()), float(top), low, float(gradient), apart)
            for label, rows, top, low, gradient, apart in numbers
        ]

    def _measure_curvature_differences(self) -> list[float | None]:
        """Return the largest modulus of a curvature of each F_i - F; None for losses whose curvature varies."""
        if self.kind == LOGISTIC:
            return [None] * self.problem.clients
        differences = self.problem.hessians - self.problem.hessian
        return [float(apart) for apart in np.abs(np.linalg.eigvalsh(differences)).max(axis=1)]

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
            "curvature_dissimilarity": max(
                (c.curvature_apart for c in clients if c.curvature_apart is not None), default=None
            ),
            "initial_gap": float(run.initial_gap),
            "optimal_value": float(problem.optimal_value),
        }

    @property
    def notes(self) -> list[str]:
        """Notes to read before a run."""
        found = [THE_LOSS] if self.kind == LEAST_SQUARES else list(self.problem.notes[:1])
        found += self.given.notes
        found += (f"column {name!r} never changes: leave it out by drop" for name in self._constant)
        found += describe_combinations(self.names, self.given.features, intercept=self.intercept)
        if self.target.deviation == 0:
            found.append(f"the target {self.given.target!r} never changes: there is nothing to predict")
        if self.given.clients is None:
            found.append("no column assigns rows to clients: name one as client, or split the rows with clients = N")
        found += list_notes_on_columns(self.problem)
        if len(set(self.counts)) > 1:
            found.append(
                f'clients have {min(self.counts)} to {max(self.counts)} rows: shares = "samples" weighs them by their '
                'rows, "equal" lets all count alike'
            )
        return [*found, *self._notes_on_kind]

    @property
    def _notes_on_kind(self) -> list[str]:
        """Return notes on the kind of regression: the ridge of classes, labels that are numbers, flat directions."""
        if self.kind == LOGISTIC:
            return [f'ridge = "{RIDGE}" gives F one minimiser even if a hyperplane separates the classes']
        found = []
        if self.given.two_classes:
            found.append("the target has two values: for classification use --kind logistic")
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
        problem = self._make_problem_table(data or self.file)
        if self.given.clients is None:
            problem["clients"] = min(10, len(self.given.outputs))
        step_size = float(self.run.algorithm.work.step_sizes[0])
        return {
            "problem": problem,
            "algorithm": {"local_step_size": step_size, "local_steps": LOCAL_STEPS, "rounds": ROUNDS},
        }

    def _make_problem_table(self, data: str) -> dict[str, Any]:
        """Return the `[problem]` table, without a number of clients."""
        problem: dict[str, Any] = {"kind": self.kind, "data": data}
        columns = {"target": self.choice.target, "client": self.choice.client, "features": self.choice.features}
        columns |= {"drop": self.choice.dropped or None}
        problem |= {key: list(v) if isinstance(v, tuple) else v for key, v in columns.items() if v is not None}
        problem |= {"shares": "samples"} if len(set(self.counts)) > 1 else {}
        problem |= {"standardize": True} if self.standardize else {}
        problem |= {"intercept": self.intercept} if self.intercept != self.given.intercept else {}
        return problem | ({"ridge": RIDGE} if self.kind == LOGISTIC else {})


def describe(
    file: str,
    choice: ColumnChoice,
    standardize: bool | None = None,
    intercept: bool | None = None,
    kind: str | None = None,
) -> DataDescription:
    """Return the description of a file or of a named data set; raise `InputError` if it cannot be read.

    By default, features are standardised if their scales are far apart, a column of ones is added if there is none,
    and a target of two words is classified.
    """
    if kind is not None and kind not in KINDS:
        raise InputError("kind", f"expected {' or '.join(KINDS)}, got {kind!r}")
    given, found = _load(file, choice, kind)
    prepared = given.prepare(standardize, intercept)
    return DataDescription(file, choice, given, prepared.scaling is not None, prepared.intercept, found)


def _load(file: str, choice: ColumnChoice, kind: str | None) -> tuple[DataSet, str]:
    """Return the data, and the kind of regression: as given, else logistic if the target has two words."""
    if kind == LOGISTIC:
        return load(file, replace(choice, has_classes=True)), LOGISTIC
    try:
        return load(file, choice), LEAST_SQUARES
    except InputError:
        words = _load_two_words(file, choice) if kind is None else None
        if words is None:
            raise
        return words, LOGISTIC


def _load_two_words(file: str, choice: ColumnChoice) -> DataSet | None:
    """Return data whose target has two labels that are words; None for other data."""
    try:
        found = load(file, replace(choice, has_classes=True))
    except InputError:
        return None
    return found if len(found.classes) == 2 else None


def _measure_gradients_at_optimum(problem: Problem) -> Array:
    """Return |grad F_i(x*)|, (M,); zero where it is not above the rounding errors of the gradients at the start."""

    def measure(point: Array) -> Array:
        """Return |grad F_i| at a point (d,), (M,)."""
        return np.asarray(np.linalg.norm(problem.gradients(np.tile(point, (1, problem.clients, 1)))[0], axis=1))

    found = measure(problem.optimum)
    return np.where(found > _ROUNDING * measure(problem.start).max(), found, 0.0)


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


def encode_description(found: DataDescription, data: str | None = None) -> Mapping[str, Any]:
    """Return everything as nested dictionaries and lists."""
    return {
        "file": found.file,
        "kind": found.kind,
        "classes": list(found.classes),
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
