"""Exporters of papers are found in their folders, and the first one that covers a claim writes its theorem."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from verify.rocq import paper_exports, papers
from verify.rocq.paper_exports import PaperExports

CLAIM: Any = SimpleNamespace(id="t:one")


def test_every_paper_with_exporters_is_found() -> None:
    """Each folder with a module of exporters adds one entry, and each entry adds something."""
    found = paper_exports.load_exports()
    assert len(found) == len([*Path(papers.__path__[0]).glob("*/exporters.py")])
    assert all(one.exporters or one.names for one in found)


def test_the_first_exporter_that_covers_a_claim_writes_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Exporters are tried in the order of papers and of their lists; those that do not cover a claim return None."""
    asked: list[str] = []

    def exporter(name: str, covers: str) -> Any:
        def export(claim: Any, certificate: object, _export_id: object) -> Any:
            asked.append(name)
            return (name, certificate) if claim.id == covers else None

        return export

    first, second = exporter("first", "t:other"), exporter("second", "t:one")
    both = (PaperExports(exporters=(first,)), PaperExports(exporters=(second, exporter("third", "t:one"))))
    monkeypatch.setattr(paper_exports, "load_exports", lambda: both)
    assert paper_exports.export_by_paper(CLAIM, "a certificate", lambda _id: None) == ("second", "a certificate")
    assert asked == ["first", "second"]
    assert paper_exports.export_by_paper(SimpleNamespace(id="t:none"), None, lambda _id: None) is None


def test_vocabularies_of_papers_come_in_their_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """Papers whose vocabulary does not cover a combination are passed over."""
    both = (PaperExports(), PaperExports(vocabulary=lambda claim, _certificate: claim.id))
    monkeypatch.setattr(paper_exports, "load_exports", lambda: both)
    assert [*paper_exports.list_vocabularies(CLAIM, None)] == ["t:one"]
