"""Benchmarks record their comparison and its result in a row of the table in the documentation."""

from __future__ import annotations

from typing import Any

import pytest
from rows import Row


@pytest.fixture
def row(benchmark: Any) -> Row:
    """Record a row: subject, reference, figure, and unit of the figure."""

    def write(what: str, against: str, figure: float, kind: str) -> None:
        benchmark.extra_info.setdefault("rows", []).append([what, against, figure, kind])

    return write
