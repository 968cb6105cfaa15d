"""A sweep that is killed goes on where it was: nothing is lost, nothing is there twice."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from sweep_support import COMMAND, SLOW_SWEEP, environment, parts, rows, swept, wait_until, write_sweep

from fedtheory.errors import InputError
from verify.sweeps import read_spec, run_sweep
from verify.sweeps.spec import Spec
from verify.sweeps.store import Store


def kill_half_way(spec: Path, output: Path, least: int) -> dict[str, int]:
    """Kill the command after some parts are stored; return the names of all stored parts with their times."""
    command = [*COMMAND, str(spec), "-o", str(output), "--jobs", "2"]
    process = subprocess.Popen(
        command, env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    try:
        wait_until(lambda: len(parts(output)) >= least, f"{least} parts")
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert not output.exists()
    finally:
        # Idle worker processes outlive their parent for some minutes.
        os.killpg(process.pid, signal.SIGKILL)
    return {name: (output.with_name(f"{output.name}.parts") / name).stat().st_mtime_ns for name in parts(output)}


@pytest.mark.slow
def test_a_sweep_killed_twice_gives_the_same_table(tmp_path: Path) -> None:
    """Results stored before SIGKILL stay, are not computed again, and the rest is added."""
    spec, output = write_sweep(tmp_path, SLOW_SWEEP), tmp_path / "killed.parquet"
    first = kill_half_way(spec, output, 5)
    second = kill_half_way(spec, output, 20)
    assert 5 <= len(first) < len(second) < 60
    assert first.items() < second.items()
    stored = run_sweep(read_spec(spec), output)
    assert stored >= len(second)
    resumed = rows(output)
    assert resumed == swept(tmp_path, SLOW_SWEEP)
    assert [(row["row"], row["claim"]) for row in resumed] == [
        (number, claim) for number in range(60) for claim in ("slow.py:slow", "renard2022:thm-2.1")
    ]
    assert not output.with_name("killed.parquet.parts").exists()


@pytest.mark.slow
def test_a_killed_worker_process_is_one_line(tmp_path: Path) -> None:
    """If the system ends a worker, the command says that finished results are stored, and continues when repeated."""
    spec, output = write_sweep(tmp_path, SLOW_SWEEP), tmp_path / "killed.parquet"
    command = [*COMMAND, str(spec), "-o", str(output), "--jobs", "2"]
    process = subprocess.Popen(command, env=environment(), stderr=subprocess.PIPE, text=True)
    wait_until(lambda: len(parts(output)) >= 5, "five parts")
    children = [int(child) for child in Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()]
    workers = [child for child in children if "spawn_main" in Path(f"/proc/{child}/cmdline").read_text()]
    os.kill(workers[0], signal.SIGKILL)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 2
    assert err.startswith("fedtheory: a worker process was killed")
    assert len(err.splitlines()) == 1
    assert run_sweep(read_spec(spec), output) >= 5
    assert rows(output) == swept(tmp_path, SLOW_SWEEP)


@pytest.fixture
def quick(tmp_path: Path) -> Path:
    """A sweep without the slow claim."""
    return write_sweep(tmp_path, SLOW_SWEEP.replace('"slow.py:slow", ', ""))


class Stopped(Exception):
    """The end of a process, for a test."""


def test_a_sweep_stopped_half_way_goes_on(quick: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Results stored before stay, the rest is added, and the table equals that of an uninterrupted sweep."""
    output, save = quick.with_suffix(".parquet"), Store.save

    def save_some(store: Store, part: tuple[int, int], found: list[dict[str, Any]]) -> None:
        if len(parts(output)) == 23:
            raise Stopped
        save(store, part, found)

    with monkeypatch.context() as patch:
        patch.setattr(Store, "save", save_some)
        with pytest.raises(Stopped):
            run_sweep(read_spec(quick), output)
    assert len(parts(output)) == 23
    assert run_sweep(read_spec(quick), output) == 23
    run_sweep(read_spec(quick), output.with_name("whole.parquet"))
    assert rows(output) == rows(output.with_name("whole.parquet"))


@pytest.mark.parametrize("moment", ["before the table", "after the table"])
def test_the_end_of_a_sweep_may_be_interrupted(quick: Path, monkeypatch: pytest.MonkeyPatch, moment: str) -> None:
    """Killed before or after the table is put in place, a sweep still ends with the same table."""
    output = quick.with_suffix(".parquet")

    def stop(_store: Store) -> None:
        raise Stopped

    with monkeypatch.context() as patch:
        patch.setattr(Store, "merge" if moment == "before the table" else "clear", stop)
        with pytest.raises(Stopped):
            run_sweep(read_spec(quick), output)
    assert output.exists() == (moment == "after the table")
    assert len(parts(output)) == 60
    assert run_sweep(read_spec(quick), output) == 60
    assert len(rows(output)) == 60
    assert not output.with_name("sweep.parquet.parts").exists()


def test_half_written_parts_do_not_count(quick: Path) -> None:
    """Half-written parts of a killed process are written again."""
    output = quick.with_suffix(".parquet")
    folder = output.with_name("sweep.parquet.parts")
    store = Store(read_spec(quick), output)
    with store.open(restart=False):
        (folder / "000000000-000000001.parquet.half").write_bytes(b"PAR1")
    assert run_sweep(read_spec(quick), output) == 0
    assert len(rows(output)) == 60


@pytest.mark.parametrize("damage", ["emptied", "cut off", "a byte changed"])
def test_damaged_parts_are_computed_again(quick: Path, monkeypatch: pytest.MonkeyPatch, damage: str) -> None:
    """Parts that a machine lost with its power are missing, not wrong: the table is that of a sweep in one go."""
    output = quick.with_suffix(".parquet")

    def stop(_store: Store) -> None:
        raise Stopped

    with monkeypatch.context() as patch:
        patch.setattr(Store, "merge", stop)
        with pytest.raises(Stopped):
            run_sweep(read_spec(quick), output)
    damaged = output.with_name("sweep.parquet.parts") / sorted(parts(output))[7]
    content = damaged.read_bytes()
    quarter = len(content) // 4
    changed = content[:quarter] + bytes([content[quarter] ^ 1]) + content[quarter + 1 :]
    damaged.write_bytes({"emptied": b"", "cut off": content[:quarter]}.get(damage, changed))
    assert run_sweep(read_spec(quick), output) == 59
    run_sweep(read_spec(quick), output.with_name("whole.parquet"))
    assert rows(output) == rows(output.with_name("whole.parquet"))


def test_a_complete_sweep_is_not_run_again(quick: Path) -> None:
    """Repeating the command leaves the table unchanged."""
    output = quick.with_suffix(".parquet")
    assert run_sweep(read_spec(quick), output) == 0
    before = output.read_bytes()
    progress: list[tuple[int, int]] = []
    assert run_sweep(read_spec(quick), output, on_progress=lambda done, whole: progress.append((done, whole))) == 60
    assert progress == [(60, 60)]
    assert output.read_bytes() == before


@pytest.mark.parametrize("complete", [True, False])
def test_a_changed_sweep_is_refused(quick: Path, monkeypatch: pytest.MonkeyPatch, complete: bool) -> None:
    """Rows of two different sweeps are never mixed; on request the old ones are thrown away."""
    output = quick.with_suffix(".parquet")
    with monkeypatch.context() as patch:
        if not complete:
            patch.setattr(Store, "merge", lambda _store: (_ for _ in ()).throw(Stopped))
        try:
            run_sweep(read_spec(quick), output)
        except Stopped:
            assert not complete
    quick.write_text(quick.read_text().replace("seed = 7", "seed = 8"))
    with pytest.raises(InputError, match="has changed; --restart throws them away"):
        run_sweep(read_spec(quick), output)
    assert run_sweep(read_spec(quick), output, restart=True) == 0
    assert len(rows(output)) == 60


def test_a_changed_claim_is_a_changed_sweep(tmp_path: Path) -> None:
    """The user's own claim counts with its content, not only with its name."""
    spec = write_sweep(tmp_path, SLOW_SWEEP)
    before = read_spec(spec).digest
    (tmp_path / "slow.py").write_text((tmp_path / "slow.py").read_text().replace("0.06", "0.07"))
    assert read_spec(spec).digest != before


def test_two_processes_do_not_share_a_sweep(quick: Path) -> None:
    """While one is at work, another is turned away."""
    output = quick.with_suffix(".parquet")
    with Store(read_spec(quick), output).open(restart=False), pytest.raises(InputError, match="another process"):
        run_sweep(read_spec(quick), output)


def test_a_strange_file_is_left_alone(quick: Path) -> None:
    """A file that is not a table of a sweep is not overwritten, not even on request."""
    output = quick.with_suffix(".parquet")
    output.write_text("my notes")
    with pytest.raises(InputError, match="exists, and is not the table of a sweep"):
        run_sweep(read_spec(quick), output, restart=True)
    assert output.read_text() == "my notes"


@pytest.mark.parametrize("runs", [1, 3, 40, 99, 1_000, 2_501, 100_000])
def test_parts_are_all_runs_in_few_files(runs: int, tmp_path: Path) -> None:
    """Each run once; at most a hundred files, and enough of them that a stopped sweep goes on from the last ones."""
    spec = cast(Spec, SimpleNamespace(design=SimpleNamespace(runs=runs)))
    parts = Store(spec, tmp_path / "table.parquet").parts
    assert [run for first, end in parts for run in range(first, end)] == list(range(runs))
    assert min(runs, 40) <= len(parts) <= 100
