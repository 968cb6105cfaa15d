"""The search of a verdict on a page: the regimes it tried, how many pairs of them, and what it left open."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from fedtheory.language.numbers import decimal
from verify.falsify.regimes import Pairs
from verify.left_open import describe_left_open
from verify.verdict import ClaimVerdict


@dataclass(frozen=True)
class Level:
    """Runs at one level of what is varied."""

    name: str
    runs: int
    largest_ratio: str
    """Empty where no run has one."""


@dataclass(frozen=True)
class SearchSection:
    """The regimes that the search of a verdict tried."""

    runs: int
    varied: Sequence[tuple[str, Sequence[Level]]]
    """The factor that is varied, and its levels."""
    pairs: Pairs
    left_open: str | None
    """Runs that no exact check decides, in words."""


def search_section(verdict: ClaimVerdict) -> SearchSection | None:
    """The search of a verdict; None where no regime was tried."""
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
