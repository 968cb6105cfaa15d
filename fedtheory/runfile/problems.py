"""Reads the `[problem]` table of a run file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from fedtheory.arithmetic import Arithmetic, Array
from fedtheory.errors import InputError
from fedtheory.federation.client_data import ClientData
from fedtheory.federation.losses import KINDS
from fedtheory.federation.problem import Problem, least_squares, quadratic
from fedtheory.federation.problem.columns import ColumnChoice
from fedtheory.federation.problem.datasets import FILES, DataSet, load
from fedtheory.federation.problem.least_squares import weigh_by_rows
from fedtheory.federation.problem.row_span import bound_coordinates
from fedtheory.federation.problem.split import split_by_dirichlet, split_iid
from fedtheory.runfile.common_keys import read_noise, read_start
from fedtheory.runfile.counts import Counts, ProblemInTypes, merge_weights, read_counts
from fedtheory.runfile.limits import require_few_numbers, require_fitting
from fedtheory.runfile.losses import read_losses
from fedtheory.runfile.table import TomlTable


def read_problem(table: TomlTable, folder: Path) -> Problem:
    """Return the problem of a `[problem]` table; the paths of data files are relative to `folder`."""
    return read_types(table, folder).follow_all_clients()


def read_types(table: TomlTable, folder: Path) -> ProblemInTypes:
    """Return the problem of a `[problem]` table with one client for each type, and the size of each type."""
    kind = table.choice("kind", ("quadratic", "least-squares", "logistic", *KINDS))
    if kind in KINDS:
        found = read_losses(table, KINDS[kind])
    else:
        found = _read_quadratic(table) if kind == "quadratic" else _build_on_rows(table, *read_rows(table, folder))
    table.finish()
    return found


def _read_quadratic(table: TomlTable) -> ProblemInTypes:
    """Read a problem with quadratic objectives."""
    hessians, linear = table.array("hessians", 3), table.array("linear", 2)
    entries, dimension = hessians.shape[0], hessians.shape[1]
    counts, weights = read_counts(table, entries), table.optional_array("weights", 1)
    problem = quadratic(
        hessians,
        linear,
        read_start(table, dimension),
        constants=table.optional_array("constants", 1),
        weights=merge_weights(weights, counts, table.arithmetic),
        noise=read_noise(table, entries),
    )
    return ProblemInTypes(problem, counts, weights)


def read_rows(table: TomlTable, folder: Path) -> tuple[ClientData, str]:
    """Return the rows of each client, listed in the table or from a data set, and the name of the data."""
    return _read_inline_data(table) if table.has("inputs") else split_rows(table, _load_data_set(table, folder))


def read_classes(table: TomlTable, folder: Path) -> tuple[ClientData, str, tuple[str, ...]]:
    """Return the rows of each client with class labels as outputs; text labels become indices of their names."""
    if table.has("inputs"):
        return *_read_inline_data(table), ()
    data = _load_data_set(table, folder, has_classes=True)
    return *split_rows(table, data), data.classes


def build_problem_on(table: TomlTable, data: DataSet) -> Problem:
    """Return least squares on a data set, with the options of a `[problem]` table."""
    return _build_on_rows(table, *split_rows(table, data)).follow_all_clients()


def split_rows(table: TomlTable, data: DataSet) -> tuple[ClientData, str]:
    """Return the rows of a data set, split over clients by the table's keys, and its name."""
    prepared = data.prepare(_read_choice(table, "standardize", False), _read_choice(table, "intercept", data.intercept))
    return split_data(prepared, _list_client_rows(table, data), table.arithmetic), data.name


AUTOMATIC = "auto"
"""Value of `standardize` and `intercept` for a choice by the data."""
USUAL = {"standardize": AUTOMATIC, "intercept": AUTOMATIC, "shares": "samples"}
"""Keys of a problem on data with their defaults."""


def _read_choice(table: TomlTable, name: str, default: bool) -> bool | None:
    """Return true or false; None for "auto"."""
    value = table.take(name, default)
    if value != AUTOMATIC and not isinstance(value, bool):
        raise InputError(table.path(name), f'expected true, false or "auto", got {value!r}')
    return value if isinstance(value, bool) else None


def _build_on_rows(table: TomlTable, data: ClientData, name: str) -> ProblemInTypes:
    require_fitting(len(data.inputs), bound_coordinates(data))
    counts = read_counts(table, len(data.inputs))
    weights = read_shares(table, data, counts)
    problem = least_squares(
        replace(data, ridge=table.number("ridge", 0), free=is_intercept_free(table, data)),
        read_start(table, data.inputs[0].shape[1]),
        **read_batches(table),
        weights=merge_weights(weights, counts, table.arithmetic),
        description=f"least squares on {name}",
    )
    return ProblemInTypes(problem, counts, weights)


def is_intercept_free(table: TomlTable, data: ClientData) -> bool:
    """Return whether the ridge leaves the intercept out; raise `InputError` if the last column is no intercept."""
    if table.flag("penalize_intercept", True):
        return False
    if not all((inputs[:, -1] == 1).all() for inputs in data.inputs):
        raise InputError(
            table.path("penalize_intercept"),
            "expected an intercept, a last column of ones, to leave out of the ridge: set intercept = true",
        )
    return True


def read_shares(table: TomlTable, data: ClientData, counts: Counts = ()) -> Array | None:
    """Return the client weights, (M,): as given, or proportional to numbers of rows; None if all are equal.

    With `counts`, the weight of a type is the sum of its clients' weights.
    """
    given = table.optional_array("weights", 1)
    if not table.has("shares"):
        return given
    if given is not None:
        raise InputError(table.path("shares"), "expected either shares or weights, got both")
    equal = table.choice("shares", ("equal", "samples")) == "equal"
    if equal:
        return None
    rows = weigh_by_rows(data, table.arithmetic)
    if not counts:
        return rows
    together = rows * table.arithmetic.array(counts)
    shares: Array = together / together.sum()
    return shares


def read_batches(table: TomlTable) -> dict[str, Any]:
    """Return size and sampling of the mini-batches; empty without `batch`."""
    if table.has("batch"):
        return {"batch": table.integer("batch"), "replacement": table.flag("replacement", True)}
    if table.has("replacement"):
        raise InputError(table.path("replacement"), "expected only together with batch")
    return {}


def _read_inline_data(table: TomlTable) -> tuple[ClientData, str]:
    """Read data listed in the run file: for each client a list of inputs and a list of outputs."""
    clients = {name: table.take(name) for name in ("inputs", "outputs")}
    for name, given in clients.items():
        if not isinstance(given, list) or not given or len(given) != len(clients["inputs"]):
            raise InputError(table.path(name), "expected a list with an entry for each client")
    inputs = tuple(table.rectangular(rows, f"inputs[{n}]", 2) for n, rows in enumerate(clients["inputs"]))
    outputs = tuple(table.rectangular(rows, f"outputs[{n}]", 1) for n, rows in enumerate(clients["outputs"]))
    for n, (rows, values) in enumerate(zip(inputs, outputs, strict=True)):
        if rows.shape[1] != inputs[0].shape[1]:
            raise InputError(table.path(f"inputs[{n}]"), f"expected {inputs[0].shape[1]} columns, got {rows.shape[1]}")
        if len(values) != len(rows):
            raise InputError(table.path(f"outputs[{n}]"), f"expected {len(rows)} numbers, got {len(values)}")
    return ClientData(inputs, outputs), "given rows"


def _load_data_set(table: TomlTable, folder: Path, *, has_classes: bool = False) -> DataSet:
    """Return a data set by its name, or from a user's file."""
    name, choice = table.text("data"), replace(_read_columns(table), has_classes=has_classes)
    return load(str(folder / name) if name.endswith(FILES) else name, choice)


def _read_columns(table: TomlTable) -> ColumnChoice:
    """Return the columns that are named as target, client and features."""
    if table.has("client") and (split := [key for key in _SPLIT if table.has(key)]):
        raise InputError(
            table.path(split[0]), "expected either client, a column with the client of each row, or a split"
        )
    features, dropped = (_read_names(table, key) for key in ("features", "drop"))
    target, client = (table.text(key) if table.has(key) else None for key in ("target", "client"))
    return ColumnChoice(target, client, features, dropped=dropped or ())


def _read_names(table: TomlTable, key: str) -> tuple[str, ...] | None:
    """Return a list of column names; None without the key."""
    names = table.take(key, None)
    if names is None:
        return None
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise InputError(table.path(key), f"expected a list of column names, got {names!r}")
    return tuple(names)


def split_data(data: DataSet, rows: list[Array], arithmetic: Arithmetic) -> ClientData:
    """Return the rows of each client, in an arithmetic; raise `InputError` if they are too many for rationals."""
    if arithmetic.is_rigorous:
        require_few_numbers(len(data.features), data.features.shape[1] + int(data.intercept))
    return ClientData(
        tuple(arithmetic.array(data.inputs_of(part)) for part in rows),
        tuple(arithmetic.array(data.outputs[part]) for part in rows),
        names=_list_client_names(data, rows),
        notes=data.notes,
    )


def _list_client_names(data: DataSet, rows: list[Array]) -> tuple[str, ...]:
    """Return the label of each client in the file; none if rows are assigned by a split."""
    return data.clients.labels if data.clients is not None and rows is data.clients.rows else ()


_SPLIT = ("clients", "split", "concentration", "seed")
"""Keys that split the rows over clients, whether or not the file has a client column."""


def _list_client_rows(table: TomlTable, data: DataSet) -> list[Array]:
    """Return row numbers for each client: by the file's client column, or by a split."""
    given = [key for key in _SPLIT if table.has(key)]
    if data.clients is not None and not given:
        return data.clients.rows
    if data.clients is None and not table.has("clients"):
        raise InputError(
            table.path("clients"),
            f"is missing; expected a number of clients to split the rows of {data.name} over, such as clients = 10, or "
            "the column with the client of each row as client",
        )
    clients, seed = table.integer("clients"), table.integer("seed", 0, least=0)
    if table.choice("split", ("iid", "dirichlet"), "iid") == "iid":
        if "concentration" in given:
            raise InputError(table.path("concentration"), 'expected only together with split = "dirichlet"')
        return split_iid(len(data.outputs), clients, seed)
    concentration = float(table.number("concentration", "1/10"))
    return split_by_dirichlet(_make_labels(data), clients, concentration, seed)


def _make_labels(data: DataSet) -> Array:
    """Return class labels for the Dirichlet split; outputs of a regression are binned by their quartiles."""
    if data.two_classes:
        return data.outputs
    return np.digitize(data.outputs, np.quantile(data.outputs, [0.25, 0.5, 0.75]))
