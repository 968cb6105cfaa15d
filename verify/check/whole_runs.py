"""Check one claim about whole runs on many runs, in one evaluation of its sides."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace

import numpy as np

from fedtheory.arithmetic import Array
from fedtheory.engine.run import Run
from fedtheory.language.claim import Claim
from fedtheory.language.claim_choices import list_choices
from fedtheory.language.evaluation import SiteOfRuns
from verify.check.dependencies import Dependencies, collect_in_conditions, collect_in_relations
from verify.check.joint_comparison import Decided, Rows, compare_by_run
from verify.check.links import CompiledRelation, compile_conditions, compile_relations


class WholeRuns:
    """Runs on which claims about whole runs are evaluated jointly."""

    def __init__(self, runs: Sequence[Run]) -> None:
        self._runs = runs
        self._sites: dict[Hashable, SiteOfRuns] = {}

    def find_kind(self, claim: Claim, row: int) -> Hashable:
        """Return the key of runs with a joint evaluation; raises `FedtheoryError` for a run that is evaluated alone."""
        return collect_in_relations(claim).find_kind(self._runs[row])

    def split_parts(self, claim: Claim, rows: Rows) -> Iterable[Rows]:
        """Split runs into parts that fit into memory; here all of them form one part."""
        del claim
        return (rows,)

    def compare_relations(self, claim: Claim, rows: Rows) -> list[Decided]:
        """Return both sides of each relation and its decision, arrays of shape (runs, entries)."""
        site = self._site(collect_in_relations(claim), rows)
        choices = list_choices(claim, self._runs[rows[0]])
        sites = [replace(site, parameters=choice.parameters) for choice in choices]
        return [compare_by_run(link, sites, len(rows)) for link in compile_relations(claim)]

    def decide_conditions(self, claim: Claim, rows: Rows) -> Array:
        """Return the decision on each condition of a claim, shape (conditions, runs)."""
        site = self._site(collect_in_conditions(claim), rows)
        return np.stack([_decide_condition(link, site, len(rows)) for link in compile_conditions(claim)])

    def _site(self, dependencies: Dependencies, rows: Rows) -> SiteOfRuns:
        sizes = tuple(dependencies.size(self._runs[row]) for row in rows)
        key = rows, sizes
        if key not in self._sites:
            self._sites[key] = SiteOfRuns.from_runs([self._runs[row] for row in rows], sizes)
        return self._sites[key]


def _decide_condition(link: CompiledRelation, site: SiteOfRuns, runs: int) -> Array:
    """Return the decision on a condition, run by run; claims that share the condition share the result."""

    def decide() -> Array:
        _, decided = compare_by_run(link, [site], runs)
        holds: Array = decided.min(axis=1)
        return holds

    return site.constants.compute_once(link, decide)
