"""The search of a verdict on a page: the regimes and pairs that it tried, and runs that are left open."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from fedtheory.language.numbers import decimal
from verify.claim_verdict import ClaimVerdict
from verify.falsify.regimes import Pairs
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
        (
            name,
            [
                Level(one.level, one.runs, "" if one.largest_ratio is None else decimal(one.largest_ratio, 3))
                for one in of
            ],
        )
        for name, of in groupby(verdict.regimes, key=lambda one: one.factor)
    ]
    left_open = describe_left_open(verdict.left_open) if verdict.left_open else None
    return SearchSection(verdict.searched, varied, verdict.pairs, left_open)
