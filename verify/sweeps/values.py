"""Values of a swept key: a list, evenly spaced numbers, or a distribution."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from fedtheory.errors import InputError
from fedtheory.runfile.table import TomlTable, read_whole_number
from verify.sweeps.keys import Key

_LONGEST = 1_000_000
"""Largest number of values of one key."""


@dataclass(frozen=True)
class Axis:
    """A key and its values on the grid."""

    key: Key
    values: tuple[Any, ...]


@dataclass(frozen=True)
class Law:
    """A distribution of one value."""

    draw: Callable[[np.random.Generator], Any]
    """Function that samples one value, in the format of a run file."""
    examples: Sequence[Any]
    """Values that show which types occur."""
    words: str
    """The distribution in words."""


@dataclass(frozen=True)
class Draws:
    """A key and the distribution of its values, or of the entries of a list of a given shape."""

    key: Key
    law: Law
    shape: tuple[int, ...] = ()

    def value(self, seed: int, number: int) -> Any:
        """Return the draw of a given index; it depends only on the seed, the index and the key."""
        own = int.from_bytes(hashlib.sha256(self.key.text.encode()).digest()[:8])
        return _nest(self.law, np.random.default_rng([seed, number, own]), self.shape)

    @property
    def examples(self) -> Sequence[Any]:
        """Return values that show which types occur."""
        return [[]] if self.shape else self.law.examples


def _nest(law: Law, generator: np.random.Generator, shape: tuple[int, ...]) -> Any:
    if not shape:
        return law.draw(generator)
    return [_nest(law, generator, shape[1:]) for _ in range(shape[0])]


def read_axis(key: Key, given: object, table: TomlTable) -> Axis:
    """Read a key of ``[grid]``: a list, or a range ``{from, to, step}`` or ``{from, to, count, spacing}``."""
    place = table.path(key.text)
    if isinstance(given, list) and given:
        return Axis(key, tuple(given))
    if not isinstance(given, dict):
        raise InputError(place, f"expected a list of values, or a range {{from = 0, to = 9}}, got {given!r}")
    spaced = TomlTable(given, place, table.arithmetic)
    values = tuple(_space_values(spaced) if spaced.has("count") else _read_count(spaced))
    spaced.finish()
    return Axis(key, values)


def _read_count(table: TomlTable) -> Iterator[int]:
    first, last = (read_whole_number(table.take(name), table.path(name), 0) for name in ("from", "to"))
    step = table.integer("step", 1)
    if not 0 <= last - first < step * _LONGEST:
        raise InputError(table.path("to"), f"expected {first} or more, and at most {_LONGEST} values, got {last}")
    return iter(range(first, last + 1, step))


def _space_values(table: TomlTable) -> Iterator[float]:
    count = read_whole_number(table.take("count"), table.path("count"), 2)
    logarithmic = table.choice("spacing", ("linear", "log"), "linear") == "log"
    low, high = _read_limits(table, ("from", "to"), logarithmic)
    if count > _LONGEST:
        raise InputError(table.path("count"), f"expected at most {_LONGEST} values, got {count}")
    return (_interpolate(low, high, n / (count - 1), logarithmic) for n in range(count))


def _interpolate(low: float, high: float, share: float, logarithmic: bool) -> float:
    """Interpolate between two numbers and round to six digits, without leaving their interval."""
    value = low * (high / low) ** share if logarithmic else low + (high - low) * share
    return min(max(float(f"{value:.6g}"), low), high)


def read_draws(key: Key, given: object, table: TomlTable) -> Draws:
    """Read a key of ``[random]``: ``{law, low, high}`` or ``{law = "choice", values}``, with ``shape``."""
    inner = TomlTable(given, table.path(key.text), table.arithmetic)
    law = _LAWS[inner.choice("law", tuple(_LAWS))](inner)
    shape = inner.take("shape", [])
    if not isinstance(shape, list):
        raise InputError(inner.path("shape"), f"expected a list of whole numbers, got {shape!r}")
    sizes = tuple(read_whole_number(size, f"{inner.path('shape')}[{n}]", 1) for n, size in enumerate(shape))
    inner.finish()
    return Draws(key, law, sizes)


def _read_uniform(table: TomlTable, logarithmic: bool) -> Law:
    """Read the law of uniform or log-uniform numbers, rounded so that a run file stays short."""
    low, high = _read_limits(table, ("low", "high"), logarithmic)
    words = f"{'log-uniform' if logarithmic else 'uniform'} from {low:.6g} to {high:.6g}"
    return Law(partial(_draw_number, low, high, logarithmic), (low, high), words)


def _draw_number(low: float, high: float, logarithmic: bool, generator: np.random.Generator) -> float:
    return _interpolate(low, high, generator.random(), logarithmic)


def _read_limits(table: TomlTable, names: tuple[str, str], logarithmic: bool) -> tuple[float, float]:
    low, high = (float(table.number(name)) for name in names)
    if logarithmic and low <= 0:
        raise InputError(table.path(names[0]), f"expected a positive number on a log scale, got {low:g}")
    if not (low < high and math.isfinite(high - low)):
        raise InputError(table.path(names[1]), f"expected more than {low:g}, got {high:g}")
    return low, high


def _read_integers(table: TomlTable) -> Law:
    low, high = (read_whole_number(table.take(name), table.path(name), 0) for name in ("low", "high"))
    if not low <= high < 2**63:
        raise InputError(table.path("high"), f"expected {low} or more, got {high}")
    return Law(partial(_draw_integer, low, high), (low, high), f"whole numbers from {low} to {high}")


def _draw_integer(low: int, high: int, generator: np.random.Generator) -> int:
    return int(generator.integers(low, high, endpoint=True))


def _read_choice(table: TomlTable) -> Law:
    values = table.take("values")
    if not isinstance(values, list) or not values:
        raise InputError(table.path("values"), f"expected a list of values, got {values!r}")
    return Law(partial(_choose, values), values, f"one of {', '.join(map(str, values))}")


def _choose(values: Sequence[Any], generator: np.random.Generator) -> Any:
    return values[int(generator.integers(len(values)))]


_LAWS: dict[str, Callable[[TomlTable], Law]] = {
    "uniform": lambda table: _read_uniform(table, logarithmic=False),
    "log-uniform": lambda table: _read_uniform(table, logarithmic=True),
    "integers": _read_integers,
    "choice": _read_choice,
}
