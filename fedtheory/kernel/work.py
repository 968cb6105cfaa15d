"""Counts work, and ends a check that takes too much, on every machine at the same point.

A unit is about a tenth of a microsecond.  Cached results count as if they were computed again, so that the work of a
check does not depend on earlier checks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache, wraps
from typing import ParamSpec, TypeVar

_P = ParamSpec("_P")
_T = TypeVar("_T")
NODE = 150
"""Units of work to create or visit one node of an expression in SymPy's notation."""


class Exhausted(Exception):
    """A check exceeds its budget of work."""


@dataclass
class Meter:
    """Counter of work, with its limit; None for no limit."""

    most: int | None = None
    spent: int = 0


_METER: ContextVar[Meter] = ContextVar("meter", default=Meter())  # noqa: B039 - one shared counter for unlimited work


def spend(units: int) -> None:
    """Count work; raise `Exhausted` if it exceeds the budget."""
    meter = _METER.get()
    meter.spent += int(units)
    if meter.most is not None and meter.spent > meter.most:
        raise Exhausted(f"expected a certificate that takes at most {meter.most} units of work to check")


@contextmanager
def limit_work(most: int | None) -> Iterator[Meter]:
    """Count the work of a block separately, and raise `Exhausted` if it exceeds the budget."""
    meter = Meter(most)
    token = _METER.set(meter)
    try:
        yield meter
    finally:
        _METER.reset(token)


def cache_with_work(size: int) -> Callable[[Callable[_P, _T]], Callable[_P, _T]]:
    """Cache the results of a function, and count its work at each use."""

    def keep(function: Callable[_P, _T]) -> Callable[_P, _T]:
        @lru_cache(maxsize=size)
        def compute_with_work(*arguments: _P.args, **named: _P.kwargs) -> tuple[_T, int]:
            """Compute a value, and count the work that it takes."""
            before = _METER.get().spent
            found = function(*arguments, **named)
            return found, _METER.get().spent - before

        @wraps(function)
        def compute(*arguments: _P.args, **named: _P.kwargs) -> _T:
            """Return the value; its work counts also if the value is cached."""
            before = _METER.get().spent
            found, work = compute_with_work(*arguments, **named)  # type: ignore[arg-type]
            spend(work - (_METER.get().spent - before))
            return found

        return compute

    return keep
