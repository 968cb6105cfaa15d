"""Progress outside a terminal: occasional lines, and one at the end."""

from __future__ import annotations

import pytest

from fedtheory.api import progress as module


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Report every step."""
    monkeypatch.setattr(module, "_PATIENCE", 0.0)


@pytest.mark.usefixtures("impatient")
def test_counts_where_all_is_known(capsys: pytest.CaptureFixture[str]) -> None:
    """Progress is a count if the total is known."""
    tell = module._print_lines("grading")
    for done in (1, 2, 3):
        tell(done, 3)
    assert capsys.readouterr().err.splitlines() == ["grading: 1 of 3", "grading: 2 of 3", "grading: 3 of 3"]


@pytest.mark.usefixtures("impatient")
def test_a_part_where_all_is_not_known(capsys: pytest.CaptureFixture[str]) -> None:
    """Progress is a percentage otherwise, and never decreases."""
    tell = module._print_lines("verified")
    for done, whole in ((5, 10), (5, 20), (18, 20)):
        tell(done, whole)
    assert capsys.readouterr().err.splitlines() == ["verified: 5 of 10", "verified: about 50%", "verified: about 90%"]


def test_the_end_is_reported_where_there_was_a_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The end is reported if there was a line before; short work is silent."""
    tell = module._print_lines("grading")
    tell(2, 2)
    monkeypatch.setattr(module, "_PATIENCE", 0.0)
    tell(1, 2)
    monkeypatch.setattr(module, "_PATIENCE", 3600.0)
    tell(2, 2)
    assert capsys.readouterr().err.splitlines() == ["grading: 1 of 2", "grading: 2 of 2"]


@pytest.mark.usefixtures("impatient")
def test_a_line_is_not_repeated(capsys: pytest.CaptureFixture[str]) -> None:
    """The same line is not printed twice, as during exact checks at the end of a search."""
    tell = module._print_lines("seconds of search")
    for done in (59, 60, 60, 60):
        tell(done, 60)
    assert capsys.readouterr().err.splitlines() == ["seconds of search: 59 of 60", "seconds of search: 60 of 60"]
