"""A desk of tasks: workers take one after the other from it, and so does the process that waits for the results.

It does what others have asked for, where its own tasks are done by workers: no process waits while there is work.
"""

from __future__ import annotations

import math
import os
import pickle
import signal
import sys
import threading
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from queue import SimpleQueue
from time import perf_counter, sleep
from typing import Any, ClassVar, Generic, TypeVar
from weakref import ref

from fedtheory.process import LINEAR_ALGEBRA, look_rarely

Result = TypeVar("Result")
_IDLE = 20
"""Seconds without work after which a worker ends; so it does where this process was killed."""
_SHORT = 0.2
"""Seconds of a task below which a worker gets the next one beforehand: handing it over would take as long."""
_PUTTING_AWAY = 1.0
"""Seconds within which a thread puts away the locks of workers that are dismissed."""
_TURN = 2e-4
"""Seconds after which a thread lets another one work."""


class Asked(Generic[Result]):
    """Results that are asked for together; the tasks of one that nobody holds any more are dropped."""

    def __init__(self, work: Callable[..., Result], tasks: Iterable[tuple[Any, ...]], desk: Desk) -> None:
        self.made = SimpleQueue[tuple[int, Future[Result]]]()
        self.seconds = math.inf
        """How long a task takes, as far as this process has seen."""
        self._desk = desk
        # What travels is packed before any work begins: it may be changed by work that is done here, a cached value
        # of it that comes about, and would be packed by another thread at that moment.
        laid = [_Task(ref(self), n, work, task, pickle.dumps((work, task))) for n, task in enumerate(tasks)]
        self._open = len(laid)
        desk.lay(laid)

    def results(self) -> Iterator[tuple[int, Result]]:
        """Each result with the number of its task; while there is none, the next task of the desk is done here."""
        try:
            while self._open:
                task = self._desk.next() if self.made.empty() else None
                if task is not None:
                    task.do()
                    continue
                number, made = self.made.get()
                self._open -= 1
                yield number, made.result()
        finally:
            if self._open:
                self._desk.end()


@dataclass(frozen=True, eq=False)
class _Task:
    asked: ref[Asked[Any]]
    number: int
    work: Callable[..., Any]
    arguments: tuple[Any, ...]
    packed: bytes
    """The work and its arguments, for a worker."""

    @property
    def is_short(self) -> bool:
        """Whether a worker should have another one before it is done."""
        asked = self.asked()
        return asked is not None and asked.seconds < _SHORT

    def do(self) -> None:
        """Do it here."""
        made, begin = Future[Any](), perf_counter()
        try:
            with _workers_served():
                made.set_result(self.work(*self.arguments))
        except Exception as error:
            # It is raised where the result is asked for, which may be elsewhere.
            made.set_exception(error)
        asked = self.asked()
        if asked is not None:
            asked.seconds = perf_counter() - begin
        self.hand_over(made)

    def hand_over(self, made: Future[Any]) -> None:
        """The result, to whoever has asked for it."""
        asked = self.asked()
        if asked is not None:
            asked.made.put((self.number, made))


class Desk:
    """Tasks in the order in which they were laid down, and the workers of this process."""

    last: ClassVar[Desk | None] = None

    def __init__(self, pool: Any, workers: int) -> None:
        self._pool, self._workers = pool, workers
        self._tasks: deque[_Task] = deque()
        self._given: set[Future[Any]] = set()
        """What workers make."""
        self._lock = threading.Lock()

    @classmethod
    def with_workers(cls, workers: int) -> Desk:
        """The desk of this process, with so many workers unless others are busy; they start with the first tasks."""
        from joblib.externals.loky import get_reusable_executor

        last = cls.last
        if last is not None and last._workers and last._given:
            return last
        # A worker that has grown large is replaced by a new one.  The thread that looks after the workers warns of it,
        # and would die where warnings are errors; whoever waits for a result would then wait forever.
        warnings.filterwarnings("ignore", "A worker stopped while some jobs were given", UserWarning)
        threads = {name: os.environ.get(name, "1") for name in LINEAR_ALGEBRA}
        pool = get_reusable_executor(workers, timeout=_IDLE, initializer=_as_worker, env=threads)
        if last is None or (last._pool, last._workers) != (pool, workers):
            last = cls.last = cls(pool, workers)
        return last

    def lay(self, tasks: Iterable[_Task]) -> None:
        """Lay down tasks."""
        with self._lock:
            self._tasks.extend(tasks)
        self._give()

    def next(self) -> _Task | None:
        """Take the next task."""
        with self._lock:
            return self._next()

    def end(self) -> None:
        """End the workers, whatever they do."""
        with self._lock:
            self._workers = 0
        # The thread that looks after them fails if they end before it has handed over what was given last.
        while any(not made.running() and not made.done() for made in tuple(self._given)):
            sleep(_TURN)
        self._pool.shutdown(kill_workers=True)

    def _next(self) -> _Task | None:
        while self._tasks and self._tasks[0].asked() is None:
            self._tasks.popleft()
        return self._tasks.popleft() if self._tasks else None

    def _give(self) -> None:
        """Give tasks to the workers that have none, and another one to each where they are short."""
        given = []
        with self._lock:
            while len(self._given) < 2 * self._workers and (task := self._next()) is not None:
                made = None if len(self._given) >= self._workers and not task.is_short else self._begun(task)
                if made is None:
                    self._tasks.appendleft(task)
                    break
                self._given.add(made)
                given.append((task, made))
        for task, made in given:
            made.add_done_callback(partial(self._take, task))

    def _begun(self, task: _Task) -> Future[Any] | None:
        """The result that a worker will make; none if the workers have been ended."""
        try:
            made: Future[Any] = self._pool.submit(_done_of, task.packed)
        except RuntimeError:
            return None
        return made

    def _take(self, task: _Task, made: Future[Any]) -> None:
        with self._lock:
            self._given.remove(made)
        task.hand_over(made)
        if not made.cancelled() and made.exception() is None:
            self._give()


@contextmanager
def _workers_served() -> Iterator[None]:
    """The threads that hand tasks to workers come to their turn soon, of which they need dozens for each task."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(_TURN)
    try:
        yield
    finally:
        sys.setswitchinterval(usual)


def dismiss_workers() -> None:
    """End the workers of this process; one that ends by itself frees all its objects before."""
    if Desk.last is None:
        return
    Desk.last.end()
    # What handed tasks to them puts away its locks.
    for thread in (thread for thread in threading.enumerate() if thread.name == "QueueFeederThread"):
        thread.join(_PUTTING_AWAY)


def _done_of(packed: bytes) -> Any:
    work, arguments = pickle.loads(packed)
    return work(*arguments)


def _as_worker() -> None:
    look_rarely()
    # Ctrl-C goes to all processes of a terminal; a worker is ended by the process that waits for it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
