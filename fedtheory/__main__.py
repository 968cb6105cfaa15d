"""Entry point of `fedtheory` and `python -m fedtheory`."""

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
    """Limit linear algebra to one thread, unless the environment sets the number of threads.

    The matrices of a run are small: further threads save nothing on idle cores and slow down busy ones.
    Commands with much to do use several processes instead.
    """
    for name in LINEAR_ALGEBRA:
        os.environ.setdefault(name, "1")


if __name__ == "__main__":
    main()
