"""Exhibits that a paper adds to the pages of its claims."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from fedtheory.language.claim import Claim
from fedtheory.language.exhibits.charts import Chart


@dataclass(frozen=True)
class Finding:
    """One sentence of a source about what it observed, and whether that reproduces."""

    statement: str
    reproduces: bool
    evidence: str
    """The numbers, in a sentence."""


@dataclass(frozen=True)
class Display:
    """Display of an exhibit."""

    charts: Sequence[Chart]
    heading: str = ""
    """Empty where the charts stand among the figures of the page, without their own section."""
    findings: Sequence[Finding] = ()


@dataclass(frozen=True)
class Exhibit:
    """Something that claims of a paper show on their pages."""

    suits: Callable[[Claim], bool]
    """Whether a claim of the paper shows it."""
    show: Callable[[Claim], Display]
    """Computes it; `MissingExtra` leaves it out where an optional package is missing."""
