"""The front door: `fedtheory` and `python -m fedtheory`."""

from __future__ import annotations

import atexit
import os
import sys
from typing import NoReturn

from fedtheory import find_floors_first
from fedtheory.process import LINEAR_ALGEBRA, look_rarely


def main() -> None:
    """Run the command line and leave with its exit code."""
    one_thread_each()
    look_rarely()
    find_floors_first()
    from fedtheory.cli import run

    leave(run())


def leave(code: int) -> NoReturn:
    """End this process and its workers at once: to free objects one by one takes seconds after a long run."""
    if "verify.desk" in sys.modules:
        sys.modules["verify.desk"].dismiss_workers()
    try:
        for stream in filter(None, (sys.stdout, sys.stderr)):
            stream.flush()
    except (OSError, ValueError):
        if code == 0:
            # What was said did not arrive, as on a full disk: Python knows what to do about it.
            sys.exit(code)
    # What libraries have to put in order.
    atexit._run_exitfuncs()
    os._exit(code)


def one_thread_each() -> None:
    """Let linear algebra use one thread, unless the environment says how many.

    The matrices of a run are small: a second thread saves nothing on cores that are free, and waits on cores that are
    not.  Commands with much to do use several processes.
    """
    for name in LINEAR_ALGEBRA:
        os.environ.setdefault(name, "1")


if __name__ == "__main__":
    main()
