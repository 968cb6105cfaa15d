"""Coverage of a search: each level of each factor, with its runs and their largest ratio."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from verify.falsify.regimes.evaluation import Seen
from verify.falsify.regimes.factors import Factor

_LARGEST = 90.0
"""Score from which on it is no logarithm of a ratio: a side is zero or negative."""


@dataclass(frozen=True)
class Regime:
    """Runs at one level of one factor."""

    factor: str
    level: str
    runs: int
    """To which the claim applies."""
    largest_ratio: float | None
    """Ratio of the side claimed to be smaller to the other, in floats; None where no run that satisfies it has one."""

    @property
    def name(self) -> str:
        """The factor and its level."""
        return f"{self.factor}: {self.level}"


@dataclass(frozen=True)
class Pairs:
    """Number of pairs of levels of two factors that a search has tried together."""

    covered: int = 0
    all: int = 0
    """Pairs of levels that each apply."""
    given_up: int = 0
    """Pairs of these that some runs had, to none of which the claim applied."""


NO_PAIRS = Pairs()
"""Those of a search that tried nothing."""


def covered(factors: Mapping[str, Factor], seen: Iterable[Seen]) -> tuple[Regime, ...]:
    """The regimes of all points at which a claim applies, factor by factor."""
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
            found += [_regime(name, words, by_level[words]) for words in order if words in by_level]
    return tuple(found)


def _regime(factor: str, words: str, seen: list[Seen]) -> Regime:
    scores = [one.score for one in seen if one.holds is not False and -_LARGEST < one.score < _LARGEST]
    return Regime(factor, words, len(seen), math.exp(max(scores)) if scores else None)
