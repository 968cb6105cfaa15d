"""A clock of work: how long a search has had, on a machine that does other things as well.

It goes with the processor's time of this process, and at least a third as fast as the clock on the wall.  A busy
machine then finds what an idle one finds, in up to three times the time; nobody waits longer than that.
"""

from __future__ import annotations

from time import perf_counter, process_time

_SLOWEST = 1 / 3


class _Work:
    """The work of this process, from one reading to the next."""

    def __init__(self) -> None:
        self._busy, self._wall, self._total = process_time(), perf_counter(), 0.0

    def read(self) -> float:
        """Seconds of work since the first reading."""
        busy, wall = process_time(), perf_counter()
        self._total += max(busy - self._busy, _SLOWEST * (wall - self._wall))
        self._busy, self._wall = busy, wall
        return self._total


worked = _Work().read
"""Seconds of work since some moment: only differences mean something."""
