"""Convert rows to Arrow tables and read such tables from files, without importing pandas.

Arrow's conversion of Python values imports pandas, which takes as long as some hundred runs. A sweep knows the types of
its columns, so it passes buffers to Arrow instead.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pyarrow as pa


def build_table(rows: Sequence[Mapping[str, Any]], schema: pa.Schema) -> pa.Table:
    """Return a table with a row for each mapping; missing keys become null."""
    import pyarrow as pa

    columns = [_build_array([row.get(field.name) for row in rows], field.type) for field in schema]
    return pa.Table.from_arrays(columns, schema=schema)


def read_table(file: Path) -> pa.Table:
    """Read the table of a Parquet file."""
    import pyarrow.parquet as pq

    return pq.ParquetFile(file).read()


def is_whole(file: Path) -> bool:
    """Return whether a Parquet file exists and the checksums of all its pages are correct."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        pq.ParquetFile(file, page_checksum_verification=True).read()
    except (pa.ArrowException, OSError):
        return False
    return True


def _build_array(values: Sequence[Any], kind: pa.DataType) -> pa.Array:
    """Convert booleans, 64-bit integers, floats or texts to an array; None becomes null."""
    import pyarrow as pa

    known = _pack_bits([value is not None for value in values])
    if kind == pa.string():
        texts = [b"" if value is None else value.encode() for value in values]
        ends = np.array([0, *accumulate(map(len, texts))], np.int32)
        return pa.Array.from_buffers(kind, len(values), [known, pa.py_buffer(ends), pa.py_buffer(b"".join(texts))])
    if kind == pa.bool_():
        return pa.Array.from_buffers(kind, len(values), [known, _pack_bits([bool(value) for value in values])])
    numbers = [0 if value is None else value for value in values]
    held = np.array(numbers, np.int64 if kind == pa.int64() else np.float64)
    return pa.Array.from_buffers(kind, len(values), [known, pa.py_buffer(held)])


def _pack_bits(flags: Sequence[bool]) -> pa.Buffer:
    import pyarrow as pa

    return pa.py_buffer(np.packbits(np.array(flags, bool), bitorder="little"))
