"""A search for a run that violates an answer, bounded by the number of runs that it looks at.

Runs of all kinds are made for the claim, and local searches start from those that come nearest to a violation.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from itertools import count

import numpy as np

from fedtheory.arithmetic import RATIONAL
from fedtheory.language.claim import Claim
from fedtheory.runfile import parse_run
from verify.check import check
from verify.falsify.hunt import Place
from verify.falsify.local import Climb
from verify.falsify.made import KINDS, bases_of, made
from verify.falsify.score import NOTHING, score
from verify.falsify.starts import setting
from verify.falsify.structure import other_shapes
from verify.falsify.tables import Table, examine, features, quick, working_table, written
from verify.grade.counterexample import work_of

_LARGEST = 2_000
"""Multiplications of short numbers that one run may take."""
_STARTS, _LOOKS = 4, 60
"""Local searches after each made run of every kind, and looks of one of them."""


@dataclass(frozen=True)
class Searched:
    """How a search ends."""

    looked: int
    """Runs on which the claim is evaluated."""
    largest_ratio: float | None
    """Of the two sides, over all runs on which the claim holds."""
    violation: Table | None
    """The table of a run that violates the claim in exact arithmetic; None without one."""


def search_violation(claim: Claim, looks: int, seed: int = 0) -> Searched:
    """Looks at so many runs at most; the runs depend on the claim and the seed only."""
    search = _Search(claim, looks)
    with suppress(_Over):
        search.go(np.random.default_rng(seed))
    return Searched(search.applicable, search.largest_ratio, search.violation)


class _Over(Exception):
    """A violation is found, or all looks are used."""


class _Search:
    """The runs that were looked at."""

    def __init__(self, claim: Claim, looks: int) -> None:
        self._claim, self._left, self._setting = claim, looks, setting(claim)
        self.applicable = 0
        self.largest_ratio: float | None = None
        self.violation: Table | None = None

    def go(self, generator: np.random.Generator) -> None:
        """Makes runs of all kinds, ever larger ones, and searches around the best of them, until all looks are used."""
        places: list[Place] = []
        for size in count(1):
            for kind in KINDS:
                # What cannot be made counts as a look, so that the search ends where none can be.
                fitting = made(self._claim, bases_of(self._claim), kind, size, generator)
                table = None if fitting is None else working_table(fitting[0])
                reached = self._look(table)
                places += [] if table is None or reached == NOTHING else [Place(table, reached)]
            places.sort(key=lambda place: -place.score)
            for start in places[:_STARTS]:
                self._climb(start, generator)
            del places[:_STARTS]

    def _climb(self, start: Place, generator: np.random.Generator) -> None:
        climb = Climb(self._claim, self._look, start, _LOOKS, other_shapes)
        climb.over_knobs((4, 1), generator)
        climb.without()
        climb.to_the_edge()
        climb.over_structure()
        while climb.left > 0:
            climb.at_random(generator, 2.0)

    def _look(self, table: Table | None) -> float:
        """The score of a run; raises `_Over` when the search ends with it."""
        self._left -= 1
        if self._left < 0:
            raise _Over
        if table is None or work_of(table) > _LARGEST or not features(table) <= self._setting:
            return NOTHING
        found = examine(self._claim, table, quick(table))
        if found is None or not found.applicable:
            return NOTHING
        self.applicable += 1
        if found.holds is False:
            self._confirm(table)
        elif found.holds and found.ratio is not None:
            self.largest_ratio = max(found.ratio, self.largest_ratio or found.ratio)
        return score(found)

    def _confirm(self, table: Table) -> None:
        """A violation counts once the run file that is printed violates the claim in exact arithmetic."""
        printed = written(table)
        if check(self._claim, parse_run(printed, RATIONAL)).holds is False:
            self.violation = printed
            raise _Over
