"""Reads a table of a run file key by key: an error names the key and what was expected."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any

from fedtheory.arithmetic import Arithmetic, Array, Number
from fedtheory.errors import InputError
from fedtheory.runfile.synonyms import describe_key, find_key

_MISSING = object()


class TomlTable:
    """A TOML table whose keys are read one by one; `finish` raises an error for unknown keys."""

    def __init__(self, content: object, key: str, arithmetic: Arithmetic) -> None:
        if not isinstance(content, dict):
            raise InputError(key, f"expected a table, got {content!r}")
        self._left: dict[str, Any] = dict(content)
        self._known: list[str] = []
        self.key = key
        self.arithmetic = arithmetic

    def path(self, name: str) -> str:
        """Return the dotted name of a key."""
        return f"{self.key}.{name}" if self.key else name

    def has(self, name: str) -> bool:
        """Return whether the key is given; the key becomes a known one, which error messages list."""
        self._known.append(name)
        return name in self._left

    def take(self, name: str, default: object = _MISSING) -> Any:
        """Return the raw value; raise `InputError` if it is missing and has no default."""
        if not self.has(name):
            if default is _MISSING:
                raise InputError(self.path(name), "is missing" + self._suggest_key(name))
            return default
        return self._left.pop(name)

    def _suggest_key(self, name: str) -> str:
        """Return a hint to the key that was probably meant."""
        strange = self._left.keys() - set(self._known)
        others = [other for other in self._left if other in strange and find_key(other, (name,)) is not None]
        if others:
            return f"; {describe_key(others[0], name)}"
        near = get_close_matches(name, strange, n=1)
        return f"; is {near[0]!r} a typing error for it?" if near else ""

    def peek(self, name: str) -> Any:
        """Return the raw value without marking it as read; None if the key is missing."""
        return self._left.get(name)

    def table(self, name: str, default: object = _MISSING) -> TomlTable:
        """Return a table inside this one."""
        return TomlTable(self.take(name, default), self.path(name), self.arithmetic)

    def text(self, name: str, default: object = _MISSING) -> str:
        """Return a string."""
        value = self.take(name, default)
        if not isinstance(value, str):
            raise InputError(self.path(name), f"expected a string, got {value!r}")
        return value

    def choice(self, name: str, options: Sequence[str], default: object = _MISSING) -> str:
        """Return one of the given strings."""
        value = self.take(name, default)
        if value not in options:
            raise InputError(self.path(name), f"expected one of {', '.join(options)}, got {value!r}")
        return str(value)

    def flag(self, name: str, default: bool) -> bool:
        """Return true or false."""
        value = self.take(name, default)
        if not isinstance(value, bool):
            raise InputError(self.path(name), f"expected true or false, got {value!r}")
        return value

    def integer(self, name: str, default: object = _MISSING, least: int = 1) -> int:
        """Return a whole number."""
        return read_whole_number(self.take(name, default), self.path(name), least)

    def number(self, name: str, default: object = _MISSING) -> Number:
        """Return a number of the table's arithmetic."""
        return self.arithmetic.number(self.take(name, default), self.path(name))

    def array(self, name: str, depth: int) -> Array:
        """Return a rectangular array of numbers from lists nested `depth` deep; raise `InputError` for ragged lists."""
        return self.rectangular(self.take(name), name, depth)

    def optional_array(self, name: str, depth: int) -> Array | None:
        """Return an array as `array` does; None if the key is missing."""
        return self.array(name, depth) if self.has(name) else None

    def rectangular(self, value: object, name: str, depth: int) -> Array:
        """Return the given nested lists as an array."""
        return self.arithmetic.array(_nest(value, self.path(name), depth, self.arithmetic, {})[0])

    def finish(self) -> None:
        """Raise `InputError` if unknown keys are left."""
        if self._left:
            unknown = sorted(self._left)[0]
            key = find_key(unknown, self._known)
            if key is not None:
                raise InputError(self.path(unknown), f"unknown key; {describe_key(unknown, key)}")
            raise InputError(self.path(unknown), f"unknown key; expected one of {', '.join(sorted(set(self._known)))}")


def read_whole_number(value: object, key: str, least: int) -> int:
    """Return the value if it is a whole number of at least `least`; raise `InputError` otherwise."""
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise InputError(key, f"expected a whole number of at least {least}, got {value!r}")
    return value


_Nested = tuple[list[Any], tuple[int, ...]]
_Known = dict[tuple[int, int], _Nested]


def _nest(value: object, key: str, depth: int, arithmetic: Arithmetic, known: _Known) -> _Nested:
    """Return the numbers of nested lists, and their shape; `known` caches lists that have been read."""
    # Generated tables often repeat one list for many clients.
    place = id(value), depth
    if place not in known:
        known[place] = _read_nested(value, key, depth, arithmetic, known)
    return known[place]


def _read_nested(value: object, key: str, depth: int, arithmetic: Arithmetic, known: _Known) -> _Nested:
    if not isinstance(value, list):
        raise InputError(key, f"expected a list of {'numbers' if depth == 1 else 'lists'}, got {value!r}")
    if not value:
        raise InputError(key, "expected at least one entry, got an empty list")
    if depth == 1:
        return [arithmetic.number(entry, f"{key}[{n}]") for n, entry in enumerate(value)], (len(value),)
    parts = [_nest(part, f"{key}[{n}]", depth - 1, arithmetic, known) for n, part in enumerate(value)]
    for n, (_, shape) in enumerate(parts):
        if shape != parts[0][1]:
            expected, got = ("x".join(map(str, each)) for each in (parts[0][1], shape))
            raise InputError(f"{key}[{n}]", f"expected the shape of {key}[0], {expected}, got {got}")
    return [part for part, _ in parts], (len(value), *parts[0][1])
