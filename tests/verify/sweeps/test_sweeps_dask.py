"""A sweep on a real Dask cluster: a scheduler and two workers, each its own process, on loopback."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
from sweep_support import COMMAND, PATIENCE, SLOW, SLOW_SWEEP, environment, parts, rows, swept, wait_until, write_sweep

pytestmark = pytest.mark.slow
_QUIET = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}


@contextmanager
def cluster(
    folder: Path, workers: int = 2, nanny: str = "--no-nanny"
) -> Iterator[tuple[str, Sequence[subprocess.Popen[bytes]]]]:
    """The scheduler's address, and its process before those of the workers."""
    file = folder / "scheduler.json"
    address = ["--scheduler-file", str(file)]
    options = {
        "scheduler": ["--host", "127.0.0.1", "--port", "0", "--no-dashboard"],
        "worker": ["--host", "127.0.0.1", "--nthreads", "1", nanny, "--no-dashboard"],
    }
    started: list[subprocess.Popen[bytes]] = []
    try:
        for kind in ("scheduler", *["worker"] * workers):
            command = [sys.executable, "-m", f"distributed.cli.dask_{kind}", *options[kind], *address]
            started.append(subprocess.Popen(command, env=environment(), cwd=folder, **_QUIET))  # type: ignore[call-overload]
            wait_until(file.exists, "the scheduler")
        yield json.loads(file.read_text())["address"], started
    finally:
        for process in reversed(started):
            process.terminate()
            process.wait(timeout=30)


def start(spec: Path, output: Path, address: str) -> subprocess.Popen[str]:
    """The command, at work on the cluster."""
    command = [*COMMAND, str(spec), "-o", str(output), "--dask", address, "--json"]
    return subprocess.Popen(command, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_a_killed_worker_loses_no_results(tmp_path: Path) -> None:
    """The other worker does its runs; the table is that of local processes."""
    spec, output = write_sweep(tmp_path, SLOW_SWEEP), tmp_path / "cluster.parquet"
    with cluster(tmp_path) as (address, processes):
        sweep = start(spec, output, address)
        wait_until(lambda: len(parts(output)) >= 10, "ten parts")
        processes[1].send_signal(signal.SIGKILL)
        assert not output.exists()
        out, err = sweep.communicate(timeout=100)
    assert (sweep.returncode, err) == (0, "")
    assert json.loads(out)["runs"] == 60
    assert rows(output) == swept(tmp_path, SLOW_SWEEP)


def test_a_scheduler_killed_half_way_loses_nothing(tmp_path: Path) -> None:
    """The command ends with one line, and local processes finish what is missing."""
    spec, output = write_sweep(tmp_path, SLOW_SWEEP), tmp_path / "cluster.parquet"
    with cluster(tmp_path) as (address, processes):
        sweep = start(spec, output, address)
        wait_until(lambda: len(parts(output)) >= 10, "ten parts")
        processes[0].send_signal(signal.SIGKILL)
        _, err = sweep.communicate(timeout=100)
    assert sweep.returncode == 2
    assert err.startswith(f"fedtheory: --dask: the connection to {address} is lost; what is done is stored")
    assert len(err.splitlines()) == 1
    before = parts(output)
    assert 10 <= len(before) < 60
    again = subprocess.run(
        [*COMMAND, str(spec), "-o", str(output), "--json"], env=environment(), capture_output=True, check=True
    )
    assert json.loads(again.stdout)["stored"] == len(before)
    assert rows(output) == swept(tmp_path, SLOW_SWEEP)


def test_a_scheduler_without_workers_is_one_line(tmp_path: Path) -> None:
    """The cluster has no workers."""
    spec = write_sweep(tmp_path, SLOW_SWEEP)
    with cluster(tmp_path, workers=0) as (address, _):
        sweep = start(spec, tmp_path / "cluster.parquet", address)
        out, err = sweep.communicate(timeout=100)
    assert (sweep.returncode, out) == (2, "")
    assert err == f"fedtheory: --dask: the scheduler at {address} has no workers\n"


def test_a_run_that_kills_its_workers_ends_the_sweep(tmp_path: Path) -> None:
    """A run that takes each restarted worker with it ends the command with one line, without waiting without end."""
    spec, output = write_sweep(tmp_path, SLOW_SWEEP), tmp_path / "cluster.parquet"
    deadly = "__import__('os')._exit(1) if run.algorithm.work.steps[0] == 3 else 0"
    (tmp_path / "slow.py").write_text(SLOW.replace(PATIENCE, deadly))
    with cluster(tmp_path, nanny="--nanny") as (address, _):
        sweep = start(spec, output, address)
        _, err = sweep.communicate(timeout=100)
    assert sweep.returncode == 2
    assert err.startswith("fedtheory: --dask: several workers failed on the same run")
    assert len(err.splitlines()) == 1


def test_workers_find_their_own_names(tmp_path: Path) -> None:
    """If a user's file has the name of a package, workers started in its folder still import the package."""
    (tmp_path / "verify.py").write_text("raise RuntimeError('this is mine')\n")
    spec, output = write_sweep(tmp_path, SLOW_SWEEP), tmp_path / "cluster.parquet"
    with cluster(tmp_path) as (address, _):
        sweep = start(spec, output, address)
        out, err = sweep.communicate(timeout=100)
    assert (sweep.returncode, err) == (0, "")
    assert json.loads(out)["runs"] > 0
