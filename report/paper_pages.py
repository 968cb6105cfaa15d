"""Additional pages of papers: charts, a table, and the predictions of theory for their runs."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from fedtheory.engine.run import Run
from fedtheory.errors import MissingExtra
from fedtheory.language.claim import Claim
from fedtheory.language.exhibits import Coverage, Page
from fedtheory.language.exhibits.declarations import pages_of
from fedtheory.language.numbers import format_decimal
from fedtheory.language.registry import find, papers
from fedtheory.language.source import Source
from report.figures.charts import draw_chart
from report.figures.style import Figure
from verify.check import check


@dataclass(frozen=True)
class PaperPage:
    """A page of a paper, with the fields of its template."""

    page: Page
    source: Source
    file: str
    claims: Sequence[Claim]
    """Claims about the algorithm or experiment of the page."""
    figures: Sequence[Figure]
    coverage: Sequence[tuple[str, Mapping[str, str]]]
    """Headings, and for each run by name whether a claim covers it."""


def make_paper_pages(keys: Collection[str]) -> list[PaperPage]:
    """Return the pages of some papers, without those that need a missing optional package."""
    return [_build_page(page, source) for page, source in _load_pages(keys)]


def _load_pages(keys: Collection[str]) -> Iterator[tuple[Page, Source]]:
    for paper in (paper for key, paper in papers().items() if key in keys):
        for page in pages_of(paper):
            try:
                yield page(), paper.source
            except MissingExtra:
                continue


def _build_page(page: Page, source: Source) -> PaperPage:
    return PaperPage(
        page,
        source,
        f"{page.name}.html",
        [find(claim) for claim in page.claims],
        [draw_chart(chart, chart.name) for chart in page.charts],
        [(coverage.heading, _list_answers(coverage)) for coverage in page.coverage],
    )


def _list_answers(coverage: Coverage) -> dict[str, str]:
    claim = find(coverage.claim)
    return {
        name: " ".join(_write_answer(claim, run, words, coverage) for words, run in changed.items())
        for name, changed in coverage.runs.items()
    }


def _write_answer(claim: Claim, run: Run, words: str, coverage: Coverage) -> str:
    """Return whether a claim covers a run, and its bound there."""
    found = check(claim, run)
    if found.worst is None:
        return f"{words} it does not apply, because of {found.reason}."
    remark = f": {coverage.remark}" if coverage.remark else ""
    return (
        f"{words} it promises at most {format_decimal(found.worst.rhs)} for {coverage.measured}, "
        f"where the exact value is {format_decimal(found.worst.lhs)}{remark}."
    )
