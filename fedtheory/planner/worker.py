"""Shares the computations of a plan between the main process and one worker process.

Tasks without dependencies are submitted early.  When a result is needed, the main process computes it,
unless the worker has begun to.  If runs are short, or one process is allowed, everything is computed on demand.
"""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock
from typing import Any, TypeVar

from fedtheory.engine.run import Run
from fedtheory.language.quantities import RunQuantity
from fedtheory.planner.exact_optimum import ExactErrors, ExactOptimum
from fedtheory.planner.pickling import pack, unpack
from fedtheory.planner.run_costs import count_operations
from fedtheory.workers import workers

Found = TypeVar("Found")

_LONG = 2e9
"""Number of operations of a run above which a worker process is worth its start."""
_LARGE = 2**23
"""Size of a problem above which a worker process is not used, because it needs a copy in memory."""


@dataclass(eq=False)
class _Task:
    """A function of the exact errors of the run and of further arguments."""

    function: Callable[..., Any]
    arguments: tuple[object, ...]
    future: Future[bytes] | None = None
    """The future of the worker's result, after submission."""


class PlanWorker:
    """Tasks for one run."""

    def __init__(self, errors: ExactErrors, run_file: str | None = None) -> None:
        """Use the worker process if `run_file`, a copy of the run for it, is given."""
        self._errors, self._run_file = errors, run_file
        self._waiting: list[tuple[_Task, bytes]] = []
        self._is_busy, self._lock = False, Lock()

    @cache  # noqa: B019 - the object lives as long as the plan
    def best(self, error: RunQuantity) -> Callable[[], ExactOptimum | None]:
        """Begin the search for the best step size of an error; the returned function waits for the result."""
        return self.start(ExactErrors.best, error)

    @cache  # noqa: B019 - the object lives as long as the plan
    def error(self, error: RunQuantity, step_size: float) -> Callable[[], float]:
        """Begin to compute an error at a step size; the returned function waits for the result."""
        return self.start(ExactErrors.error, error, step_size)

    def start(self, function: Callable[..., Found], *arguments: object) -> Callable[[], Found]:
        """Begin a function of the exact errors of the run and of further arguments.

        The returned function waits for the result.
        """
        work = _Task(function, arguments)
        # A claim that the worker cannot load by its id is left to this process.
        with suppress(pickle.PicklingError):
            if self._run_file is not None:
                self._waiting.append((work, pack((function, arguments))))
        if not self._is_busy:
            self._submit_newest()
        return cache(partial(self._finish, work))

    def stop(self) -> None:
        """Cancel the tasks that the worker has not begun."""
        with self._lock:
            self._waiting.clear()

    def _submit_newest(self, _done: object = None) -> None:
        """Submit the most recent task to the worker, because this process needs the first one first."""
        with self._lock:
            work, content = self._waiting.pop() if self._waiting else (None, b"")
            if work is not None:
                # The worker may have been killed from outside.
                with suppress(BrokenProcessPool):
                    work.future = workers(1).submit(_compute_packed, self._run_file, content)
            self._is_busy = work is not None and work.future is not None
        if work is not None and work.future is not None:
            work.future.add_done_callback(self._submit_newest)

    def _finish(self, work: _Task) -> Any:
        """Return the result of a task; compute it here if no worker process has started it."""
        with self._lock:
            self._waiting = [other for other in self._waiting if other[0] is not work]
        if work.future is not None:
            with suppress(BrokenProcessPool):
                return unpack(work.future.result())
        return work.function(self._errors, *work.arguments)


@contextmanager
def start_worker(errors: ExactErrors, jobs: int) -> Iterator[PlanWorker]:
    """Share the tasks for a run with a worker, if `jobs` allows one (-1 for all cores) and it saves time."""
    if jobs == 1 or (os.cpu_count() or 1) == 1 or not _is_worth_a_worker(errors.run):
        yield PlanWorker(errors)
        return
    with TemporaryDirectory() as folder:
        run_file = Path(folder, "run.pickle")
        # All tasks use one run, which may be large: the worker reads it once from a file.
        run_file.write_bytes(pickle.dumps(errors.run))
        work = PlanWorker(errors, str(run_file))
        try:
            yield work
        finally:
            work.stop()


def _is_worth_a_worker(run: Run) -> bool:
    """Return whether a run is long enough, and its problem small enough, for a worker process."""
    problem = run.problem
    rows = 0 if problem.data is None else sum(inputs.size for inputs in problem.data.inputs)
    numbers = rows + problem.clients * problem.dimension**2
    return numbers < _LARGE and count_operations(run, run.algorithm.rounds) >= _LONG


def _compute_packed(run_file: str, given: bytes) -> bytes:
    """Compute the packed result of a packed task in a worker process."""
    function, arguments = unpack(given)
    return pack(function(_read_errors(run_file), *arguments))


@lru_cache(maxsize=1)
def _read_errors(run_file: str) -> ExactErrors:
    """Read the run of a file, cached, so that all tasks share its errors."""
    return ExactErrors(pickle.loads(Path(run_file).read_bytes()))
