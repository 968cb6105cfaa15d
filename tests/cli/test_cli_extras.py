"""A missing optional extra gives one line that says what to install."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

from fedtheory import cli


def test_the_report_names_its_extra(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Without a library of the pages, the command names the extra that provides it."""
    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "matplotlib" else found(name))
    assert cli.run(["report"]) == 2
    assert capsys.readouterr().err == (
        "fedtheory: writing the report needs the optional extra: pip install 'fedtheory[report]'\n"
    )


RUN = """
[problem]
kind = "least-squares"
data = "diabetes"
clients = 2
[algorithm]
local_step_size = 0.1
rounds = 1
"""


def test_data_sets_name_their_extra(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Without scikit-learn, a run on its data names the extra."""
    monkeypatch.setitem(sys.modules, "sklearn", None)
    path = tmp_path / "run.toml"
    path.write_text(RUN)
    assert cli.run(["simulate", str(path)]) == 2
    assert "pip install 'fedtheory[data]'" in capsys.readouterr().err
