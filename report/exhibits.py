"""Figures and tables that a paper adds to the page of a claim."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from fedtheory.errors import MissingExtra
from fedtheory.language.claim import Claim
from fedtheory.language.exhibits import Display, Finding
from fedtheory.language.exhibits.declarations import exhibits_for
from fedtheory.language.registry import find_publisher
from report.figures.charts import draw_chart
from report.figures.style import Figure


@dataclass(frozen=True)
class ExhibitSection:
    """An exhibit on a page."""

    heading: str
    """Empty if the figures are shown together with those of the page."""
    figures: Sequence[Figure]
    findings: Sequence[Finding]


def collect_exhibits(claim: Claim) -> list[ExhibitSection]:
    """Return the exhibits of a claim, without those that need a missing optional package."""
    return [_build_section(display, claim) for display in _list_displays(claim)]


def _list_displays(claim: Claim) -> Iterator[Display]:
    paper = find_publisher(claim)
    for exhibit in () if paper is None else exhibits_for(paper, claim):
        try:
            yield exhibit.show(claim)
        except MissingExtra:
            continue


def _build_section(display: Display, claim: Claim) -> ExhibitSection:
    """Return the section of a display: its figures and findings."""
    figures = [draw_chart(chart, f"{claim.slug}-{chart.name}") for chart in display.charts]
    return ExhibitSection(display.heading, figures, display.findings)
