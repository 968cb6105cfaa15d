"""Rows of data from whatever holds them, and whose they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from fedtheory.arithmetic import Array
from fedtheory.errors import InputError
from fedtheory.federation.problem.split import dirichlet_split, iid_split


@dataclass(frozen=True, eq=False)
class Rows:
    """Data whose rows belong together."""

    inputs: Array
    """(n, d)."""
    outputs: Array
    """(n,)."""
    client: Array | None
    """(n,): whose each row is; None where that is not said."""


def rows_of(inputs: Any, outputs: Any, client: Any) -> Rows:
    """Rows of arrays, data frames, tensors, or what scikit-learn's loaders return; `InputError` where they differ."""
    if outputs is None and hasattr(inputs, "data") and hasattr(inputs, "target"):
        inputs, outputs = inputs.data, inputs.target
    if outputs is None:
        raise InputError("outputs", "expected numbers, or the name of a column")
    columns = [name for name in (outputs, client) if isinstance(name, str)]
    outputs, client = _column(inputs, outputs, "outputs"), _column(inputs, client, "client")
    table = _numbers(inputs.drop(columns=columns) if columns else inputs, "inputs")
    found = Rows(table, _numbers(outputs, "outputs"), None if client is None else np.asarray(client))
    _require_shapes(found)
    return found


def _column(frame: Any, given: Any, key: str) -> Any:
    """What is given, or the column of the data frame that it names."""
    if not isinstance(given, str):
        return given
    if not hasattr(frame, "columns"):
        raise InputError(key, f"the column {given!r} needs inputs that are a data frame")
    if given not in frame.columns:
        raise InputError(key, f"expected one of the columns {', '.join(map(str, frame.columns))}, got {given!r}")
    return frame[given]


def _numbers(values: Any, key: str) -> Array:
    if hasattr(values, "detach"):
        values = values.detach().cpu()
    try:
        found: Array = np.asarray(values, dtype=float)
    except (TypeError, ValueError) as error:
        raise InputError(key, f"expected numbers: {error}") from None
    if not np.isfinite(found).all():
        raise InputError(key, "expected finite numbers, got a missing or infinite value")
    return found


def _require_shapes(rows: Rows) -> None:
    if rows.inputs.ndim != 2:
        raise InputError("inputs", f"expected rows and columns, got {rows.inputs.ndim} dimensions")
    expected = (len(rows.inputs),)
    if rows.outputs.shape != expected:
        raise InputError("outputs", f"expected one number for each of {expected[0]} rows, got {rows.outputs.shape}")
    if rows.client is not None and rows.client.shape != expected:
        raise InputError("client", f"expected one client for each of {expected[0]} rows, got {rows.client.shape}")


def rows_of_clients(rows: Rows, clients: int | None, split: str, concentration: float, seed: int) -> list[Array]:
    """Row numbers for each client, as the data says or by a split."""
    if rows.client is not None:
        if clients is not None:
            raise InputError("clients", "expected either client or clients, got both")
        return [np.flatnonzero(rows.client == one) for one in np.unique(rows.client)]
    if clients is None:
        raise InputError("client", "expected whose each row is, or a number of clients")
    if split == "iid":
        return iid_split(len(rows.outputs), clients, seed)
    if split == "dirichlet":
        return dirichlet_split(_labels(rows.outputs), clients, concentration, seed)
    raise InputError("split", f"expected iid or dirichlet, got {split!r}")


def _labels(outputs: Array) -> Array:
    """Classes for the Dirichlet split: two outputs as they are, others cut at their quartiles."""
    if len(np.unique(outputs)) == 2:
        return outputs
    return np.digitize(outputs, np.quantile(outputs, [0.25, 0.5, 0.75]))
