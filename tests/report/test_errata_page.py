"""The errata page: entries, links, and run files."""

from __future__ import annotations

import html
import re
import tomllib
from pathlib import Path

import pytest
from test_site import ALL_PAGES, Page

from fedtheory.language.registry import claims_of, find
from report.drawing import ErrataTask, load_templates
from report.errata import ERRATA_PAGE, list_ledgers
from report.website import write_site
from verify.counterexamples import find_counterexample

SOURCES = ("lecture27", "liu2022", "renard2022")
SLIP = "lecture27:lemma-3.proof.factor"


def write_small_site(folder: Path, ids: tuple[str, ...]) -> None:
    """Write a site of a few claims."""
    write_site(folder, ids)


@pytest.fixture(scope="module")
def text() -> str:
    """Return the page of three sources."""
    ids = [claim.id for source in SOURCES for claim in claims_of(source)]
    return ErrataTask(ids).draw(load_templates(())).files[ERRATA_PAGE]


def test_every_refuted_claim_is_on_the_page(text: str) -> None:
    """Every refuted claim has an anchor, its corrections, and its kind of error."""
    page = Page(text)
    refuted = [claim for source in SOURCES for claim in claims_of(source) if claim.verdict == "refuted"]
    assert {claim.slug for claim in refuted} | set(SOURCES) == set(page.ids)
    for claim in refuted:
        assert f"{claim.slug}.html" in page.links
    repairs = [c for source in SOURCES for c in claims_of(source) if c.corrects is not None]
    assert {f"{repair.slug}.html" for repair in repairs} <= set(page.links)


def test_the_page_is_well_formed_and_links_to_claims_and_sources(text: str) -> None:
    """Tags are closed, anchors exist, and no resource is remote."""
    page = Page(text)
    assert not page.open
    assert len(page.ids) == len(set(page.ids))
    assert not page.sources
    assert not re.search(r"(src|href)=\"https?:", text)
    for link in page.links:
        file, _, anchor = link.partition("#")
        assert file in ALL_PAGES | {"", "index.html"}, link
        assert not anchor or anchor in page.ids or link == "index.html#sources", link


def test_formulas_are_typeset(text: str) -> None:
    """The visible text contains no LaTeX."""
    shown = re.sub(r"<math.*?</math>|<style.*?</style>|<pre>.*?</pre>|<[^>]+>", " ", text, flags=re.DOTALL)
    assert not re.search(r"[\\$]", shown)
    assert not re.search(r"\b(nan|inf|None)\b", shown)


def test_run_files_can_be_taken_from_the_page(text: str) -> None:
    """Each run file is the stored counterexample, next to the command that checks it."""
    blocks = [html.unescape(block) for block in re.findall(r"<pre>(.*?)</pre>", text, flags=re.DOTALL)]
    runs, commands = blocks[0::2], blocks[1::2]
    assert len(runs) == len(commands) > 10
    for run, command in zip(runs, commands, strict=True):
        name, claim_id = command.split()[1:3]
        assert name == "check"
        assert tomllib.loads(run) == find_counterexample(find(claim_id))


def test_a_ledger_counts_its_faults() -> None:
    """The counts of a source add up to its entries."""
    for ledger in list_ledgers(claim for source in SOURCES for claim in claims_of(source)):
        assert sum(count for _, count in ledger.counts) == len(ledger.entries) > 0


def test_the_index_links_to_the_errata(tmp_path: Path) -> None:
    """The index links to the errata if a claim is refuted."""
    write_small_site(tmp_path, (SLIP, f"{SLIP}.fixed"))
    assert ERRATA_PAGE in Page((tmp_path / "index.html").read_text(encoding="utf-8")).links
    assert find(SLIP).title in (tmp_path / ERRATA_PAGE).read_text(encoding="utf-8")


def test_a_site_without_refuted_claims_has_no_errata(tmp_path: Path) -> None:
    """Without refuted claims there is neither an errata page nor a link to it."""
    write_small_site(tmp_path, (f"{SLIP}.fixed",))
    assert not (tmp_path / ERRATA_PAGE).exists()
    assert ERRATA_PAGE not in Page((tmp_path / "index.html").read_text(encoding="utf-8")).links
