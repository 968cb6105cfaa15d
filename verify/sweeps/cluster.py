"""A Dask cluster as workers of a sweep, through joblib."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Future
from contextlib import contextmanager
from typing import Any

from distributed import Client, KilledWorker
from joblib import parallel_config
from joblib._dask import DaskDistributedBackend

from fedtheory import find_floors_first
from fedtheory.errors import InputError, WorkersLost

_PATIENCE = 10
"""Seconds for a scheduler to answer, and for the first worker to come."""


class Cluster(DaskDistributedBackend):  # type: ignore[misc]
    """Joblib's backend, which also notices a task that the cluster gives up; alone it would wait for it forever."""

    def submit(self, func: Callable[..., Any], callback: Callable[[object], object]) -> Future[Any]:
        """Hand a task to the cluster; `callback` is told its result, or the error of the cluster."""

        def tell(done: Future[Any]) -> None:
            if done.exception() is not None:
                callback(done.exception())

        future: Future[Any] = super().submit(func, callback)
        future.add_done_callback(tell)
        return future

    def retrieve_result_callback(self, out: object) -> Any:
        """The result of a task; raises the error of the cluster."""
        if isinstance(out, BaseException):
            raise out
        return super().retrieve_result_callback(out)


@contextmanager
def cluster(address: str, goes_on: str) -> Iterator[None]:
    """Joblib's workers are those of the Dask scheduler at that address; one that is lost is made up for by the others.

    `goes_on` says what becomes of the work where all is lost.
    """
    try:
        client = Client(address, timeout=_PATIENCE)  # type: ignore[no-untyped-call]
    except (OSError, ValueError, TypeError) as error:
        raise InputError("--dask", f"no scheduler answers at {address!r} ({error})") from None
    try:
        # The cluster looks for this package at its own home as well, and so do workers that come later.
        client.run_on_scheduler(find_floors_first)  # type: ignore[no-untyped-call]
        client.register_worker_callbacks(find_floors_first)  # type: ignore[no-untyped-call]
        with client, parallel_config(backend=Cluster(client=client, wait_for_workers_timeout=_PATIENCE)):
            yield
    except TimeoutError:
        raise InputError("--dask", f"the scheduler at {address} has no workers") from None
    except (ImportError, RuntimeError) as error:
        raise InputError("--dask", f"the cluster at {address} lacks what a sweep needs ({_cause(error)})") from None
    except (CancelledError, OSError):
        raise WorkersLost(f"--dask: the connection to {address} is lost; {goes_on}") from None
    except KilledWorker:
        raise WorkersLost(
            f"--dask: the same run was lost with several workers, one after the other; {goes_on}"
        ) from None


def _cause(error: BaseException) -> BaseException:
    """What an error comes from."""
    return error if error.__cause__ is None else _cause(error.__cause__)
