"""Settings for all tests: random examples locally, fixed ones in continuous integration.

Examples have no deadline, so that a busy machine causes no failure.
"""

from __future__ import annotations

import os
import shutil

import pytest
from hypothesis import settings
from resuming import pytest_addoption, pytest_configure

from fedtheory.process import collect_rarely

__all__ = ["pytest_addoption", "pytest_configure", "pytest_runtest_setup"]

os.environ["FEDTHEORY_CACHE"] = ""  # Tests must see results of the present code, not cached ones.
collect_rarely()

settings.register_profile("random", deadline=None)
settings.register_profile("steady", deadline=None, derandomize=True)
settings.load_profile("steady" if os.environ.get("CI") else "random")


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip the tests of Rocq where it is not installed."""
    if item.get_closest_marker("rocq") is not None and shutil.which("coqc") is None:
        pytest.skip("Rocq (the command coqc) is not installed")
