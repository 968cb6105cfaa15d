"""Check one claim at the places of many runs (local steps, rounds, free points) in one evaluation of its sides."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from functools import cache

from fedtheory.engine.frames import list_frames_at, list_probe_points
from fedtheory.engine.objectives import QuadraticObjectives
from fedtheory.engine.run import Run
from fedtheory.errors import NotApplicable
from fedtheory.language.claim import Claim
from fedtheory.language.claim_choices import list_free_points, list_symbol_values
from fedtheory.language.claim_places import Places
from verify.check.dependencies import collect_in_relations
from verify.check.joint_comparison import Decided, Rows, compare_by_run
from verify.check.links import compile_relations

_MOST = 2**15
"""Largest number of entries of one vector over several runs, which limits the memory of rationals."""


class RunsAtPlaces:
    """Runs on which claims about one kind of place are evaluated jointly."""

    def __init__(self, runs: Sequence[Run], place: str) -> None:
        self._runs = runs
        self._list_frames = cache(lambda row: tuple(list_frames_at(place, runs[row])))
        self._count_probes = cache(lambda row: len(tuple(list_probe_points(runs[row]))))
        self._places: dict[Hashable, Places] = {}

    def find_kind(self, claim: Claim, row: int) -> Hashable:
        """Return the key of runs with a joint evaluation; raises `FedtheoryError` for a run that is evaluated alone."""
        run, frames = self._runs[row], self._list_frames(row)
        for quantity in collect_in_relations(claim).quantities:
            quantity.on(run)
        is_quadratic = isinstance(run.client_objectives, QuadraticObjectives)
        if not is_quadratic or not frames or any(frame.alike is None for frame in frames):
            raise NotApplicable("the places of the run cannot be evaluated together with those of other runs")
        return run.problem.clients, run.problem.dimension

    def split_parts(self, claim: Claim, rows: Rows) -> Iterator[Rows]:
        """Split runs into parts that fit into memory."""
        part, total = list[int](), 0
        for row in rows:
            numbers = sum(frame.numbers for frame in self._list_frames(row)) * self._count_choices(claim, row)
            if part and total + numbers > _MOST:
                yield tuple(part)
                part, total = [], 0
            part.append(row)
            total += numbers
        yield tuple(part)

    def _count_choices(self, claim: Claim, row: int) -> int:
        """Count the choices of the free points and quantified symbols of a claim."""
        points = self._count_probes(row) ** len(list_free_points(claim)) if list_free_points(claim) else 1
        return points * len(list_symbol_values(claim))

    def compare_relations(self, claim: Claim, rows: Rows) -> list[Decided]:
        """Return both sides of each relation and its decision, arrays of shape (runs, entries)."""
        sites = self._build_places(claim, rows).sites(claim)
        return [compare_by_run(link, sites, len(rows)) for link in compile_relations(claim)]

    def _build_places(self, claim: Claim, rows: Rows) -> Places:
        key = rows, len(list_free_points(claim)), list_symbol_values(claim)
        if key not in self._places:
            runs, frames = [self._runs[row] for row in rows], [self._list_frames(row) for row in rows]
            self._places[key] = Places(claim, runs, frames)
        return self._places[key]
