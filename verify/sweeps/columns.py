"""Columns of a table of results, and the types of the swept keys."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from fedtheory.arithmetic import FLOAT, RATIONAL
from fedtheory.errors import InputError
from verify.sweeps.sweep_design import Design

if TYPE_CHECKING:
    import pyarrow as pa

EXACT = ("lhs_exact", "rhs_exact", "ratio_exact")
"""Columns that only sweeps in rationals have."""
_LARGEST = 2**63


def classify_keys(design: Design) -> dict[str, str]:
    """Return the kind of each swept key: "flag", "integer", "number" or "text" (words, and lists as JSON)."""
    examples: dict[str, Sequence[Any]] = {axis.key.text: axis.values for axis in design.axes}
    examples |= {drawn.key.text: drawn.examples for drawn in design.draws}
    return {key: _find_common({_classify_values(value) for value in values}) for key, values in examples.items()}


def _classify_values(value: object) -> str:
    if isinstance(value, bool):
        return "flag"
    if isinstance(value, int):
        return "integer" if abs(value) < _LARGEST else "text"
    try:
        FLOAT.number(value, "")
    except InputError:
        return "text"
    return "number"


def _find_common(found: set[str]) -> str:
    if len(found) == 1:
        return found.pop()
    return "number" if found <= {"integer", "number"} else "text"


def name_margin_column(error: str) -> str:
    """Return the column with half of the 95 % interval of a recorded error; it is empty where the error is exact."""
    return f"{error}.margin"


def schema(design: Design, arithmetic: str, errors: Sequence[str], metadata: Mapping[str, str]) -> pa.Schema:
    """Return the columns: row, swept keys, recorded errors, claim, verdict, reason, sides, ratio, seconds."""
    import pyarrow as pa

    exact = arithmetic == RATIONAL.name
    types = {
        "flag": pa.bool_(),
        "integer": pa.int64(),
        "number": pa.string() if exact else pa.float64(),
        "text": pa.string(),
    }
    columns = [("row", pa.int64()), *((key, types[kind]) for key, kind in classify_keys(design).items())]
    columns += [(column, pa.float64()) for name in errors for column in (name, name_margin_column(name))]
    columns += [(name, pa.string()) for name in ("claim", "verdict", "reason")]
    columns += [(name, pa.float64()) for name in ("lhs", "rhs", "ratio")]
    columns += [(name, pa.string()) for name in EXACT if exact]
    return pa.schema([*columns, ("seconds", pa.float64())], metadata=dict(metadata))


def encode_row(row: Mapping[str, Any], types: Mapping[str, str], arithmetic: str) -> dict[str, Any]:
    """Convert the values of the swept keys in a row to the types of their columns."""
    return {**row, **{key: _encode(row[key], kind, arithmetic) for key, kind in types.items()}}


def _encode(value: object, kind: str, arithmetic: str) -> Any:
    if kind == "number":
        exact = arithmetic == RATIONAL.name
        return RATIONAL.text(RATIONAL.number(value, "")) if exact else FLOAT.number(value, "")
    if kind == "text":
        return value if isinstance(value, str) else json.dumps(value, default=str)
    return value
