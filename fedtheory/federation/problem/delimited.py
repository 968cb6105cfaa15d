"""Text with a line of names and a line for each row (csv, tsv), optionally compressed by gzip."""

from __future__ import annotations

import csv
import gzip
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import IO, Protocol

from fedtheory.errors import InputError
from fedtheory.federation.problem.cells import has_decimal_comma, is_missing, read_cell
from fedtheory.federation.problem.column_chunks import Chunk
from fedtheory.federation.problem.columns import KEY, Header

SUFFIXES = (".csv", ".tsv", ".csv.gz", ".tsv.gz")
_DELIMITERS = ",;\t"
_MOST_SHOWN = 3
CHUNK = 256
"""Number of rows that are stored as text at a time, small enough for the processor's cache."""


class _Reader(Protocol):
    """Dialect of the csv module."""

    line_num: int

    def __iter__(self) -> Iterator[list[str]]: ...


@dataclass(frozen=True)
class Delimited:
    """A file of text with commas, semicolons or tabs between the cells."""

    path: Path

    @cached_property
    def header(self) -> Header:
        """The names in the first line; raises `InputError` if most of them are numbers."""
        with self._open_reader() as reader:
            names = tuple(cell.strip() for cell in next((row for row in reader if row), []))
        self._require_names(names)
        return Header(str(self.path), names)

    @cached_property
    def decimal(self) -> str:
        """The decimal sign: a comma in a file with semicolons and a number with a decimal comma."""
        if self._delimiter != ";":
            return "."
        with self._open_reader() as reader:
            return "," if any(has_decimal_comma(cell) for row in reader for cell in row) else "."

    def chunks(self, names: Sequence[str]) -> Iterator[Chunk]:
        """Yield the rows of the given columns, a few thousand at a time."""
        places = [self.header.names.index(name) for name in names]
        with self._open_reader() as reader:
            numbered = ((reader.line_num, row) for row in reader if row)
            next(numbered, None)
            lines: list[int] = []
            rows: list[list[str]] = []
            for line, row in numbered:
                lines.append(line)
                rows.append(row)
                if len(rows) == CHUNK:
                    yield self._build_chunk(lines, rows, places)
                    lines, rows = [], []
            yield self._build_chunk(lines, rows, places)

    def _build_chunk(self, lines: Sequence[int], rows: Sequence[list[str]], places: Sequence[int]) -> Chunk:
        """Return the columns of some rows, after a check of their numbers of cells."""
        width = len(self.header.names)
        if set(map(len, rows)) - {width}:
            line, row = next((line, row) for line, row in zip(lines, rows, strict=True) if len(row) != width)
            raise self._report(f"row {line}: expected {width} cells, as in the header, got {len(row)}")
        columns = list(zip(*rows, strict=True)) if rows else [()] * width
        return Chunk(lines, [columns[place] for place in places])

    def _require_names(self, names: tuple[str, ...]) -> None:
        """Raise `InputError` if most names are numbers, unless these are consecutive, as pandas writes them."""
        numbers = [name for name in names if read_cell(name) is not None]
        filled = [name for name in names if not is_missing(name)]
        if not numbers or 2 * len(numbers) <= len(filled) or (len(numbers) < len(filled) and _are_consecutive(numbers)):
            return
        shown = ", ".join(numbers[:_MOST_SHOWN]) + ", ..." * (len(numbers) > _MOST_SHOWN)
        what = "numbers" if len(numbers) == len(filled) else f"mostly numbers ({shown})"
        way_out = "put a line with the names of the columns in front"
        raise self._report(f"expected a header line with names, got {what} in the first line: {way_out}")

    @cached_property
    def _delimiter(self) -> str:
        """Guess the delimiter of the first line: the sign that gives the most cells; a comma if there are several."""
        if ".tsv" in self.path.suffixes:
            return "\t"
        with self._open_text() as file:
            line = next((line for line in file if line.strip()), "")
            return max(_DELIMITERS, key=lambda sign: len(next(csv.reader([line], delimiter=sign), [])))

    @contextmanager
    def _open_reader(self) -> Iterator[_Reader]:
        delimiter = self._delimiter
        with self._open_text() as file:
            yield csv.reader(file, delimiter=delimiter)

    @contextmanager
    def _open_text(self) -> Iterator[IO[str]]:
        """Open the file, decompressed if its name ends in .gz, as text; raise `InputError` if it is not readable."""
        try:
            opener = gzip.open if self.path.suffix == ".gz" else open
            with opener(self.path, "rt", encoding="utf-8-sig", newline="") as file:
                yield file
        except UnicodeDecodeError:
            row = self._find_strange_row()
            raise self._report(
                f"row {row} is not text in UTF-8; save it in this encoding: pandas.read_csv(FILE, encoding='latin-1') "
                "reads most others, and .to_csv(FILE, index=False) writes UTF-8"
            ) from None
        except InputError:
            raise
        except (OSError, EOFError, ValueError, csv.Error, zlib.error) as error:
            raise InputError(KEY, f"{self.path} is not a readable csv file ({error})") from None

    def _find_strange_row(self) -> int:
        """Return the number of the first line that is not UTF-8; the header is line one."""
        opener = gzip.open if self.path.suffix == ".gz" else open
        with opener(self.path, "rb") as file:
            return next(number for number, line in enumerate(file, 1) if not _is_utf8(line))

    def _report(self, message: str) -> InputError:
        return InputError(KEY, f"{self.path}: {message}")


def _is_utf8(line: bytes) -> bool:
    """Return whether bytes are text in UTF-8."""
    try:
        line.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _are_consecutive(names: Sequence[str]) -> bool:
    """Return whether names are consecutive whole numbers, as pandas calls columns without names."""
    return all(name.isdecimal() for name in names) and all(int(b) == int(a) + 1 for a, b in pairwise(names))
