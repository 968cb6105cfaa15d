"""A cache of values that several computations share."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar, cast

Value = TypeVar("Value")


class Memo:
    """Values by key, each of the type that its computation returns; two computations must not share a key.

    A memo of `most` values forgets all of them when another one is computed.
    """

    def __init__(self, most: int | None = None) -> None:
        self._most = most
        self._values: dict[Hashable, object] = {}

    def compute_once(self, key: Hashable, compute: Callable[[], Value]) -> Value:
        """Return the value of a key, computed at first use; nothing is stored if the computation raises an error."""
        if key not in self._values:
            value = compute()
            if len(self._values) == self._most:
                self._values.clear()
            self._values[key] = value
        return cast(Value, self._values[key])

    def store(self, key: Hashable, value: object) -> None:
        """Store a value that was computed together with others."""
        self._values[key] = value

    def __contains__(self, key: Hashable) -> bool:
        return key in self._values

    def values(self) -> Iterable[object]:
        """Return all values so far."""
        return self._values.values()
