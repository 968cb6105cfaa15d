"""Reads rows of data from arrays, data frames, tensors and the results of scikit-learn's loaders."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fedtheory.errors import InputError
from fedtheory.federation.problem.cells import Cells
from fedtheory.federation.problem.column_chunks import Chunk
from fedtheory.federation.problem.columns import KEY, ColumnChoice, Header
from fedtheory.federation.problem.datasets import DataSet, read_data_set

_OUTPUTS, _CLIENT = "outputs", "client"


@dataclass(frozen=True)
class Columns:
    """Columns by position, with names, and a label for each row."""

    header: Header
    columns: Sequence[Any]
    rows: Sequence[object]
    decimal: str = "."

    def chunks(self, names: Sequence[str]) -> Iterator[Chunk]:
        """Yield all rows at once, as one chunk in memory."""
        places = [self.header.names.index(name) for name in names]
        yield Chunk(self.rows, [_convert_cells(self.columns[place]) for place in places])


def describe_rows(
    inputs: Any, outputs: Any, client: Any, features: Sequence[str] | None, *, has_classes: bool = False
) -> DataSet:
    """Describe the rows that a function received; with classes, outputs are labels, which may be text.

    Raises `InputError`, with row and column, for a value that is no number.
    """
    if outputs is None and hasattr(inputs, "data") and hasattr(inputs, "target"):
        inputs, outputs = inputs.data, inputs.target
    if outputs is None:
        raise InputError(_OUTPUTS, "expected numbers, or the name of a column")
    names, columns, rows = _split_columns(inputs)
    roles = {}
    for key, given in ((_OUTPUTS, outputs), (_CLIENT, client)):
        if isinstance(given, str):
            _require_column(names, given, key, is_frame=is_frame(inputs))
            roles[key] = given
        elif given is not None:
            roles[key] = _find_unused_name(key, names)
            names, columns = [*names, roles[key]], [*columns, _require_one_per_row(given, len(rows), key)]
    chosen = None if features is None else tuple(map(str, features))
    choice = ColumnChoice(roles[_OUTPUTS], roles.get(_CLIENT), chosen)
    if client is None:
        # A column that happens to be called client is a feature unless `client` names it.
        choice = ColumnChoice(roles[_OUTPUTS], None, chosen or tuple(name for name in names if name != roles[_OUTPUTS]))
    table = Columns(Header("inputs", tuple(names)), columns, rows)
    try:
        return read_data_set(table, replace(choice, has_classes=has_classes), "given rows")
    except InputError as error:
        raise InputError("" if error.key == KEY else error.key.removeprefix("problem."), error.message) from None


def is_frame(inputs: Any) -> bool:
    """Return whether the columns have names."""
    return hasattr(inputs, "columns")


def _split_columns(inputs: Any) -> tuple[list[str], list[Any], Sequence[object]]:
    """Return names, columns and labels of the rows."""
    if is_frame(inputs):
        names = [str(name) for name in inputs.columns]
        Header("inputs", tuple(names)).require_distinct()
        columns = [inputs[name] for name in inputs.columns]
        return names, columns, getattr(inputs, "index", range(len(inputs)))
    table = _convert_to_array(inputs, "inputs")
    if table.ndim != 2:
        raise InputError("inputs", f"expected rows and columns, got {table.ndim} dimensions")
    return [f"x{n}" for n in range(table.shape[1])], list(table.T), range(len(table))


def _convert_to_array(values: Any, key: str) -> Any:
    """Return the values as a NumPy array; tensors of PyTorch are copied to the CPU first."""
    if hasattr(values, "detach"):
        values = values.detach().cpu()
    try:
        return np.asarray(values)
    except (TypeError, ValueError) as error:
        raise InputError(key, f"expected numbers: {error}") from None


def _require_one_per_row(given: Any, rows: int, key: str) -> Any:
    """Return an array with one value for each row; raise `InputError` for any other number of values."""
    values = _convert_to_array(given, key)
    if values.shape != (rows,):
        one = "client" if key == _CLIENT else "number"
        raise InputError(key, f"expected one {one} for each of {rows} rows, got {values.shape}")
    return given if hasattr(given, "to_numpy") else values


def _require_column(names: Sequence[str], name: str, key: str, *, is_frame: bool) -> None:
    """Raise `InputError` unless the inputs are a data frame with a column of this name."""
    if not is_frame:
        raise InputError(key, f"the column {name!r} needs inputs that are a data frame")
    if name not in names:
        raise InputError(key, f"expected one of the columns {', '.join(names)}, got {name!r}")


def _find_unused_name(name: str, names: Sequence[str]) -> str:
    """Return the name, with "given " in front until it differs from all names."""
    while name in names:
        name = f"given {name}"
    return name


def _convert_cells(column: Any) -> Cells:
    """Return numbers as an array, anything else as Python objects."""
    values = column.to_numpy() if hasattr(column, "to_numpy") else np.asarray(column)
    return values if values.dtype.kind in "biuf" else list(values.tolist())
