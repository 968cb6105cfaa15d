"""Benchmarks say what they compare, and how it came out, in a row of the table that the documentation shows."""

from __future__ import annotations

from typing import Any

import pytest
from rows import Row


@pytest.fixture
def row(benchmark: Any) -> Row:
    """Write a row: what is measured, against what, the figure, and what the figure is."""

    def write(what: str, against: str, figure: float, kind: str) -> None:
        benchmark.extra_info.setdefault("rows", []).append([what, against, figure, kind])

    return write
