"""Check claims on many runs jointly: the first axis of all arrays enumerates runs.

A run that needs special treatment is checked alone, for instance if a quantity has no value or both sides are too
close.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from fedtheory.arithmetic import ENCLOSED, Array, plain_float
from fedtheory.arithmetic.enclosures import precise_enclosures
from fedtheory.engine.run import Run
from fedtheory.errors import FedtheoryError
from fedtheory.language.claim import Claim
from fedtheory.language.claim_choices import has_choices_by_run
from fedtheory.language.premises import list_failures_among, premises
from verify.check.comparison import compute_ratio, find_tightest_places
from verify.check.decision import FAILS, HOLDS, OPEN
from verify.check.dependencies import collect_in_conditions
from verify.check.joint_comparison import Rows
from verify.check.loose_constants import list_loose_constants
from verify.check.one_run import check, list_regions
from verify.check.outcome import is_everywhere
from verify.check.runs_at_places import RunsAtPlaces
from verify.check.sides import Values
from verify.check.whole_runs import WholeRuns

Outcomes = dict[int, "CheckResult | None"]
"""Results by index of the run; None for runs that must be checked alone."""


@dataclass(frozen=True)
class CheckResult:
    """Result of checking a claim on a run."""

    applicable: bool
    everywhere: bool = True
    """Whether all constants that the claim uses hold on the whole space."""
    holds: bool | None = None
    ratio: float | None = None
    """Ratio of the sides at the worst place."""
    excluded: str = ""
    """Name of the first failed assumption or condition, else of a quantity without a value."""


class RunsTogether:
    """Runs of one arithmetic on which claims are checked jointly."""

    def __init__(self, runs: Sequence[Run]) -> None:
        self.runs = runs
        self._whole = WholeRuns(runs)

    def check_claims(self, claims: Iterable[Claim]) -> dict[Claim, dict[int, CheckResult]]:
        """Return the results of each claim by index of the run; missing runs must be checked alone."""
        joint = filter(_has_batches, claims) if self._are_comparable else ()
        outcomes = {claim: dict(self._find_excluded(claim)) for claim in joint}
        with precise_enclosures(), np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            conditional = {claim: rest for claim, rest in self._list_missing(outcomes) if claim.run_conditions}
            for claim, groups in self._group_by_kind(
                conditional, lambda claim, row: collect_in_conditions(claim).find_kind(self.runs[row])
            ):
                outcomes[claim] |= self._check_conditions(claim, groups, self._find_missing(outcomes[claim]))
            for place in sorted({claim.place for claim in outcomes}):
                self._compare(place, {c: found for c, found in outcomes.items() if c.place == place})
        return {c: {row: each for row, each in found.items() if each is not None} for c, found in outcomes.items()}

    def _compare(self, place: str, outcomes: Mapping[Claim, Outcomes]) -> None:
        """Compare the relations on runs to which the claims apply; earlier results are kept."""
        at = self._whole if place == "run" else RunsAtPlaces(self.runs, place)
        for claim, groups in self._group_by_kind(dict(self._list_missing(outcomes)), at.find_kind):
            for rows in (part for alike in groups for part in at.split_parts(claim, alike)):
                # An error on one of the runs occurs again when that run is checked alone.
                with suppress(FedtheoryError):
                    outcomes[claim].update(self._compare_runs(claim, at, rows))

    @cached_property
    def _are_comparable(self) -> bool:
        return len(self.runs) > 1 and all(run.arithmetic is not ENCLOSED for run in self.runs)

    def _list_missing(self, outcomes: Mapping[Claim, Outcomes]) -> Iterator[tuple[Claim, Rows]]:
        return ((claim, self._find_missing(found)) for claim, found in outcomes.items())

    def _find_missing(self, outcomes: Outcomes) -> Rows:
        return tuple(row for row in range(len(self.runs)) if row not in outcomes)

    def _find_excluded(self, claim: Claim) -> Iterator[tuple[int, CheckResult | None]]:
        """Yield the runs that a premise excludes, and those on which a premise is undecided, by index."""
        assumed = premises(claim)
        for row, run in enumerate(self.runs):
            try:
                if failed := list_failures_among(assumed, run):
                    yield row, CheckResult(False, excluded=failed[0].name)
            except FedtheoryError:
                yield row, None

    def _group_by_kind(
        self, rows: Mapping[Claim, Rows], kind: Callable[[Claim, int], Hashable]
    ) -> Iterable[tuple[Claim, Iterable[Rows]]]:
        """Group the runs of each claim by kind, without those on which a quantity has no value.

        All requirements of a run are measured together, because their computations share intermediate results that are
        not kept long.
        """
        groups: dict[Claim, dict[Hashable, list[int]]] = {claim: {} for claim in rows}
        for row in range(len(self.runs)):
            for claim in (claim for claim, own in rows.items() if row in own):
                with suppress(FedtheoryError):
                    groups[claim].setdefault(kind(claim, row), []).append(row)
        return [(claim, [tuple(group) for group in found.values()]) for claim, found in groups.items()]

    def _check_conditions(self, claim: Claim, groups: Iterable[Rows], rows: Rows) -> Outcomes:
        """Return results for the runs on which a condition fails, is undecided, or has no value."""
        outcomes: Outcomes = dict.fromkeys(rows)
        for alike in groups:
            decided = self._whole.decide_conditions(claim, alike)
            worst, names = (
                decided.min(axis=0),
                [claim.in_words(claim.run_conditions[n]) for n in decided.argmin(axis=0)],
            )
            failed = ((row, name) for row, each, name in zip(alike, worst, names, strict=True) if each == FAILS)
            outcomes |= {row: CheckResult(False, excluded=name) for row, name in failed}
            for row in (row for row, each in zip(alike, worst, strict=True) if each == HOLDS):
                del outcomes[row]
        return outcomes

    def _compare_runs(self, claim: Claim, at: WholeRuns | RunsAtPlaces, rows: Rows) -> Outcomes:
        """Compare the relations on runs to which the claim applies."""
        found = zip(*(_find_worst_by_run(*each) for each in at.compare_relations(claim, rows)), strict=True)
        return {row: _combine_worst(claim, self.runs[row], worst) for row, worst in zip(rows, found, strict=True)}


def compute_ratios(claim: Claim, runs: Sequence[Run]) -> list[float | None]:
    """Return each run's ratio at its worst place; None where the claim does not apply or has no ratio."""
    outcomes = RunsTogether(runs).check_claims([claim]).get(claim, {})
    return [outcomes[row].ratio if row in outcomes else _evaluate_ratio(claim, run) for row, run in enumerate(runs)]


def _evaluate_ratio(claim: Claim, run: Run) -> float | None:
    worst = check(claim, run).worst
    return None if worst is None else _convert_to_float(worst.ratio)


def _has_batches(claim: Claim) -> bool:
    return claim.rate is None and bool(claim.relations) and not has_choices_by_run(claim)


def _combine_worst(claim: Claim, run: Run, worst: Sequence[tuple[int, float | None]]) -> CheckResult | None:
    """Combine the worst places of all relations into the result of a run; None where it must be checked alone."""
    if any(decided == OPEN for decided, _ in worst):
        return None
    decided, ratio = min(worst, key=_make_sort_key)
    try:
        if _is_loose(claim, run, decided):
            return None
        return CheckResult(True, is_everywhere(list_regions(claim, run)), decided == HOLDS, ratio)
    except FedtheoryError:
        return None


def _is_loose(claim: Claim, run: Run, decided: int) -> bool:
    """Return whether constants that are bounds may have decided a violation, or a strict relation."""
    is_strict = any(relation.operator in ("<", ">") for relation in claim.relations)
    loose = list_loose_constants(claim, run) if decided == FAILS or is_strict else ()
    return any(decided == FAILS or not one.is_supremum for one in loose)


def _find_worst_by_run(values: Values, decided: Array) -> list[tuple[int, float | None]]:
    """Return for each run the decision and the ratio where the relation is tightest, or violated most."""
    runs, places = decided.shape
    at = find_tightest_places(values, decided) if places > 1 else np.zeros(runs, dtype=int)
    every = np.arange(runs)
    sides = zip(values.lhs[every, at], values.rhs[every, at], strict=True)
    return [
        (int(outcomes), _convert_to_float(None if outcomes == OPEN else compute_ratio(values.link, lhs, rhs)))
        for outcomes, (lhs, rhs) in zip(decided[every, at], sides, strict=True)
    ]


def _convert_to_float(ratio: object) -> float | None:
    return None if ratio is None else plain_float(ratio)


def _make_sort_key(worst: tuple[int, float | None]) -> tuple[int, float]:
    """Return a sort key: violations first, then the largest ratio."""
    decided, ratio = worst
    return decided, float("inf") if ratio is None else -ratio
