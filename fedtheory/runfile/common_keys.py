"""Reads keys of a `[problem]` table that all kinds of problems have."""

from __future__ import annotations

from fedtheory.arithmetic import Array
from fedtheory.errors import InputError
from fedtheory.runfile.table import TomlTable


def read_noise(table: TomlTable, clients: int) -> Array:
    """Return the noise of each client's gradients, (M,), from one number or a list."""
    given = table.take("noise", 0)
    if isinstance(given, list):
        return table.rectangular(given, "noise", 1)
    return table.arithmetic.array([table.arithmetic.number(given, table.path("noise"))] * clients)


def read_start(table: TomlTable, dimension: int) -> Array:
    """Return x^0, (d,); zeros by default."""
    given = table.take("start", "zeros")
    if given == "zeros":
        return table.arithmetic.zeros(dimension)
    start = table.rectangular(given, "start", 1)
    if len(start) != dimension:
        raise InputError(table.path("start"), f"expected {dimension} numbers, got {len(start)}")
    return start
