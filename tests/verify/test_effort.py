"""The clock of work."""

from __future__ import annotations

import pytest

from verify import effort


def test_a_waiting_process_works_a_third(monkeypatch: pytest.MonkeyPatch) -> None:
    """Time counts in full where the processor is ours, and as a third where others have it."""
    now = {"busy": 5.0, "wall": 100.0}
    monkeypatch.setattr(effort, "process_time", lambda: now["busy"])
    monkeypatch.setattr(effort, "perf_counter", lambda: now["wall"])
    work = effort._Work()
    now |= {"busy": 7.0, "wall": 102.0}
    assert work.read() == 2
    now |= {"busy": 7.5, "wall": 111.0}
    assert work.read() == 5
    assert work.read() == 5
