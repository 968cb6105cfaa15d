"""Design of a sweep: the grid times the random draws; each point is the base run with some keys set."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from fedtheory.arithmetic import FLOAT
from fedtheory.errors import InputError
from fedtheory.runfile.table import TomlTable
from verify.sweeps.keys import Key, parse_key
from verify.sweeps.values import Axis, Draws, read_axis, read_draws


@dataclass(frozen=True)
class Design:
    """The runs of a sweep, by index."""

    base: Mapping[str, Any]
    """The tables of the run file."""
    axes: tuple[Axis, ...]
    draws: tuple[Draws, ...]
    count: int
    """Number of draws at each point of the grid; all points use the same draws."""
    seed: int

    @property
    def runs(self) -> int:
        """Return the number of runs."""
        return math.prod(len(axis.values) for axis in self.axes) * self.count

    @property
    def keys(self) -> tuple[Key, ...]:
        """Return the swept keys."""
        return (*(axis.key for axis in self.axes), *(drawn.key for drawn in self.draws))

    def values(self, row: int) -> dict[str, Any]:
        """Return the swept keys of run `row`, 0 .. runs - 1; draws vary fastest, then the last key of the grid."""
        point, draw = divmod(row, self.count)
        chosen: dict[str, Any] = {}
        for axis in reversed(self.axes):
            point, place = divmod(point, len(axis.values))
            chosen[axis.key.text] = axis.values[place]
        on_grid = {axis.key.text: chosen[axis.key.text] for axis in self.axes}
        return on_grid | {drawn.key.text: drawn.value(self.seed, draw) for drawn in self.draws}

    def tables(self, row: int) -> dict[str, Any]:
        """Return the run file of run `row` as nested dictionaries; raises `InputError` where a key does not exist."""
        return self.tables_with(self.values(row))

    def tables_with(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return the run file for values of the swept keys, as nested dictionaries."""
        tables = deepcopy(dict(self.base))
        for key in self.keys:
            key.put(tables, deepcopy(values[key.text]))
        return tables

    def list_probes(self) -> Iterator[int]:
        """Yield indices of runs that together have each value of the grid, and some of the draws."""
        yield from range(min(self.count, _FEW))
        weight = self.count
        for axis in reversed(self.axes):
            yield from (place * weight for place in range(1, min(len(axis.values), _MANY)))
            weight *= len(axis.values)
        yield from range(0, self.runs, max(1, self.runs // _MANY))


_FEW, _MANY = 8, 256


def read_design(base: Mapping[str, Any], grid: Any, random: Any) -> Design:
    """Read the tables ``[grid]`` and ``[random]`` of a sweep; raises `InputError` with the name of a wrong key."""
    points, laws = TomlTable(grid, "grid", FLOAT), TomlTable(random, "random", FLOAT)
    axes = tuple(read_axis(key, given, points) for key, given in _list_keys(grid, "grid"))
    count, seed = laws.integer("count", 1), laws.integer("seed", 0, least=0)
    drawn = {name: given for name, given in random.items() if name not in ("count", "seed")}
    draws = tuple(read_draws(key, given, laws) for key, given in _list_keys(drawn, "random"))
    if count > 1 and not draws:
        raise InputError("random.count", "expected further keys in [random], with laws of their values")
    design = Design(base, axes, draws, count, seed)
    _refuse_overlaps(design.keys)
    return design


def _list_keys(given: Mapping[str, Any], place: str) -> Iterator[tuple[Key, Any]]:
    """Yield the keys of a table with their ranges; dotted keys may be quoted, or tables within tables."""
    for text, value in _flatten("", given):
        yield parse_key(text, place), value


def _flatten(prefix: str, table: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, value in table.items():
        if isinstance(value, dict) and not value.keys() & {"from", "to", "law"}:
            yield from _flatten(f"{prefix}{name}.", value)
        else:
            yield f"{prefix}{name}", value


def _refuse_overlaps(keys: tuple[Key, ...]) -> None:
    for n, key in enumerate(keys):
        for other in keys[:n]:
            if key.overlaps(other):
                raise InputError(key.text, f"overlaps with {other.text}; expected keys that do not overlap")
