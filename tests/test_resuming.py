"""An interrupted run of tests can be resumed while the code does not change."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from resuming import digest_tree

TESTS = """
import os, pytest

@pytest.mark.parametrize("number", range(4))
def test_number(number):
    assert number != 2 or "MENDED" in os.environ

def test_left_out():
    pytest.skip("not here")
"""


def run_tests(folder: Path, *options: str, mended: bool = False) -> tuple[int, str]:
    """Return exit code and output of the tests in a folder."""
    python = [sys.executable, "-m", "pytest", "-p", "resuming", "--resume"]
    command = [*python, "-c", "/dev/null", "--rootdir", str(folder)]
    environment = {"PYTHONPATH": str(Path(__file__).parent)} | ({"MENDED": "1"} if mended else {})
    done = subprocess.run(
        [*command, *options, str(folder)], capture_output=True, text=True, env=environment, cwd=folder, check=False
    )
    return done.returncode, done.stdout


@pytest.mark.long
def test_only_what_has_not_passed_runs_again(tmp_path: Path) -> None:
    """Only failed and skipped tests run again, in one process or in several; without any, the run succeeds."""
    (tmp_path / "test_four.py").write_text(TESTS)
    code, said = run_tests(tmp_path, "-p", "no:xdist")
    assert code == 1
    assert "1 failed, 3 passed, 1 skipped" in said
    code, said = run_tests(tmp_path, "-n2", mended=True)
    assert code == 0, said
    assert "1 passed, 1 skipped" in said
    (tmp_path / "test_four.py").write_text(TESTS.partition("def test_left_out")[0])
    code, said = run_tests(tmp_path, "-p", "no:xdist")
    assert code == 0
    assert "4 deselected" in said


def test_other_code_is_tested_again(tmp_path: Path) -> None:
    """A change of any file except results invalidates the record."""
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "code.py").write_text("1")
    before = digest_tree(tmp_path)
    (tmp_path / "build").mkdir()
    (tmp_path / "build" / "page.html").write_text("made")
    (tmp_path / ".pytest_cache").mkdir()
    (tmp_path / ".pytest_cache" / "passed").write_text("made")
    assert digest_tree(tmp_path) == before
    (tmp_path / "package" / "code.py").write_text("2")
    assert digest_tree(tmp_path) != before
