"""Run the parts of a sweep on a Dask cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager
from typing import Any, TypeVar

from distributed import Client, KilledWorker, as_completed

from fedtheory import find_floors_first
from fedtheory.errors import InputError, WorkersLost

_PATIENCE = 10
"""Seconds to wait for the scheduler to answer, and for the first worker."""


Result = TypeVar("Result")


@contextmanager
def connect_to_cluster(address: str, goes_on: str) -> Iterator[Client]:
    """Connect to the Dask scheduler at an address; if a worker is lost, the others take over its tasks.

    `goes_on` is the text that tells a user how to continue if all workers are lost.
    """
    try:
        client = Client(address, timeout=_PATIENCE)  # type: ignore[no-untyped-call]
    except (OSError, ValueError, TypeError) as error:
        raise InputError("--dask", f"no scheduler answers at {address!r} ({error})") from None
    try:
        # The cluster also searches this package in its own installation, as do workers that join later.
        client.run_on_scheduler(find_floors_first)  # type: ignore[no-untyped-call]
        client.register_worker_callbacks(find_floors_first)  # type: ignore[no-untyped-call]
        with client:
            client.wait_for_workers(1, timeout=_PATIENCE)
            yield client
    except TimeoutError:
        raise InputError("--dask", f"the scheduler at {address} has no workers") from None
    except (ImportError, RuntimeError) as error:
        raise InputError(
            "--dask", f"the cluster at {address} lacks packages that a sweep needs ({_find_cause(error)})"
        ) from None
    except (CancelledError, OSError):
        raise WorkersLost(f"--dask: the connection to {address} is lost; {goes_on}") from None
    except KilledWorker:
        raise WorkersLost(f"--dask: several workers failed on the same run; {goes_on}") from None


def run_on_cluster(work: Callable[..., Result], tasks: Iterable[tuple[Any, ...]], client: Client) -> Iterator[Result]:
    """Yield what `work` returns for the arguments of each task as soon as a worker of the cluster has computed it.

    Raises the error of a task, and `KilledWorker` where the scheduler gives one up.
    """
    # A sweep may be run twice on one cluster with changed files, so cached results of the cluster are not used.
    futures = [client.submit(work, *task, pure=False) for task in tasks]
    for future in as_completed(futures):  # type: ignore[no-untyped-call]
        yield future.result()
        future.release()


def _find_cause(error: BaseException) -> BaseException:
    """Follow an error to its first cause."""
    return error if error.__cause__ is None else _find_cause(error.__cause__)
