"""One piece of work after another, on several processes, through joblib."""

from __future__ import annotations

import gc
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from fedtheory.garbage import look_rarely

Result = TypeVar("Result")
_IDLE = 20
"""Seconds without work after which a worker ends."""


def in_order(work: Callable[..., Result], tasks: Iterable[tuple[Any, ...]], jobs: int) -> Iterator[Result]:
    """What `work` returns for the arguments of each task, in the order of the tasks; `jobs` is -1 for all cores."""
    return _results("generator", work, tasks, jobs)


def as_finished(work: Callable[..., Result], tasks: Iterable[tuple[Any, ...]], jobs: int) -> Iterator[Result]:
    """The same in the order in which the results come, each as soon as it is there."""
    return _results("generator_unordered", work, tasks, jobs)


def _results(order: str, work: Callable[..., Any], tasks: Iterable[tuple[Any, ...]], jobs: int) -> Iterator[Any]:
    from contextlib import nullcontext

    from joblib import Parallel, delayed, parallel_config
    from joblib.parallel import get_active_backend

    # A worker that has grown large is replaced by a new one.  The thread that looks after the workers warns of it, and
    # would die where warnings are errors; whoever waits for a result would then wait forever.
    warnings.filterwarnings("ignore", "A worker stopped while some jobs were given", UserWarning)
    batch_size = "auto" if order == "generator" else 1
    # The workers of a process that is killed go by themselves, half a minute after that.
    is_local = get_active_backend()[0].__class__.__name__ == "LokyBackend"
    settings = {"idle_worker_timeout": _IDLE, "initializer": look_rarely}
    with parallel_config("loky", **settings) if is_local else nullcontext():
        parallel = Parallel(n_jobs=jobs, return_as=order, batch_size=batch_size)
    results: Iterator[Any] = parallel(delayed(work)(*task) for task in tasks)
    return results


@contextmanager
def rarely_collected() -> Iterator[None]:
    """Short work that drops hardly any cycles: looking for them over and over would take a tenth of its time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
