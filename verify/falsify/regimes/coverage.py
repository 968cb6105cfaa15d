"""Coverage of a search: for each level of each factor, its runs and their largest ratio."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from verify.falsify.regimes.evaluation import Seen
from verify.falsify.regimes.factors import Factor

_LARGEST = 90.0
"""Score above which it is not the logarithm of a ratio, because a side is zero or negative."""


@dataclass(frozen=True)
class Regime:
    """Runs at one level of one factor."""

    factor: str
    level: str
    runs: int
    """Number of runs to which the claim applies."""
    largest_ratio: float | None
    """Largest ratio of the smaller side, as claimed, to the other, in floats; None where no valid run has one."""

    @property
    def name(self) -> str:
        """Return the factor and its level as text."""
        return f"{self.factor}: {self.level}"


@dataclass(frozen=True)
class Pairs:
    """Numbers of pairs of levels of two factors in a search."""

    covered: int = 0
    all: int = 0
    """Number of pairs whose levels are both applicable."""
    given_up: int = 0
    """Number of pairs that were tried, but on no run of which the claim applied."""


NO_PAIRS = Pairs()
"""The counts of an empty search."""


def list_regimes(factors: Mapping[str, Factor], seen: Iterable[Seen]) -> tuple[Regime, ...]:
    """Return the regimes of all points at which a claim applies, factor by factor."""
    applicable = [one for one in seen if one.applies]
    found = []
    for name, factor in factors.items():
        by_level: dict[str, list[Seen]] = {}
        for one in applicable:
            level = one.point.get(name)
            if level in factor.levels:
                by_level.setdefault(factor.in_words(level), []).append(one)
        if len(by_level) > 1:
            order = [factor.in_words(level) for level in factor.levels]
            found += [_build_regime(name, words, by_level[words]) for words in order if words in by_level]
    return tuple(found)


def _build_regime(factor: str, words: str, seen: list[Seen]) -> Regime:
    scores = [one.score for one in seen if one.holds is not False and -_LARGEST < one.score < _LARGEST]
    return Regime(factor, words, len(seen), math.exp(max(scores)) if scores else None)
