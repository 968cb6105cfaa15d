"""Exhibits of papers: every part of a chart is drawn, and a made-up paper gets its exhibits and page."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from fedtheory.errors import InputError
from fedtheory.language import exhibits as ex
from fedtheory.language import registry
from fedtheory.language.folder import open_paper
from fedtheory.language.targets import expand
from report.figures.charts import draw_chart
from report.figures.style import BLACK as INK
from report.figures.style import CYCLE
from report.website import write_site

PAPER = """
from fedtheory import Claim, Source

CLAIM = Claim(
    id="made-up:fed-avg", kind="algorithm", title="An algorithm", implemented_by="fedtheory:fedavg",
    verdict="definition",
)
SOURCE = Source(key="made-up", title="Made up", authors="N. Body", year=2030, claims=(CLAIM,))
"""
EXHIBITS = """
from fedtheory import RATIONAL, Run, fedavg, quadratic
from fedtheory.errors import MissingExtra
from fedtheory.language.exhibits import (
    Axis, Chart, Coverage, Display, Exhibit, Finding, Level, Line, Page, RunFile, Table
)

def chart(name):
    line = Line(range(3), [1, 2, 4], "doubling")
    return Chart(name, Axis("$n$"), Axis("$2^n$", "log"), [line, Level(3)], "Powers of $2$.")

def missing(*_):
    raise MissingExtra("data", "the data set")

def page():
    array = RATIONAL.array
    problem = quadratic(array([[[2]], [[2]]]), array([[0], [2]]), array([3]))
    runs = {
        words: Run(problem, fedavg(problem, rounds=1, local_step_size=array([size])[0], local_steps=2))
        for words, size in (("As it is", "1"), ("With small steps", "1/100"))
    }
    return Page(
        "powers", "Powers of two", "The powers", "a chart and a table", "page 1", "All about $2^n$.",
        charts=[chart("growth")],
        table=Table(["n = 1"], [("value", ["two"])]),
        coverage=[Coverage("Covered?", "renard2022:thm-2.1", {"both": runs}, "the mean", "it is small")],
        program="print(2)",
        run_file=RunFile("two.toml", "A run with two clients", "[problem]"),
    )

EXHIBITS = [
    Exhibit(lambda claim: True, lambda claim: Display([chart("among-the-figures")])),
    Exhibit(lambda claim: True, lambda claim: Display([chart("apart")], "Seen", [Finding("It grows", False, "No.")])),
    Exhibit(lambda claim: True, missing),
    Exhibit(lambda claim: False, lambda claim: 1 / 0),
]
PAGES = [page, missing]
"""


def drawn(*parts: ex.Part, **more: object) -> str:
    """Return the picture of a chart with these parts."""
    axes = {"x": ex.Axis("across"), "y": ex.Axis("up")}
    keys = axes | {"caption": "A caption."} | more
    return draw_chart(ex.Chart("name", parts=parts, **keys), "name").svg


GROUND = ex.Line((0, 1, 2), (1, 2, 4))


@pytest.mark.parametrize(
    "part",
    [
        ex.Line((0, 1), (1, 2), "said", ex.ORANGE),
        ex.Line((0, 1), (1, 2), "said", ex.ORANGE, dash=None, marker="o", hollow=True),
        ex.Line((0, 1), (1, 2), "said", ex.ORANGE + len(CYCLE), steps=True),
        ex.Band((0, 1), (1, 2), (3, 4), "said", ex.ORANGE),
        ex.Level(3, "said", ex.ORANGE),
        ex.Mark(1, 3, "said", ex.ORANGE, "x", note="beside"),
    ],
    ids=lambda part: type(part).__name__,
)
def test_each_part_is_drawn(part: ex.Part) -> None:
    """Each part is drawn in its colour, with its label in the legend."""
    picture, without = drawn(GROUND, part), drawn(GROUND)
    assert CYCLE[ex.ORANGE].lower() in picture
    assert "<!-- said -->" in picture
    assert ("<!-- beside -->" in picture) == isinstance(part, ex.Mark)
    assert CYCLE[ex.ORANGE].lower() not in without
    assert "<!-- said -->" not in without


def test_a_span_is_thick_and_lets_others_show_through() -> None:
    """A span is drawn thick and transparent, without a label."""
    picture = drawn(GROUND, ex.Span(0, 1, 2, ex.RED))
    (style,) = [found for found in re.findall(r'style="([^"]*)"', picture) if CYCLE[ex.RED].lower() in found]
    assert "stroke-width: 4" in style
    assert "stroke-opacity: 0.45" in style


def test_black_is_for_what_others_are_compared_with() -> None:
    """Black is used for references, and is not in the palette."""
    assert INK not in CYCLE
    (style,) = re.findall(r'style="([^"]*stroke-dasharray[^"]*)"', drawn(GROUND, ex.Level(2)))
    assert f"stroke: {INK}" in style
    assert drawn(ex.Line((0, 1), (1, 2), colour=ex.BLACK)) != drawn(ex.Line((0, 1), (1, 2)))


def test_axes_legend_and_units_are_followed() -> None:
    """Ticks, limits, scales, the place of the legend and equal units change the picture."""
    plain = drawn(ex.Line((1, 2), (1, 20), "said"))
    assert "<!-- across -->" in plain
    assert "<!-- up -->" in plain
    for more in (
        {"x": ex.Axis("across", ticks=(1, 2))},
        {"x": ex.Axis("across", "log")},
        {"y": ex.Axis("up", high=40)},
        {"legend": ex.Legend("lower right", 7)},
        {"equal_units": True},
    ):
        assert drawn(ex.Line((1, 2), (1, 20), "said"), **more) != plain
    at_ticks = drawn(ex.Line((1, 2), (1, 20), "said"), x=ex.Axis("across", ticks=(1, 1.75)))
    assert "<!-- 1.75 -->" in at_ticks
    assert at_ticks.count("<use") < plain.count("<use")


def test_invalid_parts_are_refused() -> None:
    """An object that is no part is rejected with its type."""
    with pytest.raises(TypeError, match="expected a part of a chart, got str"):
        drawn("line")


@pytest.fixture
def paper(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of a made-up paper."""
    monkeypatch.setattr(registry, "_OPENED", {})
    for kept in (registry.all_claims, open_paper):
        kept.cache_clear()
    folder = tmp_path / "made_up"
    folder.mkdir()
    (folder / "__init__.py").write_text(PAPER, encoding="utf-8")
    (folder / "exhibits.py").write_text(EXHIBITS, encoding="utf-8")
    return folder


def site_of(paper: Path) -> dict[str, str]:
    """Return the site of the made-up paper."""
    target = paper.parent / "site"
    write_site(target, expand([str(paper)]))
    return {path.name: path.read_text(encoding="utf-8") for path in target.glob("*.html")}


def test_a_made_up_paper_shows_its_exhibits_and_its_page(paper: Path) -> None:
    """Exhibits that lack a package are left out; unsuitable ones are not computed."""
    pages = site_of(paper)
    assert set(pages) == {"index.html", "made-up.html", "made-up-fed-avg.html", "powers.html"}
    for listing in ("index.html", "made-up.html"):
        assert 'The powers: <a href="powers.html">a chart and a table</a>' in pages[listing]
    claim = pages["made-up-fed-avg.html"]
    assert claim.count("<svg") == 2
    assert claim.index("<h2>Figures</h2>") < claim.index("<h2>Seen</h2>") < claim.index("<td>It grows</td><td>no</td>")
    page = re.sub(r"<svg.*?</svg>", "", pages["powers.html"], flags=re.DOTALL)
    for words in (
        "<h1>Powers of two</h1>",
        "N. Body, <em>Made up</em>, page 1",
        '<td>value</td><td class="number">two</td>',
        "<h2>Covered?</h2>",
        "With small steps it promises at most",
        "for the mean, where the exact value is",
        ": it is small.",
        "<pre>print(2)</pre>",
        "save it as <code>two.toml</code>",
        "fedtheory simulate two.toml",
    ):
        assert words in page
    assert "$" not in page


def test_a_promise_is_not_quoted_where_a_claim_does_not_apply(paper: Path) -> None:
    """For a claim that does not apply the reason is shown instead of its bound."""
    answers = re.search(r"<li>both: (.*?)</li>", site_of(paper)["powers.html"], re.DOTALL)
    assert answers
    assert answers[1].startswith("As it is it does not apply, because of ")


@pytest.mark.parametrize(
    ("declared", "said"),
    [
        ("EXHIBITS = [1]", "expected an Exhibit, got 1"),
        ("PAGES = [1]", "expected a function that returns a Page, got 1"),
        (
            "from dataclasses import replace\nPAGES = [lambda: replace(page(), name='index')]",
            "a page of the site has this name already",
        ),
    ],
)
def test_mistakes_are_reported_in_a_sentence(paper: Path, declared: str, said: str) -> None:
    """A declaration of the wrong kind, and two pages with one name, are errors with a sentence."""
    with (paper / "exhibits.py").open("a", encoding="utf-8") as file:
        file.write(declared + "\n")
    with pytest.raises(InputError, match=said):
        site_of(paper)
