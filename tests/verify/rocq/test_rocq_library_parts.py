"""The library of Rocq theories has one file of each name, each after the files that it needs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from fedtheory.language import paper_parts
from fedtheory.language.paper_parts import merge_named, read_paper_texts
from verify.rocq.library_parts import BASE, collect_words, list_existence_theorems, list_instances, read_library


def test_files_come_after_those_that_they_need() -> None:
    """Rocq compiles them in this order; files of papers are among them."""
    seen: set[str] = set()
    for path, text in read_library().items():
        required = [
            name for line in re.findall(r"^Require Import (.*)\.$", text, re.MULTILINE) for name in line.split()
        ]
        assert {*required} <= seen, path
        seen.add(Path(path).stem)
    assert seen > read_paper_texts("rocq/library", ".v").keys() > {"Schedule", "Gaps", "Messages"}
    assert tuple(Path(path).stem for path in read_library())[: len(BASE)] == BASE


def test_no_file_hides_another() -> None:
    """A paper's file with the name of one of the library would change what every theorem rests on."""
    with pytest.raises(ValueError, match="two files are called Space: rename one of them"):
        merge_named([("Space", "Axiom false : False."), ("Step", ""), ("Space", "")])


def test_papers_with_one_name_for_two_files_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Papers whose files have equal names, of one paper or of two, are refused."""
    for paper in ("one", "other"):
        (tmp_path / paper / "rocq" / "library").mkdir(parents=True)
        (tmp_path / paper / "rocq" / "library" / "Clocks.v").write_text(paper)
    monkeypatch.setattr(paper_parts, "FOLDER", tmp_path)
    monkeypatch.setattr(paper_parts, "list_paper_folders", lambda: ("one",))
    assert read_paper_texts("rocq/library", ".v") == {"Clocks": "one"}
    monkeypatch.setattr(paper_parts, "list_paper_folders", lambda: ("one", "other"))
    with pytest.raises(ValueError, match="two files are called Clocks"):
        read_paper_texts("rocq/library", ".v")


def test_every_file_of_instances_shows_that_something_exists() -> None:
    """No library file admits or assumes anything, and words of papers' files are words of the library."""
    assert {"TwoClients", "NoisyStaleInstance", "LipschitzInstance"} <= {*list_instances()}
    assert {"stale_scheme", "lipschitz_servers", "alike_unbiased", "two_clients"} <= {*list_existence_theorems()}
    assert {"asynchronous", "two_clients"} <= collect_words()
    for text in read_library().values():
        assert not re.search(r"^\s*(Axiom|Parameter|Admitted|Conjecture)\b", text, re.MULTILINE)
