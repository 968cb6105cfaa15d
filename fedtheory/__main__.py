"""The front door: `fedtheory` and `python -m fedtheory`."""

from __future__ import annotations

import os
import sys

from fedtheory import find_floors_first
from fedtheory.process import LINEAR_ALGEBRA, collect_rarely


def main() -> None:
    """Run the command line and leave with its exit code."""
    one_thread_each()
    collect_rarely()
    find_floors_first()
    from fedtheory.cli import run

    code = run()
    if "fedtheory.workers" in sys.modules:
        sys.modules["fedtheory.workers"].stop_workers()
    sys.exit(code)


def one_thread_each() -> None:
    """Let linear algebra use one thread, unless the environment says how many.

    The matrices of a run are small: a second thread saves nothing on cores that are free, and waits on cores that are
    not.  Commands with much to do use several processes.
    """
    for name in LINEAR_ALGEBRA:
        os.environ.setdefault(name, "1")


if __name__ == "__main__":
    main()
