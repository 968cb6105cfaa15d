"""Work for a plan in another process, while this one makes the rest.

What does not depend on anything else is begun early and asked for at the end: the other process takes what was begun
last, this one makes what it asks for, unless the other has it, so that neither waits while there is work.  Where runs
are short, or there is one process, all of it is made when it is asked for.
"""

from __future__ import annotations

import os
import pickle
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from multiprocessing import get_context
from threading import Lock
from typing import Any, TypeVar

from fedtheory.language.quantities import Quantity
from fedtheory.planner.exact import ExactErrors, ExactOptimum
from fedtheory.planner.rounds_needed import operations
from fedtheory.planner.travel import packed, unpacked

Found = TypeVar("Found")

_LONG = 2e9
"""Operations of a run from which on another process is worth its start."""


@dataclass(eq=False)
class _Work:
    """Work that has been begun: a function of the exact errors of the run and of what is `asked`."""

    function: Callable[..., Any]
    asked: tuple[object, ...]
    elsewhere: Future[bytes] | None = None
    """What the other process makes of it, once it has taken it."""


class Ahead:
    """Work for one run."""

    def __init__(self, errors: ExactErrors, pool: Executor | None) -> None:
        self._errors, self._pool = errors, pool
        self._run = b"" if pool is None else pickle.dumps(errors.run)
        self._waiting: list[_Work] = []
        self._is_busy, self._lock = False, Lock()

    @cache  # noqa: B019 - as long as the plan takes
    def best(self, error: Quantity) -> Callable[[], ExactOptimum | None]:
        """Begin the search for the best step size of an error; what is returned is its end."""
        return self.begun(ExactErrors.best, error)

    @cache  # noqa: B019 - as long as the plan takes
    def error(self, error: Quantity, step_size: float) -> Callable[[], float]:
        """The same for an error at a step size."""
        return self.begun(ExactErrors.error, error, step_size)

    def begun(self, function: Callable[..., Found], *asked: object) -> Callable[[], Found]:
        """The same for a function of the exact errors of the run and of what is `asked`."""
        work = _Work(function, asked)
        with self._lock:
            self._waiting.append(work)
        if not self._is_busy:
            self._take()
        return cache(partial(self._end, work))

    def _take(self, _done: object = None) -> None:
        """Let the other process take what was begun last, and go on so when it has made it."""
        with self._lock:
            taken = None
            # What does not travel is left for this process.
            while self._waiting and self._pool is not None and taken is None:
                work = self._waiting.pop()
                taken = work.elsewhere = self._elsewhere(work)
            self._is_busy = taken is not None
        if taken is not None:
            taken.add_done_callback(self._take)

    def _elsewhere(self, work: _Work) -> Future[bytes] | None:
        assert self._pool is not None
        try:
            return self._pool.submit(_there, self._run, packed((work.function, work.asked)))
        except (RuntimeError, pickle.PicklingError):
            # The other process was ended from outside, or does not know the claim.
            return None

    def _end(self, work: _Work) -> Any:
        with self._lock:
            if work in self._waiting:
                self._waiting.remove(work)
        if work.elsewhere is not None:
            with suppress(BrokenProcessPool):
                return unpacked(work.elsewhere.result())
        return work.function(self._errors, *work.asked)


@contextmanager
def ahead(errors: ExactErrors, jobs: int) -> Iterator[Ahead]:
    """Work for a run, in another process if there may be one (`jobs`, -1 for all cores) and it saves time."""
    if jobs == 1 or (os.cpu_count() or 1) == 1 or operations(errors.run, errors.run.algorithm.rounds) < _LONG:
        yield Ahead(errors, None)
        return
    pool = ProcessPoolExecutor(1, get_context("spawn"), signal.signal, (signal.SIGINT, signal.SIG_IGN))
    try:
        yield Ahead(errors, pool)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _there(run: bytes, given: bytes) -> bytes:
    work, asked = unpacked(given)
    return packed(work(_errors(run), *asked))


@lru_cache(maxsize=1)
def _errors(run: bytes) -> ExactErrors:
    """All work for a run shares its errors."""
    return ExactErrors(pickle.loads(run))
