"""Progress is reported only in a terminal."""

from __future__ import annotations

import pytest

from fedtheory.api.progress import progress


@pytest.mark.parametrize("in_a_cell", [True, False])
def test_a_cell_gets_no_animation(
    in_a_cell: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A notebook cell shows no animated progress bar, and no progress for a few seconds."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TTY_COMPATIBLE", "1")
    monkeypatch.setenv("TERM", "xterm")
    if in_a_cell:
        monkeypatch.setenv("JPY_PARENT_PID", "1")
    else:
        monkeypatch.delenv("JPY_PARENT_PID", raising=False)
    with progress("instances") as tell:
        tell(1, 2)
    assert ("instances" in capsys.readouterr().err) is not in_a_cell
