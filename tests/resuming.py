"""Pytest plugin that records passed tests for the present code, so that an interrupted run can be resumed."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
_MADE = ("build", "dist", "site", "reference", "__pycache__")
"""Folders of results, which are ignored like hidden folders."""
_PASSED = "passed"
"""Key under which a worker receives the names."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option to resume the last run."""
    parser.addoption("--resume", action="store_true", help="leave out tests that have passed on the code as it is")


def pytest_configure(config: pytest.Config) -> None:
    """Register the recording plugin if the option is given."""
    if config.getoption("--resume"):
        config.pluginmanager.register(Resuming(config), "resumed")


class Resuming:
    """Deselect tests that have passed, and append each passing test to a file named by a digest of the code."""

    def __init__(self, config: pytest.Config) -> None:
        received: dict[str, Any] | None = getattr(config, "workerinput", None)
        self.file = None if received is not None else _file_of(config)
        self.passed = frozenset(received[_PASSED] if received is not None else read_names(_file_of(config)))

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Send the names to each worker, so that all collect the same tests."""
        node.workerinput[_PASSED] = sorted(self.passed)

    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Deselect tests that have passed."""
        left_out = [item for item in items if item.nodeid in self.passed]
        items[:] = [item for item in items if item.nodeid not in self.passed]
        if left_out:
            config.hook.pytest_deselected(items=left_out)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Record a passed test at once, in case the next one is interrupted."""
        if self.file is not None and report.when == "call" and report.passed:
            with self.file.open("a") as file:
                file.write(f"{report.nodeid}\n")

    def pytest_report_header(self) -> str:
        """Report the number of deselected tests, and the file that lists them."""
        return f"resuming: {len(self.passed)} tests have passed on this code; {self.file} notes them"

    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """Treat a run without remaining tests as a success."""
        if exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED and self.passed:
            session.exitstatus = pytest.ExitCode.OK


def _file_of(config: pytest.Config) -> Path:
    return config.cache.mkdir("passed") / f"{digest_tree(ROOT)}.txt"


def read_names(file: Path) -> Iterable[str]:
    """Return the names of tests in a file; none if it is missing."""
    return file.read_text().splitlines() if file.exists() else []


def digest_tree(root: Path) -> str:
    """Return a digest of all files of a checkout except results, and of the factor for random cases."""
    digest = hashlib.sha256(os.environ.get("FUZZ", "1").encode())
    for file in sorted(_files_in(root)):
        digest.update(f"\n{file.relative_to(root)}\n".encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


def _files_in(folder: Path) -> Iterator[Path]:
    for each in folder.iterdir():
        if each.name.startswith(".") or each.name in _MADE or each.suffix == ".egg-info":
            continue
        if each.is_dir():
            yield from _files_in(each)
        elif each.is_file():
            yield each
