"""Every example prints its last lines."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parent.parent / "examples").glob("*.py"))


def test_there_are_ten_short_ones() -> None:
    """There are ten examples, each with a question and an answer that fits on a screen."""
    assert len(EXAMPLES) == 10
    for file in EXAMPLES:
        code, _, _ = file.read_text(encoding="utf-8").partition("\n# It prints:\n")
        assert 10 <= len(code.splitlines()) <= 40, file.name
        assert "?" in code.partition('"""')[2].partition('"""')[0], file.name


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.stem)
def test_example(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The comment at the end of the file is its output, up to trailing spaces."""
    if "frame" in file.read_text(encoding="utf-8"):
        pytest.importorskip("pandas")
    runpy.run_path(str(file))
    printed = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    _, _, shown = file.read_text(encoding="utf-8").partition("\n# It prints:\n")
    assert printed == [line.removeprefix("#").removeprefix(" ").rstrip() for line in shown.splitlines()]
