"""The section on the search of a verdict: regimes, pairs of regimes, and undecided runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from fedtheory.language.numbers import format_decimal
from verify.claim_verdict import ClaimVerdict
from verify.falsify.regimes import Pairs, Regime
from verify.left_open import describe_left_open


@dataclass(frozen=True)
class Level:
    """Runs at one level of a factor."""

    name: str
    runs: int
    largest_ratio: str
    """Empty if no run has a ratio."""


@dataclass(frozen=True)
class SearchSection:
    """The regimes that the search of a verdict tried."""

    runs: int
    varied: Sequence[tuple[str, Sequence[Level]]]
    """The factor, and its levels."""
    pairs: Pairs
    left_open: str | None
    """Description of runs that no exact check decides."""


def make_search_section(verdict: ClaimVerdict) -> SearchSection | None:
    """Return the search of a verdict; None if no regime was tried."""
    if not verdict.regimes:
        return None
    varied = [
        (factor, [_build_level(regime) for regime in regimes])
        for factor, regimes in groupby(verdict.regimes, key=lambda regime: regime.factor)
    ]
    left_open = describe_left_open(verdict.left_open) if verdict.left_open else None
    return SearchSection(verdict.searched, varied, verdict.pairs, left_open)


def _build_level(regime: Regime) -> Level:
    largest = "" if regime.largest_ratio is None else format_decimal(regime.largest_ratio, 3)
    return Level(regime.level, regime.runs, largest)
