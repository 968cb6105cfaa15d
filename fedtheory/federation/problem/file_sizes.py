"""Reads the numbers of rows and columns of a data file from its header only."""

from __future__ import annotations

from pathlib import Path
from zipfile import ZipFile

from numpy.lib import format as npy

from fedtheory.federation.problem.delimited import SUFFIXES, Delimited
from fedtheory.federation.problem.parquet import SUFFIX, ParquetSource

_NO_FEATURES = 3
"""Number of columns that may not be features: the target, the client, row numbers."""


def bound_file_size(path: Path) -> tuple[int, int]:
    """Return lower bounds of the rows and features of a data file; zeros if its header does not determine them.

    Errors in the file are ignored here; they are reported when it is read.
    """
    try:
        if path.name.endswith(".npz"):
            rows, features = _read_shape(path)
            return rows, features
        if path.suffix == SUFFIX:
            source = ParquetSource(path)
            return source.rows, max(len(source.header.names) - _NO_FEATURES, 0)
        if path.name.endswith(SUFFIXES):
            return 0, max(len(Delimited(path).header.names) - _NO_FEATURES, 0)
    except Exception:
        # Broken files raise various errors of the libraries below.
        pass
    return 0, 0


def _read_shape(path: Path) -> tuple[int, ...]:
    """Return the shape of the array X of an npz file."""
    with ZipFile(path) as archive, archive.open("X.npy") as member:
        version = npy.read_magic(member)
        read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
        shape: tuple[int, ...] = read(member)[0]
        return shape
