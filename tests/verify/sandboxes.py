"""The sandbox of submissions in tests: it may be absent only where the machine has none."""

from __future__ import annotations

import ctypes
import subprocess
from functools import cache
from shutil import which

import pytest

from verify.grade import Launch, NoSandbox, find_launch

LIBRARY = "libseccomp.so.2"
PLAIN = ("--unshare-user", "--unshare-all", "--ro-bind", "/", "/", "true")
"""Arguments of bubblewrap that need its namespaces and nothing of the grader."""


@cache
def missing_part() -> str | None:
    """Return the part of a sandbox that this machine lacks, or None."""
    for program in ("bwrap", "prlimit"):
        if which(program) is None:
            return f"the program {program} is not installed"
    try:
        ctypes.CDLL(LIBRARY)
    except OSError:
        return f"the library {LIBRARY} is not installed"
    plain = subprocess.run(["bwrap", *PLAIN], capture_output=True, timeout=60, check=False)
    return f"bwrap may not make namespaces: {plain.stderr.decode()}" if plain.returncode else None


def require_sandbox() -> Launch:
    """Return the sandbox; skip the test if the machine lacks a part, and fail it if only the sandbox does not start."""
    if missing_part() is not None:
        pytest.skip(f"there is no sandbox: {missing_part()}")
    found = find_launch()
    assert not isinstance(found, NoSandbox), f"bubblewrap starts, the sandbox does not: {found.reason}"
    return found
