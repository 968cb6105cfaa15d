"""Converts cells of a table to numbers and labels; columns grow chunk by chunk, and record invalid cells."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from fedtheory.arithmetic import Array
from fedtheory.federation.problem.clients import Clients, label_of

_MISSING = frozenset({"", "na", "n/a", "nan", "nat", "none", "null", "<na>", "?"})
"""Cells that denote missing values, in lower case."""
_BOOLEANS = {"true": 1.0, "false": 0.0}
_WITH_COMMA = re.compile(r"\s*[+-]?\d*,\d+([eE][+-]?\d+)?\s*$")
"""A number with a decimal comma, in files whose separator is not a comma."""

_MOST_WORDS, _CLASSES = 1000, 2
"""Number of different cells of a target that are no classes any more, and number of classes of a model."""

Cells = Sequence[object] | Array
"""Part of a column: texts or values, or an array of numbers in which NaN denotes a missing value."""


def is_missing(cell: object) -> bool:
    """Return whether a cell denotes a missing value."""
    return cell is None or str(cell).strip().lower() in _MISSING


def has_decimal_comma(cell: str) -> bool:
    """Return whether a cell is a number with a decimal comma."""
    return _WITH_COMMA.match(cell) is not None


def read_cell(cell: object, decimal: str = ".") -> float | None:
    """Return the number of a cell, which may be infinite.

    True and false are one and zero.  Returns None for a cell that is no number.
    """
    if is_missing(cell):
        return None
    if decimal != ".":
        cell = None if "." in str(cell) else str(cell).replace(decimal, ".")
    try:
        return float(cell)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return _BOOLEANS.get(str(cell).strip().lower())


def _describe_cell(row: object, column: str, reason: str, count: int) -> str:
    """Return a message on the first invalid cell of a column, with the number of its invalid cells."""
    more = f" ({count} such cells in this column)" if count > 1 else ""
    return f"row {row}, column {column!r}: {reason}{more}"


@dataclass
class NumberColumn:
    """A column of numbers."""

    name: str
    decimal: str = "."
    """The decimal sign."""
    has_numbers: bool = False
    bad: int = 0
    """Number of cells that are no finite numbers."""
    first_bad: tuple[object, object] | None = None
    """The row and the content of the first cell that is not a number."""

    def numbers(self, cells: Cells, rows: Sequence[object]) -> Array:
        """Return a part of the column as numbers, (n,); other cells are counted as invalid, and are NaN."""
        values = self._convert_plain_numbers(cells)
        if values is None:
            numbers = [read_cell(cell, self.decimal) for cell in cells]
            values = np.array([math.nan if number is None else number for number in numbers])
        self.has_numbers = self.has_numbers or not np.isnan(values).all()
        self._record(~np.isfinite(values), cells, rows)
        return values

    def _record(self, invalid: Array, cells: Cells, rows: Sequence[object]) -> None:
        """Count the invalid cells (n,) of a part of the column, and keep the first."""
        if invalid.any():
            self.bad += int(invalid.sum())
            place = int(invalid.argmax())
            cell = cells[place]
            self.first_bad = self.first_bad or (rows[place], cell.item() if isinstance(cell, np.generic) else cell)

    def _convert_plain_numbers(self, cells: Cells) -> Array | None:
        """Return the numbers if all cells are numbers in a plain form, or missing ones in an array; else None."""
        if isinstance(cells, np.ndarray) and cells.dtype.kind in "biuf":
            return cells.astype(float, copy=False)
        if self.decimal != ".":
            return None
        try:
            return np.fromiter(map(float, cells), float, len(cells))
        except (TypeError, ValueError, OverflowError):
            return None

    @property
    def trouble(self) -> str | None:
        """Return a message on the first invalid cell, with advice; None if there is none."""
        if self.first_bad is None:
            return None
        row, cell = self.first_bad
        return _describe_cell(row, self.name, self._explain_rejection(cell), self.bad)

    def _explain_rejection(self, cell: object) -> str:
        if is_missing(cell):
            return f"missing value ({str(cell)!r}): fill it in, leave out the row, or leave out the column by drop"
        if read_cell(cell, self.decimal) is not None:
            return f"expected a finite number, got {_quote(cell)}: correct it, or leave out the row"
        if self.decimal == "," and read_cell(cell) is not None:
            return f"expected decimal commas, as in other rows, got {_quote(cell)}: use one decimal sign in the file"
        if not self.has_numbers:
            return (
                f"expected a number, got {_quote(cell)}, as in all rows: leave the column out by drop, "
                f"name it as client, or write {_advise_on_text(str(cell))}"
            )
        return f"expected a number, got {_quote(cell)}: correct it, leave out the row, or leave out the column by drop"


def _advise_on_text(cell: str) -> str:
    """Return how to write a column of such cells as numbers."""
    if _DATE.match(cell):
        return "its dates as numbers, such as days since the first one"
    if _SEPARATED.fullmatch(cell):
        return "its numbers without separators of thousands"
    if _UNIT.fullmatch(cell):
        return "its numbers without signs of currency or percent"
    return "its words as columns of 0 and 1, one for each word but one (pandas.get_dummies does)"


_DATE = re.compile(r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{4}")
_SEPARATED = re.compile(r"[+-]?\d{1,3}(?:([,.' \u00a0\u202f])\d{3})+(?:[.,]\d+)?")
_UNIT = re.compile(r"[$\u20ac\u00a3\u00a5]\s*[+-]?[\d.,]+|[+-]?[\d.,]+\s*[%$\u20ac\u00a3\u00a5]")


@dataclass
class TargetColumn(NumberColumn):
    """The column of the numbers to predict."""

    _words: set[str] = field(default_factory=set)
    """The different cells that are no numbers, up to so many that they are no classes."""

    def numbers(self, cells: Cells, rows: Sequence[object]) -> Array:
        values = super().numbers(cells, rows)
        is_text = self.bad and not self.has_numbers and not isinstance(cells, np.ndarray)
        if is_text and len(self._words) < _MOST_WORDS:
            self._words |= {str(cell).strip() for cell in cells if not is_missing(cell)}
        return values

    def _explain_rejection(self, cell: object) -> str:
        if self.has_numbers or is_missing(cell):
            return super()._explain_rejection(cell)
        advice = "name another target, or write it as numbers"
        if len(self._words) == _CLASSES:
            advice = f'kind = "logistic" classifies {" and ".join(map(repr, sorted(self._words)))}; else {advice}'
        elif len(self._words) == 1:
            advice = f'kind = "logistic" takes two classes, here is one alone; {advice}'
        elif len(self._words) < _MOST_WORDS:
            advice = f'kind = "logistic" takes two classes, here are more: keep the rows of two; else {advice}'
        return f"expected a number, got {_quote(cell)}, as in all rows: {advice}"


@dataclass
class ClassColumn(NumberColumn):
    """A column of labels, numbers or text."""

    _known: dict[object, int] = field(default_factory=dict)
    """The index of each distinct cell."""

    def numbers(self, cells: Cells, rows: Sequence[object]) -> Array:
        """Return a part of the column as indices of its distinct cells, (n,); missing ones are counted."""
        known = self._known
        texts = cells.tolist() if isinstance(cells, np.ndarray) else cells
        places = np.fromiter((known.setdefault(cell, len(known)) for cell in texts), float, len(texts))
        self._record(np.isin(places, [place for cell, place in known.items() if is_missing(cell)]), texts, rows)
        return places

    def labels(self, places: Array) -> tuple[Array, tuple[str, ...]]:
        """Return labels from indices of cells, (n,).

        They are numbers if all labels are numbers, else indices of the sorted names.
        """
        numbers = [read_cell(cell, self.decimal) for cell in self._known]
        if not any(number is None for number in numbers):
            return np.array(numbers, dtype=float)[places.astype(np.intp)], ()
        texts = [label_of(cell) for cell in self._known]
        names = sorted(set(texts))
        return np.array([float(names.index(text)) for text in texts])[places.astype(np.intp)], tuple(names)


@dataclass
class LabelColumn(ClassColumn):
    """A column with the client of each row."""

    _codes: list[Array] = field(default_factory=list)

    def add(self, cells: Cells, rows: Sequence[object]) -> None:
        """Add a part of the column."""
        self._codes.append(self.numbers(cells, rows).astype(np.int32))

    def _explain_rejection(self, cell: object) -> str:
        return f"missing client ({str(cell)!r}): fill it in, or leave out the row"

    @property
    def clients(self) -> Clients:
        """Return the clients, sorted; cells that differ by surrounding spaces are equal."""
        labels: dict[str, int] = {}
        places = np.array([labels.setdefault(label_of(cell), len(labels)) for cell in self._known], dtype=np.intp)
        codes = np.concatenate([np.empty(0, np.int32), *self._codes])
        return Clients.from_labels(labels, places[codes])


def _quote(cell: object) -> str:
    text = repr(cell)
    return text if len(text) <= 40 else f"{text[:37]}..."
