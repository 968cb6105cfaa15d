"""Run independent tasks in this process and in worker processes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from fedtheory.workers import workers

Result = TypeVar("Result")


def run_in_order(work: Callable[..., Result], tasks: Iterable[tuple[Any, ...]], jobs: int) -> Iterator[Result]:
    """Yield what `work` returns for the arguments of each task, in the order of the tasks; `jobs` is -1 for all cores.

    Workers start at once. This process works as well while the caller waits for results.
    """
    return _restore_order(_attach_numbers(work, tasks, jobs))


def run_unordered(work: Callable[..., Result], tasks: Iterable[tuple[Any, ...]], jobs: int) -> Iterator[Result]:
    """Yield the same results in the order in which they are ready."""
    return (result for _, result in _attach_numbers(work, tasks, jobs))


def prepare(work: Callable[[], object], jobs: int) -> None:
    """Start a common preparation, such as imports, in each worker."""
    count = _count_workers(jobs)
    for _ in range(count):
        workers(count).submit(work)


def _attach_numbers(
    work: Callable[..., Result], tasks: Iterable[tuple[Any, ...]], jobs: int
) -> Iterator[tuple[int, Result]]:
    """Yield results with the numbers of their tasks."""
    count = _count_workers(jobs)
    if count == 0:
        return ((number, work(*task)) for number, task in enumerate(tasks))
    return workers(count).run(work, tasks)


def _count_workers(jobs: int) -> int:
    """Return the number of processes besides this one."""
    from joblib import effective_n_jobs

    return int(effective_n_jobs(jobs)) - 1


def _restore_order(numbered: Iterator[tuple[int, Result]]) -> Iterator[Result]:
    early: dict[int, Result] = {}
    due = 0
    for number, result in numbered:
        early[number] = result
        while due in early:
            yield early.pop(due)
            due += 1
