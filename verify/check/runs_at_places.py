"""Check one claim at the places of many runs (local steps, rounds, free points) in one evaluation of its sides."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence

from fedtheory.engine.frames import Frame, frames_at, probes
from fedtheory.engine.objectives import QuadraticObjectives
from fedtheory.engine.run import Run
from fedtheory.errors import NotApplicable
from fedtheory.language.claim import Claim
from fedtheory.language.claim_choices import points_of, values_of
from fedtheory.language.claim_places import Places
from verify.check.dependencies import collect_in_relations
from verify.check.joint_comparison import Decided, Rows, compare_by_run
from verify.check.links import compile_relations

_MOST = 2**15
"""Largest number of entries of one vector over several runs, which limits the memory of rationals."""


class RunsAtPlaces:
    """Runs on which claims about one kind of place are evaluated jointly."""

    def __init__(self, runs: Sequence[Run], place: str) -> None:
        self._runs, self._place = runs, place
        self._frames: dict[int, Sequence[Frame]] = {}
        self._probes: dict[int, Sequence[str]] = {}
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

    def _list_frames(self, row: int) -> Sequence[Frame]:
        if row not in self._frames:
            self._frames[row] = tuple(frames_at(self._place, self._runs[row]))
        return self._frames[row]

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
        points = len(self._list_probes(row)) ** len(points_of(claim)) if points_of(claim) else 1
        return points * len(values_of(claim))

    def _list_probes(self, row: int) -> Sequence[str]:
        if row not in self._probes:
            self._probes[row] = tuple(probes(self._runs[row]))
        return self._probes[row]

    def compare_relations(self, claim: Claim, rows: Rows) -> list[Decided]:
        """Return both sides of each relation and its decision, arrays of shape (runs, entries)."""
        sites = self._build_places(claim, rows).sites(claim)
        return [compare_by_run(link, sites, len(rows)) for link in compile_relations(claim)]

    def _build_places(self, claim: Claim, rows: Rows) -> Places:
        key = rows, len(points_of(claim)), values_of(claim)
        if key not in self._places:
            runs, frames = [self._runs[row] for row in rows], [self._list_frames(row) for row in rows]
            self._places[key] = Places(claim, runs, frames)
        return self._places[key]
