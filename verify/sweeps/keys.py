"""Dotted keys of a run file, such as ``algorithm.local_steps`` or ``problem.linear[0][1]``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from fedtheory.errors import InputError

_KEY = re.compile(r"(problem|algorithm)(\.\w+|\[\d+\])+")
_STEP = re.compile(r"\[(\d+)\]|(\w+)")


@dataclass(frozen=True)
class Key:
    """A position in the tables of a run file."""

    text: str
    steps: tuple[str | int, ...]
    """Names of tables and keys, and indices of list entries."""

    def put(self, tables: dict[str, Any], value: object) -> None:
        """Set the key in place; missing tables are created, list entries must exist."""
        inner: Any = tables
        for step, following in zip(self.steps, (*self.steps[1:], None), strict=True):
            if not _has_room(inner, step):
                raise InputError(self.text, "expected a key or list entry that the run file has")
            if following is None:
                inner[step] = value
            elif isinstance(inner, dict):
                inner = inner.setdefault(step, {})
            else:
                inner = inner[step]

    def overlaps(self, other: Key) -> bool:
        """Return whether one of the two keys is the other, or a part of it."""
        return all(mine == theirs for mine, theirs in zip(self.steps, other.steps, strict=False))


def _has_room(inner: object, step: str | int) -> bool:
    if isinstance(step, int):
        return isinstance(inner, list) and step < len(inner)
    return isinstance(inner, dict)


def parse_key(text: str, place: str) -> Key:
    """Parse a key; `place` names it in errors."""
    if not _KEY.fullmatch(text):
        raise InputError(place, f"expected a key of a run file such as algorithm.local_steps, got {text!r}")
    return Key(text, tuple(int(number) if number else name for number, name in _STEP.findall(text)))
