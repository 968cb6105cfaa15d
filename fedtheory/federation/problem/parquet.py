"""Reads Parquet files, in batches of rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from fedtheory.errors import InputError, MissingExtra
from fedtheory.federation.problem.cells import Cells
from fedtheory.federation.problem.column_chunks import Chunk
from fedtheory.federation.problem.columns import KEY, Header

if TYPE_CHECKING:
    import pyarrow as pa
    from pyarrow.parquet import ParquetFile

SUFFIX = ".parquet"
CHUNK = 65536
"""Number of rows of a batch."""


@dataclass(frozen=True)
class ParquetSource:
    """A Parquet file; rows count from one."""

    path: Path
    decimal: str = "."

    @cached_property
    def header(self) -> Header:
        """The names of the columns."""
        with self._open_file() as file:
            return Header(str(self.path), tuple(file.schema_arrow.names))

    @property
    def rows(self) -> int:
        """Number of rows, from the file's footer."""
        with self._open_file() as file:
            return int(file.metadata.num_rows)

    def chunks(self, names: Sequence[str]) -> Iterator[Chunk]:
        """Yield the rows of the given columns."""
        first = 1
        with self._open_file() as file:
            for batch in file.iter_batches(batch_size=CHUNK, columns=list(dict.fromkeys(names))):
                columns = [_convert_cells(batch.column(batch.schema.get_field_index(name))) for name in names]
                yield Chunk(range(first, first + batch.num_rows), columns)
                first += batch.num_rows

    @contextmanager
    def _open_file(self) -> Iterator[ParquetFile]:
        """Open the Parquet file; raise `InputError` if it is not readable."""
        try:
            from pyarrow.parquet import ParquetFile
        except ImportError:
            raise MissingExtra("data", "a Parquet file") from None
        try:
            with ParquetFile(self.path) as file:
                yield file
        except InputError:
            raise
        except Exception as error:
            # Broken files raise various errors of the libraries below.
            raise InputError(KEY, f"{self.path} is not a readable Parquet file ({str(error)[:200]})") from None


def _convert_cells(column: pa.Array) -> Cells:
    """Return numbers as an array; other columns, and those with missing values, as Python objects."""
    import pyarrow as pa

    is_number = pa.types.is_floating(column.type) or pa.types.is_integer(column.type)
    if column.null_count or not is_number:
        values: list[object] = column.to_pylist()
        return values
    return np.asarray(column.to_numpy(zero_copy_only=False))
