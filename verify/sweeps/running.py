"""Running a sweep: over local processes, or over a Dask cluster; what is stored is not run again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from fedtheory.errors import InputError, MissingExtra
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
        for first, stop in _computed(spec, store, missing, jobs, dask):
            done += stop - first
            on_progress(done, spec.design.runs)
        if not store.is_complete:
            store.merge()
        store.clear()
    return stored


def _computed(
    spec: Spec, store: Store, missing: list[tuple[int, int]], jobs: int, dask: str | None
) -> Iterator[tuple[int, int]]:
    """The missing parts, in the order in which they come, each once it is stored."""
    from joblib import Parallel, delayed

    if not missing:
        return
    ends = dict(missing)
    tasks = (Task(spec.design, spec.targets, spec.arithmetic, spec.folder, *part) for part in missing)
    with _workers(dask):
        for first, rows in Parallel(n_jobs=jobs, return_as="generator_unordered")(delayed(run_task)(t) for t in tasks):
            part = (first, ends[first])
            store.save(part, rows)
            yield part


@contextmanager
def _workers(dask: str | None) -> Iterator[None]:
    """Local processes, or the workers of the scheduler at that address."""
    if dask is None:
        yield
        return
    from distributed import Client
    from joblib import parallel_config

    try:
        client = Client(dask, timeout=_PATIENCE)  # type: ignore[no-untyped-call]
    except (OSError, ValueError, TypeError) as error:
        raise InputError("--dask", f"no scheduler answers at {dask!r} ({error})") from None
    with client, parallel_config(backend="dask", wait_for_workers_timeout=_PATIENCE):
        try:
            yield
        except TimeoutError:
            raise InputError("--dask", f"the scheduler at {dask} has no workers") from None
