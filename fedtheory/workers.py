"""Run independent tasks in this process and in worker processes beside it, by concurrent.futures."""

from __future__ import annotations

import pickle
import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from multiprocessing import active_children, get_context
from multiprocessing.process import BaseProcess
from queue import SimpleQueue
from threading import Thread
from time import sleep
from typing import Any, TypeVar

from fedtheory.process import look_rarely

Result = TypeVar("Result")


class Workers:
    """A pool of worker processes, which start with the first tasks and stay for the next ones."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.is_open = True
        # Spawned and not forked: libraries of linear algebra have threads, which a fork loses.
        self._pool = ProcessPoolExecutor(count, get_context("spawn"), _prepare_worker)
        self._processes: set[BaseProcess] = set()
        self._unfinished: set[Future[Any]] = set()

    @property
    def is_busy(self) -> bool:
        """Whether a task has been begun whose result is not there yet."""
        return bool(self._unfinished)

    def submit(self, work: Callable[..., Result], *arguments: Any) -> Future[Result]:
        """Begin a task in a worker.

        Its arguments are pickled at once: the pool's own thread would read them while this process changes their
        cached values.  Raises `BrokenProcessPool` where a worker was killed.
        """
        others = set(active_children()) - self._processes
        future: Future[Result] = self._pool.submit(_call, pickle.dumps((work, arguments)))
        self._processes.update(set(active_children()) - others)
        self._unfinished.add(future)
        future.add_done_callback(self._unfinished.discard)
        return future

    def run(self, work: Callable[..., Result], tasks: Iterable[tuple[Any, ...]]) -> Iterator[tuple[int, Result]]:
        """Yield the number and the result of each task as it is ready.

        While no result is, this process takes the next task that no worker has begun.  Workers are stopped where the
        results are not asked for to the end.
        """
        begun = [(number, task, self.submit(work, *task)) for number, task in enumerate(tasks)]
        return self._results(work, begun)

    def _results(
        self, work: Callable[..., Result], begun: list[tuple[int, tuple[Any, ...], Future[Result]]]
    ) -> Iterator[tuple[int, Result]]:
        finished = SimpleQueue[Future[Result]]()
        numbers = {future: number for number, _, future in begun}
        for future in numbers:
            future.add_done_callback(finished.put)
        waiting, missing = deque(begun), len(begun)
        try:
            while missing:
                while finished.empty() and waiting:
                    number, task, future = waiting.popleft()
                    if future.cancel():
                        missing -= 1
                        yield number, work(*task)
                if missing:
                    done = finished.get()
                    if not done.cancelled():
                        missing -= 1
                        yield numbers[done], done.result()
        finally:
            if missing:
                self.stop()

    def stop(self) -> None:
        """End the workers, whatever they do; what they have begun has no result."""
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
            # Until the pool has dropped what is cancelled: Python 3.11 fails at such tasks where it loses a worker.
            while not (last.done() or last.running()):
                sleep(0.001)
            self._terminate()
            closing.join()
        self._terminate()

    def _terminate(self) -> None:
        for process in self._processes:
            with suppress(ValueError):  # The pool has closed it already.
                process.terminate()


_POOLS: list[Workers] = []
"""The workers of this process, if any: to start them takes as long as many tasks do."""


def workers(count: int) -> Workers:
    """Return the workers of this process; so many, unless others are busy."""
    if _POOLS and (not _POOLS[0].is_open or (_POOLS[0].count != count and not _POOLS[0].is_busy)):
        stop_workers()
    if not _POOLS:
        _POOLS.append(Workers(count))
    return _POOLS[0]


def stop_workers() -> None:
    """End the workers of this process."""
    while _POOLS:
        _POOLS.pop().stop()


def _call(packed: bytes) -> Any:
    work, arguments = pickle.loads(packed)
    return work(*arguments)


def _prepare_worker() -> None:
    look_rarely()
    # Ctrl-C goes to all processes of a terminal; a worker is ended by the process that waits for it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
