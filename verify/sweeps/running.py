"""Run a sweep on local processes or a Dask cluster; stored results are not computed again."""

from __future__ import annotations

import logging
import warnings
from collections import deque
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import BrokenExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from time import perf_counter
from typing import Any

from fedtheory.errors import InputError, MissingExtra, WorkersLost
from verify.processes import run_unordered
from verify.sweeps.row_outcome import Task, run_task
from verify.sweeps.spec import Spec
from verify.sweeps.store import Store, require_pyarrow


def run_sweep(
    spec: Spec,
    output: Path,
    *,
    jobs: int = 1,
    dask: str | None = None,
    restart: bool = False,
    on_progress: Callable[[int, int], None] = lambda _done, _all: None,
) -> int:
    """Run the missing parts of a sweep and write its table; return the number of runs that were stored before.

    `jobs` is the number of local processes (-1 for all cores), `dask` the address of a scheduler whose workers run the
    sweep instead. `on_progress` receives the numbers of finished runs and of all runs.
    """
    from importlib.util import find_spec

    if jobs == 0:
        raise InputError("--jobs", "expected a number of processes, or -1 for all cores, got 0")
    require_pyarrow()
    if dask is not None and find_spec("distributed") is None:
        raise MissingExtra("dask", "a sweep on a Dask cluster")
    store = Store(spec, output)
    with store.open(restart):
        missing = [] if store.is_complete else [part for part in store.parts if not store.has(part)]
        stored = done = spec.design.runs - sum(stop - first for first, stop in missing)
        on_progress(done, spec.design.runs)
        ends = dict(missing)
        with closing(_compute(spec, missing, jobs, dask)) as results:
            for first, rows in results:
                store.save((first, ends[first]), rows)
                done += ends[first] - first
                on_progress(done, spec.design.runs)
        if not store.is_complete:
            store.merge()
        store.clear()
    return stored


def _compute(
    spec: Spec, missing: list[tuple[int, int]], jobs: int, dask: str | None
) -> Generator[tuple[int, list[dict[str, Any]]]]:
    """Yield the first index and the rows of each missing part, in the order of completion."""
    if not missing:
        return
    of_sweep = (spec.design, spec.targets, spec.arithmetic, spec.folder)
    tasks = deque((Task(*of_sweep, *part, spec.errors, spec.digest),) for part in missing)
    with _silence_warnings():
        yield from _run_locally(tasks, jobs) if dask is None else _run_on_cluster(tasks, dask)


def _run_locally(tasks: deque[tuple[Task]], jobs: int) -> Iterator[tuple[int, list[dict[str, Any]]]]:
    """Run the parts in processes of this machine."""
    try:
        yield from _run_here(tasks) if jobs != 1 else ()
        yield from run_unordered(run_task, tasks, jobs)
    except BrokenExecutor:
        raise WorkersLost(f"a worker process was killed, perhaps for lack of memory; {GOES_ON}") from None


def _run_on_cluster(tasks: deque[tuple[Task]], address: str) -> Iterator[tuple[int, list[dict[str, Any]]]]:
    """Run the parts on the workers of a Dask cluster."""
    from verify.sweeps.cluster import connect_to_cluster, run_on_cluster

    with connect_to_cluster(address, GOES_ON) as client:
        yield from run_on_cluster(run_task, tasks, client)


def _run_here(tasks: deque[tuple[Task]]) -> Iterator[tuple[int, list[dict[str, Any]]]]:
    """Run the first parts in this process, and all others too if that takes no longer than starting processes."""
    took = 0.0
    for number in range(len(tasks)):
        # The first part imports and compiles code that the others use.
        if took > _SLOW or (number > 1 and took * len(tasks) > _STARTING):
            return
        begin = perf_counter()
        yield run_task(*tasks.popleft())
        took = perf_counter() - begin


_STARTING, _SLOW = 3.0, 0.5
"""Seconds of work before other processes are useful, and seconds of one part after which they are started."""


GOES_ON = "what is done is stored, and the same command goes on from there"


@contextmanager
def _silence_warnings() -> Iterator[None]:
    """Suppress warnings of libraries; those that matter become errors of this project."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", ".*tasks which", UserWarning)
            yield
    finally:
        logging.disable(before)
