"""Rows and columns of a data file, from its header: nothing else of it is read."""

from __future__ import annotations

from pathlib import Path
from zipfile import ZipFile

from numpy.lib import format as npy

from fedtheory.federation.problem.delimited import SUFFIXES, Delimited
from fedtheory.federation.problem.parquet import SUFFIX, ParquetSource

_NO_FEATURES = 3
"""Columns of a table that may be no features: the target, the client, numbers of rows."""


def smallest_size(path: Path) -> tuple[int, int]:
    """Rows and features that a data file has at least; zeros where its header does not tell, or it is none.

    What is wrong with a file is said where it is read.
    """
    try:
        return _smallest_size(path)
    except Exception:
        # Broken files raise whatever the layers below come across.
        return 0, 0


def _smallest_size(path: Path) -> tuple[int, int]:
    if path.name.endswith(".npz"):
        rows, features = _shape_in(path)
        return rows, features
    if path.suffix == SUFFIX:
        source = ParquetSource(path)
        return source.rows, max(len(source.header.names) - _NO_FEATURES, 0)
    if path.name.endswith(SUFFIXES):
        return 0, max(len(Delimited(path).header.names) - _NO_FEATURES, 0)
    return 0, 0


def _shape_in(path: Path) -> tuple[int, ...]:
    """Return the shape of the array X of an npz file."""
    with ZipFile(path) as archive, archive.open("X.npy") as member:
        version = npy.read_magic(member)
        read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
        shape: tuple[int, ...] = read(member)[0]
        return shape
