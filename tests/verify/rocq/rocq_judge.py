"""Rocq, for tests: a library for all processes of a test run, compiled by the first that needs it."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from filelock import FileLock

from verify.rocq.library_parts import read_library
from verify.rocq.project import write_project


def accepts(folder: Path, *names: str) -> bool:
    """Return whether Rocq accepts some files of a folder, one after the other."""
    commands = (["coqc", "-R", ".", "Fedtheory", name] for name in names)
    return all(subprocess.run(one, cwd=folder, capture_output=True, check=False).returncode == 0 for one in commands)


def compiled_library(factory: pytest.TempPathFactory) -> Path:
    """Return a new folder with the compiled library, without the files that prove that its structures exist."""
    base = factory.getbasetemp()
    shared = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "rocq-library"
    with FileLock(shared.with_suffix(".lock")):
        if not shared.is_dir():
            write_project(shared, [])
            assert accepts(shared, *(name for name in read_library() if not _builds(name)))
    folder = factory.mktemp("rocq")
    shutil.copytree(shared, folder, dirs_exist_ok=True)
    return folder


def _builds(name: str) -> bool:
    return Path(name).stem.endswith("Instance") or Path(name).stem in {"TwoClients", "CoinRuns"}
