"""Settings of a process: garbage collection, and threads of linear algebra."""

from __future__ import annotations

import atexit
import gc
import os
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

LINEAR_ALGEBRA = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
"""Environment variables that set the number of threads of linear algebra."""

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

_ALLOCATIONS = 100_000
"""Number of allocations between two runs of the garbage collector."""


def collect_rarely() -> None:
    """Collect garbage rarely, as imports allocate many objects that are never freed, and not at the end of the process.

    Before it ends, Python would search all objects several times, for seconds after a long command.
    """
    gc.set_threshold(_ALLOCATIONS)
    atexit.register(gc.freeze)


def run_in_one_thread(command: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Return the command limited to one thread of linear algebra, unless the environment sets the number of threads.

    The matrices of a run are small, and several threads that wait for each other are several times as slow.
    """

    @wraps(command)
    def limited(*given: Arguments.args, **named: Arguments.kwargs) -> Result:
        if any(name in os.environ for name in LINEAR_ALGEBRA):
            return command(*given, **named)
        import numpy as np  # noqa: F401 - only libraries that are loaded can be limited
        from threadpoolctl import threadpool_limits

        with threadpool_limits(1, "blas"):
            return command(*given, **named)

    return limited
