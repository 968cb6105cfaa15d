"""`--figure FILE` of simulate and check writes a picture, or gives one line if there is none."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ASYNCHRONOUS = {"algorithm.clock": '{ policy = "async", times = [1, 3] }'}
RANDOM = {"algorithm.clock": '{ policy = "async", times = [1, 3], law = "exponential" }'}
CLAIM = "renard2022:thm-2.1"


@pytest.mark.parametrize("changes", [{}, ASYNCHRONOUS, RANDOM], ids=["rounds", "clock time", "random clock"])
def test_simulate(command, write_run, tmp_path: Path, changes: dict[str, str]) -> None:
    """The picture is written, and the document is equal to that without it."""
    run, picture = write_run(changes), tmp_path / "error.svg"
    drawn = command("simulate", run, "--figure", picture, "--json")
    assert drawn.err == f"wrote {picture}\n"
    assert "<svg" in picture.read_text()
    assert drawn.document == command("simulate", run, "--json").document


def test_check(command, write_run, tmp_path: Path) -> None:
    """The figure of a claim on a run is drawn."""
    run, picture = write_run(), tmp_path / "bound.pdf"
    drawn = command("check", CLAIM, run, "--figure", picture, "--json")
    assert picture.read_bytes().startswith(b"%PDF")
    assert drawn.document == command("check", CLAIM, run, "--json").document


@pytest.mark.parametrize("arguments", [("simulate",), ("check", CLAIM)], ids=["simulate", "check"])
def test_no_such_picture(command, write_run, arguments: tuple[str, ...]) -> None:
    """An unknown format, or a folder that does not exist, gives one line."""
    run = write_run()
    assert "ends in .svg, .png or .pdf, got a.gif" in command(*arguments, run, "--figure", "a.gif").complaint()
    assert "cannot be written" in command(*arguments, run, "--figure", run / "a.svg").complaint()


def test_a_claim_that_does_not_apply(command, write_run, tmp_path: Path) -> None:
    """The reason is the only line, and no picture is written."""
    line = command("check", CLAIM, write_run(ASYNCHRONOUS), "--figure", tmp_path / "a.svg").complaint()
    assert "does not apply: full participation" in line
    assert not (tmp_path / "a.svg").exists()


def test_without_matplotlib(command, write_run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without Matplotlib the extra is named."""
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    assert "fedtheory[report]" in command("simulate", write_run(), "--figure", "a.svg").complaint()


@pytest.mark.long
def test_warnings_of_matplotlib_stay_inside(write_run, tmp_path: Path) -> None:
    """Warnings of Matplotlib, as for a read-only settings folder, do not appear in the output."""
    picture = tmp_path / "a.svg"
    command = [sys.executable, "-m", "fedtheory", "simulate", str(write_run()), "--figure", str(picture)]
    (tmp_path / "file").write_text("")
    surroundings = {**os.environ, "MPLCONFIGDIR": str(tmp_path / "file" / "below")}
    done = subprocess.run(command, env=surroundings, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, f"wrote {picture}\n")
