"""One piece of work after another, in this process and, through joblib, in others beside it."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from verify.desk import Asked, Desk

Result = TypeVar("Result")


def in_order(work: Callable[..., Result], tasks: Iterable[tuple[Any, ...]], jobs: int) -> Iterator[Result]:
    """What `work` returns for the arguments of each task, in the order of the tasks; `jobs` is -1 for all cores.

    Other processes begin at once, this one works while it is asked for results.
    """
    return _sorted(_numbered(work, tasks, jobs))


def as_finished(work: Callable[..., Result], tasks: Iterable[tuple[Any, ...]], jobs: int) -> Iterator[Result]:
    """The same in the order in which the results come, each as soon as it is there."""
    return (result for _, result in _numbered(work, tasks, jobs))


def prepare(work: Callable[[], object], jobs: int) -> None:
    """Let other processes of this machine do what any work begins with; nobody waits for them."""
    from joblib import effective_n_jobs

    if _are_of_this_machine():
        _numbered(work, [()] * (effective_n_jobs(jobs) - 1), jobs)


def _are_of_this_machine() -> bool:
    """Whether other processes are not those of a cluster."""
    from joblib.parallel import get_active_backend

    return bool(get_active_backend()[0].__class__.__name__ == "LokyBackend")


def _numbered(work: Callable[..., Result], tasks: Iterable[tuple[Any, ...]], jobs: int) -> Iterator[tuple[int, Result]]:
    """Results with the numbers of their tasks."""
    from joblib import Parallel, delayed, effective_n_jobs

    if not _are_of_this_machine():
        # The workers of a cluster, beside which this process does not work.
        calls = (delayed(_called)(number, work, task) for number, task in enumerate(tasks))
        results: Iterator[tuple[int, Result]] = Parallel(jobs, return_as="generator_unordered", batch_size=1)(calls)
        return results
    workers = effective_n_jobs(jobs) - 1
    if workers == 0:
        return (_called(number, work, task) for number, task in enumerate(tasks))
    return Asked(work, tasks, Desk.with_workers(workers)).results()


def _sorted(numbered: Iterator[tuple[int, Result]]) -> Iterator[Result]:
    early: dict[int, Result] = {}
    due = 0
    for number, result in numbered:
        early[number] = result
        while due in early:
            yield early.pop(due)
            due += 1


def _called(number: int, work: Callable[..., Result], task: tuple[Any, ...]) -> tuple[int, Result]:
    return number, work(*task)


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
