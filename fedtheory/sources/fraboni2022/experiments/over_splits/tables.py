"""Write records of a dataclass to CSV files, numbers with six digits, and read them."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any, TypeVar, get_type_hints

RESULTS = Path(__file__).parent / "results"
"""Folder of the stored tables."""

Record = TypeVar("Record")


def write_table(records: Iterable[Any], file: Path) -> None:
    """Write records of one dataclass, one per line."""
    rows = [{name: _format(value) for name, value in asdict(record).items()} for record in records]
    with file.open("w", newline="") as target:
        writer = csv.DictWriter(target, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def read_table(kind: type[Record], file: Path) -> tuple[Record, ...]:
    """Read records of the dataclass `kind`."""
    types = get_type_hints(kind)
    readers = {each.name: _READERS.get(types[each.name], str) for each in fields(kind)}  # type: ignore[arg-type]
    with file.open(newline="") as source:
        rows = list(csv.DictReader(source))
    return tuple(kind(**{name: read(row[name]) for name, read in readers.items()}) for row in rows)


def _format(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


_READERS: dict[Any, Any] = {int: int, float: float, bool: lambda text: text == "True"}
