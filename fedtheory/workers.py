"""Runs independent tasks in this process and in worker processes, with concurrent.futures."""

from __future__ import annotations

import pickle
import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from functools import partial
from multiprocessing import active_children, get_context
from multiprocessing.process import BaseProcess
from queue import SimpleQueue
from threading import Thread
from time import sleep
from typing import Any, TypeVar
from weakref import ref

from fedtheory.process import collect_rarely

Result = TypeVar("Result")


class Workers:
    """A pool of worker processes, which start with the first tasks and are reused for later ones."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.is_open = True
        # Workers are spawned, because the threads of linear algebra libraries do not survive a fork.
        self._pool = ProcessPoolExecutor(count, get_context("spawn"), _prepare_worker)
        self._processes: set[BaseProcess] = set()
        self._unfinished: set[Future[Any]] = set()
        self._is_broken = False

    @property
    def is_busy(self) -> bool:
        """Whether the result of a submitted task is missing."""
        return bool(self._unfinished)

    @property
    def has_lost_one(self) -> bool:
        """Whether a worker was killed from outside; the pool takes no more tasks then."""
        # While another thread waits for a process to end, the process counts as alive for a moment.
        return self._is_broken or any(not process.is_alive() for process in self._processes)

    def submit(self, work: Callable[..., Result], *arguments: Any) -> Future[Result]:
        """Submit a task to a worker, and return its future.

        The arguments are pickled at once: the pool's own thread would pickle them while this process changes their
        cached values.  Raises `BrokenProcessPool` if a worker was killed.
        """
        return self.submit_packed(pickle.dumps((work, arguments)))

    def submit_packed(self, packed: bytes) -> Future[Any]:
        """Submit a task whose function and arguments are pickled already."""
        others = set(active_children()) - self._processes
        try:
            future: Future[Any] = self._pool.submit(_call, packed)
        except BrokenProcessPool:
            self._is_broken = True
            raise
        self._processes.update(set(active_children()) - others)
        self._unfinished.add(future)
        future.add_done_callback(self._end_task)
        return future

    def _end_task(self, future: Future[Any]) -> None:
        """Remove a finished task and note whether the pool is broken."""
        self._unfinished.discard(future)
        if not future.cancelled() and isinstance(future.exception(), BrokenProcessPool):
            self._is_broken = True

    def run(self, work: Callable[..., Result], tasks: Iterable[tuple[Any, ...]]) -> Iterator[tuple[int, Result]]:
        """Yield the number and the result of each task, in the order in which they finish.

        While no result is ready, this process runs the next task itself.  If the caller stops iterating early, the
        workers are stopped.
        """
        shared = _Tasks(self, [(number, work, task) for number, task in enumerate(tasks)])
        for _ in range(_AHEAD * self.count):
            shared.submit_task()
        return self._results(shared)

    def _results(self, tasks: _Tasks) -> Iterator[tuple[int, Any]]:
        try:
            while tasks.missing:
                task = tasks.take() if tasks.finished.empty() else None
                number, result = task() if task is not None else tasks.receive()
                tasks.missing -= 1
                yield number, result
        finally:
            if tasks.missing:
                self.stop()

    def stop(self) -> None:
        """End the workers at once; tasks that are running have no result."""
        if not self.is_open:
            return
        self.is_open = False
        if not self.is_busy:
            self._pool.shutdown()
            return
        with suppress(BrokenProcessPool):
            last = self._pool.submit(int)
            closing = Thread(target=self._pool.shutdown, kwargs={"cancel_futures": True})
            closing.start()
            # Wait for the pool to drop cancelled tasks: Python 3.11 fails on them when a worker is killed.
            while not (last.done() or last.running()):
                sleep(0.001)
            self._terminate()
            closing.join()
        self._terminate()

    def _terminate(self) -> None:
        for process in self._processes:
            with suppress(ValueError):  # The pool has closed the process already.
                process.terminate()


_AHEAD = 2
"""Tasks submitted per worker at a time, so that a worker need not wait for its next task."""


class _Tasks:
    """Tasks that are shared between this process and its workers."""

    def __init__(self, workers: Workers, tasks: list[tuple[int, Callable[..., Any], tuple[Any, ...]]]) -> None:
        self.missing = len(tasks)
        """Number of results that have not been received yet."""
        self.finished = SimpleQueue[tuple[int, Future[Any]]]()
        self._workers = workers
        self._waiting = deque((*task, pickle.dumps(task[1:])) for task in tasks)

    def take(self) -> Callable[[], tuple[int, Any]] | None:
        """Take the next task for this process; None if all have been taken."""
        with suppress(IndexError):
            number, work, arguments, _ = self._waiting.popleft()
            return lambda: (number, work(*arguments))
        return None

    def receive(self) -> tuple[int, Any]:
        """Wait for the next result of a worker; raise the error of its task, if it failed."""
        number, future = self.finished.get()
        return number, future.result()

    def submit_task(self) -> None:
        """Submit the next task to a worker, if one is left."""
        with suppress(IndexError):
            number, _, _, packed = self._waiting.popleft()
            # The callback holds a weak reference to the tasks, so that abandoned tasks are freed.
            self._workers.submit_packed(packed).add_done_callback(partial(_finish, ref(self), number))

    def finish(self, number: int, future: Future[Any]) -> None:
        """Store a result, and submit another task to the worker; the pool's own thread calls this."""
        if future.cancelled():
            return
        if future.exception() is None:
            try:
                self.submit_task()
            except RuntimeError as error:
                # The pool has just broken: store the error for the process that waits.
                future = Future()
                future.set_exception(error)
        self.finished.put((number, future))


def _finish(tasks: ref[_Tasks], number: int, future: Future[Any]) -> None:
    """Store the result of a task in its tasks, if they still exist."""
    shared = tasks()
    if shared is not None:
        shared.finish(number, future)


_POOLS: list[Workers] = []
"""The worker pool of this process, if any: it is reused, because starting workers takes as long as many tasks."""


def workers(count: int) -> Workers:
    """Return the open pool of this process; an idle one of another size, or a broken one, is replaced."""
    last = _POOLS[0] if _POOLS else None
    if last is not None and (not last.is_open or last.has_lost_one or (last.count != count and not last.is_busy)):
        stop_workers()
    if not _POOLS:
        _POOLS.append(Workers(count))
    return _POOLS[0]


def stop_workers() -> None:
    """Stop the worker pool of this process."""
    while _POOLS:
        _POOLS.pop().stop()


def _call(packed: bytes) -> Any:
    work, arguments = pickle.loads(packed)
    return work(*arguments)


def _prepare_worker() -> None:
    """Prepare a worker process: collect garbage rarely and ignore Ctrl-C."""
    collect_rarely()
    # Ctrl-C reaches all processes of a terminal; the parent process ends its workers.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
