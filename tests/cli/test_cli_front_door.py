"""The command line uses one thread for linear algebra, and ends at once, with all output and no process left."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from fedtheory.__main__ import one_thread_each

COMMAND = [sys.executable, "-m", "fedtheory"]


def test_one_thread_unless_the_environment_says_how_many(monkeypatch) -> None:
    """An environment variable that is set is not changed."""
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "3")
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setattr(os, "environ", os.environ.copy())
    one_thread_each()
    assert os.environ["OPENBLAS_NUM_THREADS"] == "3"
    assert os.environ["OMP_NUM_THREADS"] == "1"


@pytest.mark.long
def test_all_output_arrives_in_a_pipe() -> None:
    """All output arrives in a pipe, although the process ends without clean-up."""
    done = subprocess.run([*COMMAND, "claims", "--json"], capture_output=True, text=True, check=True)
    assert len(json.loads(done.stdout)) > 500
    assert not done.stderr


@pytest.mark.long
def test_the_exit_code_is_that_of_the_command() -> None:
    """A mistake gives one line, and exit code 2."""
    done = subprocess.run([*COMMAND, "show", "no:claim"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (2, "", 1)


@pytest.mark.long
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_a_full_disk_is_reported_in_a_line() -> None:
    """Output that cannot be written gives one line with an error."""
    with Path("/dev/full").open("w") as full:
        done = subprocess.run([*COMMAND, "claims"], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr == "fedtheory: cannot write: No space left on device\n"


@pytest.mark.long
@pytest.mark.skipif(not Path("/proc/self").exists(), reason="processes are looked for as Linux lists them")
def test_no_worker_is_left(tmp_path: Path) -> None:
    """Worker processes end with the command, and remove their files."""
    environment = {**os.environ, "FEDTHEORY_CACHE": str(tmp_path)}
    command = [*COMMAND, "verify", "lecture27:inherit", "lecture27:thm-2.interval", "--jobs", "3"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, start_new_session=True)
    assert done.returncode == 0
    assert "Warning" not in done.stderr
    marked = f"FEDTHEORY_CACHE={tmp_path}".encode()
    assert not [home for home in Path("/proc").glob("[0-9]*") if marked in _environment_of(home)]


def _environment_of(home: Path) -> bytes:
    try:
        return (home / "environ").read_bytes()
    except OSError:
        return b""
