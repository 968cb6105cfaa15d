"""One sentence of a source about a figure, and whether it reproduces."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    """One sentence of the source about a figure."""

    figure: str
    """Id of the claim."""
    statement: str
    reproduces: bool
    evidence: str
    """The numbers, in a sentence."""


def number_or_divergence(value: float) -> str:
    """A number of a run, or that it diverges."""
    return "divergence" if value == float("inf") else f"{value:.3g}"
