"""Searches over step sizes in another process, while this one plans the claims.

A search runs one step size after the other, and what the claims say does not depend on it: it is asked for early and
waited for at the end.  Where runs are short, or there is one process, it is made when it is waited for.
"""

from __future__ import annotations

import os
import pickle
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import cache, lru_cache
from multiprocessing import get_context
from typing import TypeVar

from fedtheory.language.quantities import Quantity
from fedtheory.planner.coverage import ERRORS
from fedtheory.planner.exact import ExactErrors, ExactOptimum
from fedtheory.planner.rounds_needed import Outcome, operations, planned_and_best

Found = TypeVar("Found")
Outcomes = tuple[str, Outcome, Outcome]
"""The name of an error, and how far the run gets as planned and at its best step size."""
_BY_NAME = {error.name: error for error in ERRORS}

_LONG = 2e9
"""Operations of a run from which on another process is worth its start."""


class Ahead:
    """Searches for one run."""

    def __init__(self, errors: ExactErrors, pool: Executor | None) -> None:
        self._errors, self._pool = errors, pool
        self._run = b"" if pool is None else pickle.dumps(errors.run)

    def outcomes(self, error: str, accuracy: float | None) -> Callable[[], Outcomes | None]:
        """Begin the search for what to run; what is returned waits for it."""
        return self._begun(_outcomes, error, accuracy)

    @cache  # noqa: B019 - as long as the plan takes
    def best(self, error: Quantity) -> Callable[[], ExactOptimum | None]:
        """The same for the best step size of an error."""
        return self._begun(_best, error.name)

    @cache  # noqa: B019 - as long as the plan takes
    def error(self, error: Quantity, step_size: float) -> Callable[[], float]:
        """The same for an error at a step size."""
        return self._begun(_error, error.name, step_size)

    def _begun(self, search: Callable[..., Found], *asked: object) -> Callable[[], Found]:
        def here() -> Found:
            return search(self._errors, *asked)

        if self._pool is None:
            return cache(here)
        try:
            elsewhere = self._pool.submit(_there, search, self._run, *asked)
        except BrokenProcessPool:
            return cache(here)

        def waited() -> Found:
            try:
                return elsewhere.result()
            except BrokenProcessPool:
                # The other process was ended from outside.
                return here()

        return cache(waited)


@contextmanager
def ahead(errors: ExactErrors, jobs: int) -> Iterator[Ahead]:
    """Searches for a run, on another process if there may be one (`jobs`, -1 for all cores) and it saves time."""
    if jobs == 1 or (os.cpu_count() or 1) == 1 or operations(errors.run, errors.run.algorithm.rounds) < _LONG:
        yield Ahead(errors, None)
        return
    pool = ProcessPoolExecutor(1, get_context("spawn"), signal.signal, (signal.SIGINT, signal.SIG_IGN))
    try:
        yield Ahead(errors, pool)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _there(search: Callable[..., Found], run: bytes, *asked: object) -> Found:
    return search(_errors(run), *asked)


@lru_cache(maxsize=1)
def _errors(run: bytes) -> ExactErrors:
    """All searches of a run share its errors."""
    return ExactErrors(pickle.loads(run))


def _outcomes(errors: ExactErrors, error: str, accuracy: float | None) -> Outcomes | None:
    found = planned_and_best(errors, error, accuracy)
    return None if found is None else (found[0].name, *found[1:])


def _best(errors: ExactErrors, error: str) -> ExactOptimum | None:
    return errors.best(_BY_NAME[error])


def _error(errors: ExactErrors, error: str, step_size: float) -> float:
    return errors.error(_BY_NAME[error], step_size)
