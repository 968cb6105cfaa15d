"""Ctrl-C ends a command with one line and the usual exit code."""

from __future__ import annotations

from typing import NoReturn

import pytest

from fedtheory.cli import run
from fedtheory.errors import Interrupted


@pytest.mark.parametrize(
    ("stopped", "line"),
    [(KeyboardInterrupt(), "interrupted"), (Interrupted("all that is done is kept"), "all that is done is kept")],
)
def test_interruptions(
    stopped: BaseException, line: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """However Typer reports the interruption, there is one line on standard error and nothing on standard output."""

    def interrupt() -> NoReturn:
        raise stopped

    monkeypatch.setattr("fedtheory.language.registry.all_claims", interrupt)
    assert run(["claims", "--json"]) == 130
    printed = capsys.readouterr()
    assert printed.err == f"fedtheory: {line}\n"
    assert printed.out == ""
