"""Tables with named columns (csv, Parquet): which column is the target, the client, a feature, and its numbers."""

from __future__ import annotations

import csv
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import TextIO

import numpy as np

from fedtheory.arithmetic import Array
from fedtheory.errors import InputError, MissingExtra

KEY = "problem.data"
SUFFIXES = (".csv", ".parquet")
_MISSING = frozenset({"", "na", "n/a", "nan", "none", "null", "?"})
"""Cells that stand for nothing, in small letters."""


@dataclass(frozen=True)
class Choice:
    """The columns that a user names; None where the file's order or names decide."""

    target: str | None = None
    client: str | None = None
    features: tuple[str, ...] | None = None

    @property
    def is_made(self) -> bool:
        """Whether anything is named."""
        return self != Choice()


@dataclass(frozen=True)
class Roles:
    """What each column of a file is for."""

    target: str
    client: str | None
    """None where the file does not say whose a row is."""
    features: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class NamedColumns:
    """The cells of a file, column by column."""

    file: str
    cells: Mapping[str, Sequence[object]]
    rows: Sequence[int]
    """The number of each row as an editor shows it."""
    decimal: str = "."
    """The sign between the whole part of a number and the rest: a comma in some files with semicolons."""

    def roles(self, choice: Choice) -> Roles:
        """What each column is for.

        Where neither target nor client is named, the last two columns are these.  Else columns named ``y`` and
        ``client`` are what is not named, and all others are features.
        """
        target, client = self._target_and_client(choice)
        if target == client:
            raise InputError("problem.client", f"expected another column than the target, got {client!r} for both")
        return Roles(target, client, self._features(choice.features, target, client))

    def _target_and_client(self, choice: Choice) -> tuple[str, str | None]:
        if choice.target is None and choice.client is None:
            return self._last_two()
        return self._known("target", choice.target, "y"), self._client(choice.client)

    def _last_two(self) -> tuple[str, str]:
        names = list(self.cells)
        if len(names) < 3:
            raise self._error(f"expected at least three columns (inputs, y, client), got {len(names)}")
        if {"y", "client"} <= set(names) and names[-2:] != ["y", "client"]:
            raise self._error("expected y and client as the last two columns, in this order, or target and client")
        return names[-2], names[-1]

    def _known(self, key: str, name: str | None, default: str) -> str:
        """A column that the file has; `InputError` names those it has."""
        wanted = default if name is None else name
        if wanted in self.cells:
            return wanted
        if name is None:
            raise InputError(f"problem.{key}", f"is missing; expected one of {self._listed()}")
        near = get_close_matches(wanted, self.cells, n=1)
        hint = f"is {near[0]!r} meant?" if near else f"it has {self._listed()}"
        raise InputError(f"problem.{key}", f"{self.file} has no column {wanted!r}; {hint}")

    def _listed(self) -> str:
        names = list(self.cells)
        return ", ".join(names[:_MOST_NAMES]) + (f" and {len(names) - _MOST_NAMES} more" * (len(names) > _MOST_NAMES))

    def _client(self, name: str | None) -> str | None:
        return None if name is None and "client" not in self.cells else self._known("client", name, "client")

    def _features(self, named: tuple[str, ...] | None, target: str, client: str | None) -> tuple[str, ...]:
        others = tuple(name for name in self.cells if name not in (target, client))
        chosen = others if named is None else tuple(self._known("features", name, "") for name in named)
        if not chosen:
            raise InputError("problem.features", f"{self.file}: expected at least one column beside target and client")
        for name, count in Counter(chosen).items():
            if count > 1 or name not in others:
                used = "twice" if count > 1 else "as target or client, too"
                raise InputError("problem.features", f"expected each column once, got {name!r} {used}")
        return chosen

    def numbers(self, name: str) -> Array:
        """A column as finite numbers, (n,); `InputError` with row, column and what to do where one is none."""
        values = [self._number(cell) for cell in self.cells[name]]
        for n, value in enumerate(values):
            if value is None or not math.isfinite(value):
                raise self._error(f"row {self.rows[n]}, column {name!r}: {self._trouble(name, n, value)}")
        return np.array(values, dtype=float)

    def _trouble(self, name: str, n: int, value: float | None) -> str:
        """What is wrong with a cell, and what to do about it."""
        cell = self.cells[name][n]
        if is_missing(cell):
            return f"missing value ({str(cell)!r}): fill it in, leave out the row, or leave out the column by features"
        if value is not None:
            return f"expected a finite number, got {_quoted(cell)}: correct it, or leave out the row"
        if self.decimal == "," and _number(cell) is not None:
            return f"expected decimal commas, as in other rows, got {_quoted(cell)}: use one decimal sign in the file"
        if all(self._number(other) is None for other in self.cells[name]):
            return (
                f"expected a number, got {_quoted(cell)}, as in all rows: leave the column out by features, "
                "name it as client, or write it as numbers"
            )
        return f"expected a number, got {_quoted(cell)}: correct it, leave out the row, or leave out the column"

    def labels(self, name: str) -> Array:
        """A column as labels, (n,): as numbers where all are, so that 2 comes before 10."""
        cells = self.cells[name]
        for n, cell in enumerate(cells):
            if is_missing(cell):
                missing = f"missing client ({str(cell)!r}): fill it in, or leave out the row"
                raise self._error(f"row {self.rows[n]}, column {name!r}: {missing}")
        numbers = [self._number(cell) for cell in cells]
        if all(number is not None and math.isfinite(number) for number in numbers):
            return np.array(numbers, dtype=float)
        return np.array([str(cell).strip() for cell in cells])

    def _number(self, cell: object) -> float | None:
        """The number of a cell in the decimal sign of the file; None where it is no number."""
        if self.decimal == ".":
            return _number(cell)
        return None if "." in str(cell) else _number(str(cell).replace(self.decimal, "."))

    def _error(self, message: str) -> InputError:
        return InputError(KEY, f"{self.file}: {message}")


_MOST_NAMES = 12


def read_columns(path: Path) -> NamedColumns:
    """The columns of a csv or Parquet file; `InputError` where it is not one."""
    return _read_parquet(path) if path.suffix == ".parquet" else _read_csv(path)


def _read_csv(path: Path) -> NamedColumns:
    """Rows below a line of names, with commas, semicolons or tabs between the cells."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            delimiter = _delimiter(file)
            reader = csv.reader(file, delimiter=delimiter)
            numbered = [(reader.line_num, row) for row in reader if row]
    except UnicodeDecodeError:
        raise InputError(KEY, f"{path} is not a readable csv file: expected UTF-8; save it in this encoding") from None
    except (OSError, ValueError, csv.Error) as error:
        raise InputError(KEY, f"{path} is not a readable csv file ({error})") from None
    header, *rows = [row for _, row in numbered] or [[]]
    names = [cell.strip() for cell in header]
    if names and all(_number(name) is not None for name in names):
        raise InputError(KEY, f"{path}: expected a header line with names, got numbers in the first line")
    _require_distinct(path, names)
    for (line, _), row in zip(numbered[1:], rows, strict=True):
        if len(row) != len(names):
            raise InputError(KEY, f"{path}: row {line}: expected {len(names)} cells, as in the header, got {len(row)}")
    columns = zip(*rows, strict=True) if rows else [()] * len(names)
    lines = [line for line, _ in numbered[1:]]
    decimal = "," if delimiter == ";" and any(_WITH_COMMA.match(cell) for row in rows for cell in row) else "."
    return NamedColumns(str(path), dict(zip(names, columns, strict=True)), lines, decimal)


_DELIMITERS = ",;\t"
_WITH_COMMA = re.compile(r"\s*[+-]?\d*,\d+([eE][+-]?\d+)?\s*$")
"""A number with a decimal comma; where commas separate cells there is none."""


def _delimiter(file: TextIO) -> str:
    """What separates the names in the first line: the sign that makes the most cells, a comma if several do."""
    line = next((line for line in file if line.strip()), "")
    file.seek(0)
    return max(_DELIMITERS, key=lambda sign: len(next(csv.reader([line], delimiter=sign), [])))


def _read_parquet(path: Path) -> NamedColumns:
    try:
        from pyarrow import parquet
    except ImportError:
        raise MissingExtra("data", "a Parquet file") from None
    try:
        table = parquet.read_table(path)
        columns = [column.to_pylist() for column in table.columns]
    except Exception as error:
        # Broken files raise whatever the layers below come across.
        raise InputError(KEY, f"{path} is not a readable Parquet file ({str(error)[:200]})") from None
    _require_distinct(path, table.column_names)
    return NamedColumns(str(path), dict(zip(table.column_names, columns, strict=True)), range(1, table.num_rows + 1))


def _require_distinct(path: Path, names: Sequence[str]) -> None:
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise InputError(KEY, f"{path}: expected a name of its own for each column, got {twice[0]!r} twice")


def is_missing(cell: object) -> bool:
    """Whether a cell stands for nothing."""
    return cell is None or str(cell).strip().lower() in _MISSING


def _number(cell: object) -> float | None:
    """The number of a cell, which may be infinite; None where it is no number."""
    if is_missing(cell):
        return None
    try:
        return float(cell)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return None


def _quoted(cell: object) -> str:
    text = repr(cell)
    return text if len(text) <= 40 else f"{text[:37]}..."
