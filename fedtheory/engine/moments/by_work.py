"""Caches values that depend on an update only through its work: the reporting clients, each with its staleness."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from fedtheory.federation.clock import Update

Found = TypeVar("Found")
_MOST = 512
"""Limit on the number of cached values; schedules with rational times repeat fewer."""


class ByWork(Generic[Found]):
    """Values of updates, computed once for all updates with equal work."""

    def __init__(self, find: Callable[[Update], Found]) -> None:
        self._find = find
        self._known: dict[tuple[tuple[int, int], ...], Found] = {}

    def __getitem__(self, update: Update) -> Found:
        work = update.work
        if work not in self._known:
            if len(self._known) >= _MOST:
                self._known.clear()
            self._known[work] = self._find(update)
        return self._known[work]
