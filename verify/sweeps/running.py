"""Running a sweep: over local processes, or over a Dask cluster; what is stored is not run again."""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import BrokenExecutor, CancelledError
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from fedtheory.errors import InputError, MissingExtra, WorkersLost
from verify.sweeps.outcome import Task, run_task
from verify.sweeps.spec import Spec
from verify.sweeps.store import Store, require_pyarrow

_PATIENCE = 10
"""Seconds for a scheduler to answer, and for the first worker to come."""


def conduct(
    spec: Spec,
    output: Path,
    *,
    jobs: int = 1,
    dask: str | None = None,
    restart: bool = False,
    on_progress: Callable[[int, int], None] = lambda _done, _all: None,
) -> int:
    """Run what is missing of a sweep and write its table; the number of runs that were stored before.

    `jobs` is the number of local processes (-1 for all cores), `dask` the address of a scheduler whose workers run the
    sweep instead.  `on_progress` is told how many runs are done, and of how many.
    """
    from importlib.util import find_spec

    if jobs == 0:
        raise InputError("--jobs", "expected a number of processes, or -1 for all cores, got 0")
    require_pyarrow()
    if dask is not None and find_spec("distributed") is None:
        raise MissingExtra("dask", "a sweep on a Dask cluster")
    store = Store(spec, output)
    with store.opened(restart):
        missing = [] if store.is_complete else [part for part in store.parts if not store.has(part)]
        stored = done = spec.design.runs - sum(stop - first for first, stop in missing)
        on_progress(done, spec.design.runs)
        ends = dict(missing)
        with closing(_computed(spec, missing, jobs, dask)) as results:
            for first, rows in results:
                store.save((first, ends[first]), rows)
                done += ends[first] - first
                on_progress(done, spec.design.runs)
        if not store.is_complete:
            store.merge()
        store.clear()
    return stored


def _computed(
    spec: Spec, missing: list[tuple[int, int]], jobs: int, dask: str | None
) -> Generator[tuple[int, list[dict[str, Any]]]]:
    """First run and rows of each missing part, in the order in which they are done."""
    from joblib import Parallel, delayed

    if not missing:
        return
    tasks = (Task(spec.design, spec.targets, spec.arithmetic, spec.folder, *part) for part in missing)
    with _local() if dask is None else _cluster(dask):
        yield from Parallel(n_jobs=jobs, return_as="generator_unordered")(delayed(run_task)(task) for task in tasks)


_GOES_ON = "what is done is stored, and the same command goes on from there"


@contextmanager
def _local() -> Iterator[None]:
    """Processes of this machine."""
    try:
        yield
    except BrokenExecutor:
        raise WorkersLost(f"a worker process was killed, perhaps for want of memory; {_GOES_ON}") from None


@contextmanager
def _cluster(address: str) -> Iterator[None]:
    """The workers of the Dask scheduler at that address; one that is lost is made up for by the others."""
    from distributed import Client, KilledWorker
    from joblib import parallel_config

    with _silence():
        try:
            client = Client(address, timeout=_PATIENCE)  # type: ignore[no-untyped-call]
        except (OSError, ValueError, TypeError) as error:
            raise InputError("--dask", f"no scheduler answers at {address!r} ({error})") from None
        try:
            with client, parallel_config(backend="dask", wait_for_workers_timeout=_PATIENCE):
                yield
        except TimeoutError:
            raise InputError("--dask", f"the scheduler at {address} has no workers") from None
        except (CancelledError, OSError):
            raise WorkersLost(f"--dask: the connection to {address} is lost; {_GOES_ON}") from None
        except KilledWorker:
            raise WorkersLost(f"--dask: several workers died one after the other; {_GOES_ON}") from None


@contextmanager
def _silence() -> Iterator[None]:
    """Without the messages of libraries: what matters of them becomes an error of this project."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        yield
    finally:
        logging.disable(before)
