"""One claim about whole runs on many of them, its sides evaluated once."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

import numpy as np

from fedtheory.arithmetic import Array
from fedtheory.engine.run import Run
from fedtheory.language.claim import Claim
from fedtheory.language.evaluation import SiteOfRuns
from verify.check.asked import in_relations
from verify.check.decision import decide_by_values
from verify.check.links import Link, links_of
from verify.check.sides import Values, values_at

Rows = tuple[int, ...]
"""Numbers of runs."""
Decided = tuple[Values, Array]
"""Both sides of a relation on several runs, and whether it holds, (runs, entries)."""


class WholeRuns:
    """Runs, and what claims about whole runs say of them."""

    def __init__(self, runs: Sequence[Run]) -> None:
        self._runs = runs
        self._sites: dict[Rows, SiteOfRuns] = {}

    def kind(self, claim: Claim, row: int) -> Hashable:
        """What runs have in common that are evaluated together; `FedtheoryError` for a run that stands alone."""
        return in_relations(claim).shapes(self._runs[row])

    def parts(self, claim: Claim, rows: Rows) -> Iterable[Rows]:
        """The runs, as many together as memory has room for: all of them."""
        del claim
        return (rows,)

    def decided(self, claim: Claim, rows: Rows) -> list[Decided]:
        """Both sides of each relation, and whether it holds, (runs, entries)."""
        values = (self._values(link, rows) for link in links_of(claim))
        return [(each, decide_by_values(each)) for each in values]

    def condition(self, link: Link, rows: Rows) -> Array:
        """Whether a condition holds, run by run; claims that share it share what is found."""
        constants = self._site(rows).constants
        if link not in constants:
            constants[link] = decide_by_values(self._values(link, rows)).min(axis=1)
        decided: Array = constants[link]
        return decided

    def _values(self, link: Link, rows: Rows) -> Values:
        lead = np.empty((len(rows), 1, 1, 1))
        found = np.broadcast_arrays(*values_at(link, self._site(rows)), lead)[:-1]
        return Values(link, *(each.reshape(len(rows), -1) for each in found))

    def _site(self, rows: Rows) -> SiteOfRuns:
        if rows not in self._sites:
            self._sites[rows] = SiteOfRuns.of([self._runs[row] for row in rows])
        return self._sites[rows]
