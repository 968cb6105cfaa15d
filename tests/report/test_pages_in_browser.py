"""Every kind of page in Chromium, on desktop and phone: widths, scripts, links and texts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

import pytest

from fedtheory.cli import run as fedtheory
from fedtheory.language.registry import all_claims
from report import pages
from report.drawing import ErrataTask, PaperTask, PlanTask, load_templates
from report.website import ClaimRow, _Site, list_groups, write_site
from verify.claim_verdict import ClaimVerdict

if TYPE_CHECKING:
    from selenium.webdriver import Chrome

TARGETS = (
    "renard2022:thm-2.1",
    "renard2022:lemma-2.2",
    "renard2022:lemma-2.2.fixed",
    "fraboni2022:thm-1",
    "lecture27:thm-2",
)
ALL_PAGES = {pages.name_page(claim) for claim in all_claims().values()}
PROBLEM = """
[problem]
kind = "quadratic"
hessians = [[["1"]], [["1"]]]
linear = [["1"], ["-1"]]
start = ["2"]
"""
RUN = f"""{PROBLEM}noise = "1/4"
[algorithm]
local_step_size = "1/8"
local_steps = 4
rounds = 20
clock = {{ policy = "async", times = [1, 3] }}
"""
SWEEP = f"""claims = ["renard2022:thm-2.1", "renard2022:lemma-2.3"]
{PROBLEM}[algorithm]
rounds = 5
[grid]
algorithm.local_step_size = ["1/8", "1/4", 4]
algorithm.local_steps = [1, 2, 4]
"""
TOO_WIDE = """
const scrolls = (element) => element
  && (/auto|scroll/.test(getComputedStyle(element).overflowX) || scrolls(element.parentElement));
const wide = [...document.body.querySelectorAll('*')].filter((element) =>
  element.getBoundingClientRect().right > document.documentElement.clientWidth + 1
  && element.checkVisibility() && !element.closest('svg svg, math, .sr') && !scrolls(element.parentElement));
if (document.documentElement.scrollWidth > document.documentElement.clientWidth) wide.push(document.documentElement);
return wide.map((element) => element.tagName + '.' + element.className + ' ' + element.textContent.slice(0, 60));
"""
WITHOUT_WORDS = """
const named = (element) => element.getAttribute('aria-label') || element.closest('[aria-hidden=true]')
  || document.getElementById(element.getAttribute('aria-labelledby'))?.textContent.trim() || element.alt;
const silent = [...document.querySelectorAll('svg, img')].filter((element) => !named(element));
return silent.map((element) => element.outerHTML.slice(0, 200));
"""
LINKS = (
    "return [...document.querySelectorAll('a[href], svg a')].map((a) => new URL(a.getAttribute('href'), location).href)"
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return pages of all claims, of a run, of plans, of algorithms and of a sweep; front page and errata."""
    folder = Path(tmp_path_factory.mktemp("site"))
    (folder / "mine.toml").write_text(RUN)
    write_site(folder, TARGETS, runs=[str(folder / "mine.toml")], jobs=2)
    environment = load_templates(tuple((claim.id, pages.name_page(claim)) for claim in all_claims().values()))
    for task in (PaperTask("renard2022"), PaperTask("landmarks"), PlanTask(), ErrataTask(list(all_claims()))):
        for name, text in task.draw(environment).files.items():
            (folder / name).write_text(text, encoding="utf-8")
    _statements(folder)
    _lists(folder)
    _sweep(folder)
    planned = ["plan", str(folder / "mine.toml"), "--source", "renard2022", "-o", str(folder / "own-plan.html")]
    assert fedtheory(planned) == 0
    return folder


def _statements(folder: Path) -> None:
    """Write pages of all other claims, without runs and worst cases."""
    environment = load_templates(())
    for claim in (claim for claim in all_claims().values() if claim.id not in TARGETS):
        verdict = ClaimVerdict(claim.id, claim.verdict or "supported", 1, 1, 0, 0, 0.25, None, None, 0.0)
        page = pages.make_claim_page(verdict, [])
        text = environment.get_template("claim.html").render(page=page, before=None, after=None)
        (folder / page.file).write_text(text, encoding="utf-8")
        if page.certificate is not None:
            (folder / page.certificate.file).write_text(page.certificate.content, encoding="utf-8")
        if page.theorem is not None:
            (folder / page.theorem.file).write_text(page.theorem.content, encoding="utf-8")


def _lists(folder: Path) -> None:
    """Write the front page and those of the sources, with recorded verdicts."""
    found = [
        ClaimVerdict(claim.id, claim.verdict, 1, 1, 0, 0, 0.5, None, None, 0.0)
        for claim in all_claims().values()
        if claim.verdict is not None
    ]
    site = _Site(folder, list_groups([ClaimRow.from_verdict(verdict) for verdict in found]), [])
    site.write_index()
    site.finish()


def _sweep(folder: Path) -> None:
    (folder / "design.toml").write_text(SWEEP)
    table = folder / "table.parquet"
    assert fedtheory(["sweep", str(folder / "design.toml"), "-o", str(table)]) == 0
    assert fedtheory(["report", "--sweep", str(table), "-o", str(folder)]) == 0


@pytest.fixture(params=["desk", "phone"])
def browser(request: pytest.FixtureRequest) -> Iterator[Chrome]:
    """Yield both browsers."""
    return request.getfixturevalue(request.param)


@pytest.mark.slow
def test_every_page(browser: Chrome, folder: Path) -> None:
    """Only scrolling boxes exceed the page width; scripts run; links work; pictures have texts."""
    files = sorted(folder.glob("*.html"))
    assert {"index.html", "errata.html", "run-mine.html", "table.html", "fraboni2022.html"} <= {f.name for f in files}
    for file in files:
        browser.get(file.as_uri())
        assert browser.execute_script(TOO_WIDE) == [], file.name
        assert browser.execute_script(WITHOUT_WORDS) == [], file.name
        assert [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"] == [], file.name
        for link in set(browser.execute_script(LINKS)):
            target = Path(unquote(urlsplit(link).path))
            assert target.is_file() or target.name in ALL_PAGES, f"{file.name}: {link}"


@pytest.mark.slow
def test_the_search(browser: Chrome, folder: Path) -> None:
    """Words, Greek letters, formulas and filters select statements, without a network."""
    browser.get((folder / "index.html").as_uri())
    shown = "return [...document.querySelectorAll('tr[data-text]:not([hidden]) .id')].map((id) => id.textContent)"
    words, verdict, _ = browser.find_elements("css selector", "form.search input, form.search select")
    assert len(browser.execute_script(shown)) == len(all_claims())

    def found(text: str) -> list[str]:
        words.clear()
        words.send_keys(text)
        ids: list[str] = browser.execute_script(shown)
        return ids

    assert found("renard2022:thm-2.1.sharp") == ["renard2022:thm-2.1.sharp"]
    assert "renard2022:thm-2.1" in found("ζ drift") + found("18 tau^2 eta^2 L zeta^2")
    assert found("no such words") == []
    assert browser.find_element("css selector", "form.search output").text.startswith("0 of")
    assert "renard2022:thm-2.1" in found("convergence fedavg")
    verdict.send_keys("refuted")
    assert {all_claims()[claim_id].verdict for claim_id in found("lemma")} == {"refuted"}


@pytest.mark.slow
def test_a_click_in_the_graph_opens_the_page(desk: Chrome, folder: Path) -> None:
    """Boxes of the graph are links, also by keyboard."""
    desk.get((folder / "renard2022.html").as_uri())
    box = desk.find_element("css selector", ".graph a[href='renard2022-thm-2-1.html']")
    assert "proved" in box.get_attribute("aria-label")
    desk.execute_script("arguments[0].focus()", box)
    box.send_keys("\ue007")
    assert desk.current_url.endswith("renard2022-thm-2-1.html")
