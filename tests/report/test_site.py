"""The site is complete, self-contained, reproducible, and agrees with the verdicts."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from fedtheory import arithmetic
from fedtheory.language.registry import all_claims, find
from fedtheory.runfile import parse_run
from report.drawing import PaperTask, load_templates
from report.pages import name_page
from report.website import write_site
from verify.check import check

pytestmark = pytest.mark.long

CLAIMS = (
    "renard2022:algorithm-1",
    "renard2022:assumption-1",
    "renard2022:goal-rate",
    "renard2022:thm-2.1",
    "renard2022:lemma-2.2",
    "renard2022:lemma-2.2.fixed",
    "renard2022:lemma-2.3",
)
ALL_PAGES = {name_page(claim) for claim in all_claims().values()}
"""Names of pages of a complete site, of which these tests write only some."""
VOID = {"meta", "br", "link", "img", "input", "hr"}


class Page(HTMLParser):
    """Parser that collects links of a page and checks that its tags are nested."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.links: list[str] = []
        self.ids: list[str] = []
        self.sources: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Record links, ids and open tags."""
        values = dict(attrs)
        if tag not in VOID:
            self.open.append(tag)
        if tag == "a" and values.get("href"):
            self.links.append(str(values["href"]))
        if values.get("id"):
            self.ids.append(str(values["id"]))
        if values.get("src"):
            self.sources.append(str(values["src"]))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Handle self-closing tags of SVG."""
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        """Assert that tags close in order."""
        assert self.open
        assert self.open[-1] == tag
        self.open.pop()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a site of a few claims of every kind, with the toy problem."""
    target = Path(tmp_path_factory.mktemp("site"))
    write_site(target, CLAIMS, jobs=2)
    for name, text in PaperTask("renard2022").draw(load_templates(())).files.items():
        (target / name).write_text(text, encoding="utf-8")
    return target


def pages(folder: Path) -> dict[str, str]:
    """Return all pages of a site."""
    return {path.name: path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.html"))}


def test_there_is_a_page_for_each_claim_the_source_the_errata_and_the_toy_problem(folder: Path) -> None:
    """There is a page for each claim, the source, the errata and the toy problem."""
    names = set(pages(folder))
    own = {"index.html", "errata.html", "slack.html", "renard2022.html", "toy-problem.html"}
    assert own | {"renard2022-thm-2-1.html"} <= names
    assert len(names) == len(CLAIMS) + len(own)


def test_pages_are_well_formed_and_link_to_each_other_only(folder: Path) -> None:
    """Tags are nested, ids are unique, and links lead to existing pages and headings of the site."""
    for name, text in pages(folder).items():
        page = Page(text)
        assert not page.open, name
        assert len(page.ids) == len(set(page.ids)), name
        assert set(page.sources) == ({"explorer.js"} if 'id="explorer"' in text else set()), name
        assert (folder / "explorer.js").is_file()
        assert not re.search(r"(src|href)=\"https?:", text)
        for link in page.links:
            file, _, anchor = link.partition("#")
            assert not file or (folder / file).is_file() or file in ALL_PAGES, f"{name} links to {link}"
            target = Page((folder / file).read_text(encoding="utf-8")) if file and anchor else page
            assert not anchor or anchor in target.ids, f"{name} links to {link}"


def test_every_page_of_a_claim_links_to_the_front_page_its_source_and_the_errata(folder: Path) -> None:
    """Every page links to the front page and its source, and that of a refuted claim to its erratum."""
    for name, text in pages(folder).items():
        if name.startswith("renard2022-"):
            links = Page(text).links
            assert {"index.html", "renard2022.html"} <= set(links), name
            assert "errata.html" in {link.partition("#")[0] for link in links}, name
    assert "errata.html#renard2022-lemma-2-2" in pages(folder)["renard2022-lemma-2-2.html"]


def test_no_page_shows_a_number_that_is_none(folder: Path) -> None:
    """No page contains nan, inf or None."""
    for name, text in pages(folder).items():
        shown = re.sub(r"<svg.*?</svg>|<[^>]+>", " ", text, flags=re.DOTALL)
        assert not re.search(r"\b(nan|inf|None)\b", shown), name


def test_figures_are_there(folder: Path) -> None:
    """The theorem has four figures, the drift lemma two, the rate one, the toy problem three."""
    counts = {name: text.count("<figure") for name, text in pages(folder).items()}
    assert counts["renard2022-thm-2-1.html"] == 4
    assert counts["renard2022-lemma-2-3.html"] == 2
    assert counts["renard2022-goal-rate.html"] == 1
    assert counts["toy-problem.html"] == 3


def test_a_counterexample_can_be_run_from_its_page(folder: Path) -> None:
    """The run file of a refuted claim refutes it exactly."""
    entries = json.loads((folder / "verdicts.json").read_text(encoding="utf-8"))["claims"]
    refuted = [entry for entry in entries if entry["verdict"] == "refuted"]
    assert {entry["id"] for entry in refuted} == {"renard2022:goal-rate", "renard2022:lemma-2.2"}
    import tomllib

    for entry in refuted:
        run = parse_run(tomllib.loads(entry["run_file"]), arithmetic.RATIONAL)
        assert check(find(entry["id"]), run).holds is False
        lines = entry["run_file"].splitlines()
        page = (folder / (entry["id"].replace(":", "-").replace(".", "-") + ".html")).read_text(encoding="utf-8")
        assert lines[0] in page


def test_the_sampled_band_covers_the_exact_loss(folder: Path) -> None:
    """The 99 % Monte-Carlo interval contains the exact loss at nearly all rounds."""
    text = (folder / "toy-problem.html").read_text(encoding="utf-8")
    covered = [(int(a), int(b)) for a, b in re.findall(r">(\d+) of (\d+)<", text)]
    assert len(covered) == 2
    assert all(inside >= 0.9 * rounds for inside, rounds in covered)


@pytest.mark.slow
def test_the_same_command_gives_the_same_bytes(tmp_path: Path) -> None:
    """Two processes with different hash seeds write the same site."""
    import os
    import subprocess
    import sys

    for seed in ("1", "2"):
        command = [sys.executable, "-m", "fedtheory", "report", "-o", str(tmp_path / seed), "--jobs", "2"]
        subprocess.run(command, check=True, env=os.environ | {"PYTHONHASHSEED": seed}, capture_output=True)
    first = {path.name: path.read_bytes() for path in (tmp_path / "1").iterdir()}
    second = {path.name: path.read_bytes() for path in (tmp_path / "2").iterdir()}
    assert first == second
