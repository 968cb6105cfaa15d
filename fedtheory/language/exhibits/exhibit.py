"""Exhibits that a paper adds to the pages of its claims."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from fedtheory.language.claim import Claim
from fedtheory.language.exhibits.charts import Chart


@dataclass(frozen=True)
class Finding:
    """One sentence of a source about an observation, and whether it is reproduced."""

    statement: str
    reproduces: bool
    evidence: str
    """The reproduced numbers, in a sentence."""


@dataclass(frozen=True)
class Display:
    """Content of an exhibit."""

    charts: Sequence[Chart]
    heading: str = ""
    """Heading; empty if the charts belong to the figures of the page, without their own section."""
    findings: Sequence[Finding] = ()


@dataclass(frozen=True)
class Exhibit:
    """Additional content on the pages of a paper's claims."""

    suits: Callable[[Claim], bool]
    """Predicate: whether a claim of the paper shows the exhibit."""
    show: Callable[[Claim], Display]
    """Function that computes the content; if it raises `MissingExtra`, the exhibit is omitted."""
