"""The front page of a new site while its claims are being checked."""

from __future__ import annotations

from pathlib import Path

import pytest

from report.progress_page import ProgressPage

TARGETS = ["renard2022:thm-2.1", "renard2022:lemma-2.2", "liu2022:thm-1"]


def test_the_page_tells_what_is_checked_and_how_far(tmp_path: Path) -> None:
    """The page reloads itself, and other listeners still receive the progress."""
    progress: list[tuple[int, int]] = []
    index = tmp_path / "site" / "index.html"
    waiting = ProgressPage(index, TARGETS, lambda done, whole: progress.append((done, whole)))
    waiting(48, 22_689)
    text = index.read_text()
    assert 'http-equiv="refresh"' in text
    assert "3 statements" in text
    assert "48 of about 22,689 checks" in text
    assert "2 statements" in text
    assert "1 statement<" in text
    assert progress == [(48, 22_689)]


def test_it_is_written_every_few_seconds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr("report.progress_page.monotonic", lambda: now)
    index = tmp_path / "index.html"
    waiting = ProgressPage(index, TARGETS, lambda _done, _whole: None)
    for now, shown in ((100.0, "10 of"), (101.0, "10 of"), (104.0, "30 of")):
        waiting(int(now - 100) * 5 + 10, 100)
        assert shown in index.read_text()


def test_it_goes_on_where_a_command_was_stopped(tmp_path: Path) -> None:
    """A page of an interrupted command contains no results, and is replaced."""
    index = tmp_path / "index.html"
    for done in (10, 50):
        ProgressPage(index, TARGETS, lambda _done, _whole: None)(done, 100)
        assert f"{done} of about 100" in index.read_text()


def test_one_statement_is_one(tmp_path: Path) -> None:
    """One statement is counted in the singular."""
    index = tmp_path / "index.html"
    ProgressPage(index, TARGETS[:1], lambda _done, _whole: None)(1, 2)
    assert "1 statement is being checked" in index.read_text()


def test_a_front_page_that_is_there_stays(tmp_path: Path) -> None:
    """A front page with earlier results is kept until new ones replace it."""
    index = tmp_path / "index.html"
    index.write_text("found before")
    ProgressPage(index, TARGETS, lambda _done, _whole: None)(1, 2)
    assert index.read_text() == "found before"
