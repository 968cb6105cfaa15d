"""A covering design: rows of levels that contain every pair of levels of two factors, if the claim allows it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from random import Random

from verify.falsify.regimes.factors import Factor, Level

Pair = tuple[str, str, str, str]
"""Two factors and their levels, by name."""
_GIVEN_UP = 3
"""Number of rows without an applicable run after which a pair is given up."""
_PLAIN = 0.6
"""Fraction of the balanced rows in which a factor has its plain level, if it has one."""


class Design:
    """Rows over the applicable levels; the caller reports which rows the claim applies to."""

    def __init__(self, factors: Mapping[str, Factor], levels: Mapping[str, Sequence[Level]], seed: int) -> None:
        self._factors = factors
        self._levels = {name: tuple(of) for name, of in levels.items() if len(of) > 1}
        self._random = Random(seed)
        self.covered: set[Pair] = set()
        self._in_vain = Counter[Pair]()
        self.all_pairs = {
            pair
            for first, second in combinations(sorted(self._levels), 2)
            for pair in _make_pairs(first, self._levels[first], second, self._levels[second])
        }

    def rows(self, most: int) -> Iterator[dict[str, Level]]:
        """Yield at most `most` rows: first rows that cover all pairs, then balanced ones in random order."""
        given = 0
        while given < most and self._choose_wanted():
            yield self._build_covering_row()
            given += 1
        yield from self._balance_rows(most - given)

    def count(self, row: Mapping[str, Level], applies: bool) -> None:
        """Record a row that was tried."""
        pairs = self._list_pairs(row)
        if applies:
            self.covered |= pairs
        else:
            self._in_vain.update(pairs - self.covered)

    @property
    def given_up(self) -> int:
        """Return the number of pairs that were never applicable."""
        return sum(self._in_vain[pair] >= _GIVEN_UP for pair in self.all_pairs - self.covered)

    def _choose_wanted(self) -> set[Pair]:
        return {pair for pair in self.all_pairs - self.covered if self._in_vain[pair] < _GIVEN_UP}

    def _build_covering_row(self) -> dict[str, Level]:
        """Build a row that contains one missing pair, and then the levels that add most missing pairs."""
        wanted = self._choose_wanted()
        first, level, second, other = self._random.choice(sorted(wanted))
        row = {first: self._find_level(first, level), second: self._find_level(second, other)}
        rest = [name for name in sorted(self._levels) if name not in row]
        self._random.shuffle(rest)
        for name in rest:
            row[name] = max(self._shuffle(name), key=lambda level: self._count_gain(row, name, level, wanted))
        return row

    def _count_gain(self, row: Mapping[str, Level], name: str, level: Level, wanted: set[Pair]) -> int:
        return sum(_make_pair(name, level, other, row[other]) in wanted for other in row)

    def _shuffle(self, name: str) -> list[Level]:
        """Return the levels in random order, the plain one first."""
        levels = list(self._levels[name])
        self._random.shuffle(levels)
        plain = self._factors[name]
        return sorted(levels, key=lambda level: not (plain.has_plain and level == plain.plain))

    def _find_level(self, name: str, text: str) -> Level:
        return next(level for level in self._levels[name] if str(level) == text)

    def _list_pairs(self, row: Mapping[str, Level]) -> set[Pair]:
        named = sorted(name for name in row if name in self._levels)
        return {_make_pair(one, row[one], other, row[other]) for one, other in combinations(named, 2)}

    def _balance_rows(self, count: int) -> Iterator[dict[str, Level]]:
        """Yield rows with all levels equally often, but more often the plain one, so that few extremes meet."""
        columns = {name: self._build_column(name, count) for name in self._levels}
        for number in range(count):
            yield {name: column[number] for name, column in columns.items()}

    def _build_column(self, name: str, count: int) -> list[Level]:
        levels, factor = self._levels[name], self._factors[name]
        plain = int(_PLAIN * count) if factor.has_plain and factor.plain in levels else 0
        column = [factor.plain] * plain + [levels[number % len(levels)] for number in range(count - plain)]
        self._random.shuffle(column)
        return column


def _make_pair(name: str, level: Level, other: str, other_level: Level) -> Pair:
    return (name, str(level), other, str(other_level)) if name < other else (other, str(other_level), name, str(level))


def _make_pairs(first: str, levels: Sequence[Level], second: str, others: Sequence[Level]) -> Iterator[Pair]:
    return (_make_pair(first, level, second, other) for level in levels for other in others)
