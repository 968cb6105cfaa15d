"""Test runs for all answers to a question, spread over all kinds and sizes of runs.

Small exact runs come from the claim's families, with a quota for each kind. Ladders are added: they start from runs
with some of noise, initial distance and dissimilarity, with increasing numbers of clients, local steps and rounds and
decreasing steps. They are simulated once, jointly, in floats.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import chain

from fedtheory.arithmetic import ENCLOSED, FLOAT, RATIONAL
from fedtheory.engine.run import Run
from fedtheory.language.claim import Claim
from fedtheory.runfile import parse_run, run_table
from verify.check import check
from verify.check.joint_checks import CheckResult, RunsTogether
from verify.check.one_run import list_constants_with_regions
from verify.falsify.generation import classify_run
from verify.falsify.run_tables import Table, get
from verify.falsify.search_state import estimate_exact_cost
from verify.grade.counterexample import confirm
from verify.grade.ladders import is_allowed, list_ladder_runs
from verify.instances import FAMILIES, complexity, families_for

_QUOTA = 8
"""Number of small runs of each kind."""
_UNDECIDED = CheckResult(True)
_ALONE = 20_000
"""Number of multiplications up to which a level that joint float checks leave open is checked alone."""
_SHORT = 2_000
"""Number of multiplications of short numbers up to which levels of ladders are also exact runs."""


@dataclass(frozen=True)
class Trial:
    """Result of a claim on the runs of a battery."""

    tried: int
    """Number of runs on which the claim was evaluated."""
    largest_ratio: float | None
    """Largest ratio of the sides over all runs."""
    violation: Table | None
    """The table of the smallest run that violates the claim in exact arithmetic; None without one."""
    without_value: Table | None = None
    """The table of the smallest exact run on which a side has no value, such as 1/0; None without one."""


class Battery:
    """Runs to which a claim applies, for checks of other claims with the same left side."""

    def __init__(self, small: Sequence[Run], long: Sequence[Table]) -> None:
        self.small, self.long = small, long
        self._rational = [run for run in small if run.arithmetic is not ENCLOSED]
        self._enclosed = [run for run in small if run.arithmetic is ENCLOSED]

    def __len__(self) -> int:
        return len(self.small) + len(self.long)

    def __iter__(self) -> Iterator[Run]:
        """Yield the runs, small ones first, those of the ladders in floats."""
        return chain(self.small, self._floats.runs)

    @cached_property
    def _exact(self) -> RunsTogether:
        return RunsTogether(self._rational)

    @cached_property
    def _floats(self) -> RunsTogether:
        return RunsTogether([parse_run(table, FLOAT) for table in self.long])

    @cached_property
    def _short(self) -> RunsTogether:
        """Return the lower levels of the ladders as exact runs."""
        return RunsTogether([parse_run(table, RATIONAL) for table in self.long if estimate_exact_cost(table) <= _SHORT])

    def try_claim(self, claim: Claim) -> Trial:
        """Evaluate a claim on all runs, which have to satisfy its premises.

        A violation in floats counts only if exact arithmetic confirms it.
        """
        exact, floats = list(_check_on_runs(self._exact, claim)), list(self._check_on_ladders(claim))
        enclosed = [_check_answer(claim, run) for run in self._enclosed]
        runs = [*zip(self._rational, exact, strict=True), *zip(self._enclosed, enclosed, strict=True)]
        violated = next((run_table(run) for run, found in runs if found.holds is False), None)
        if violated is None:
            violated = confirm(claim, [self.long[n] for n, found in enumerate(floats) if found.holds is False])
        applicable = [found for found in (*exact, *enclosed, *floats) if found.applicable]
        # Where floats overflow, or see a false violation, the ratio is meaningless.
        ratios = [found.ratio for found in applicable if found.holds and found.ratio is not None]
        largest = max(filter(math.isfinite, ratios), default=None)
        # The runs satisfy all premises, so that only a side without a value excludes one.
        excluded = next((run for run, found in runs if not found.applicable), None)
        return Trial(len(applicable), largest, violated, None if excluded is None else run_table(excluded))

    def largest_ratio(self, claim: Claim) -> float | None:
        """Return the largest ratio of the sides on exact runs only, where small differences have no rounding errors."""
        answers = [*_check_on_runs(self._exact, claim), *_check_on_runs(self._short, claim)]
        return max((found.ratio for found in answers if found.ratio is not None), default=None)

    def select_applicable(self, claim: Claim) -> Battery:
        """Return the battery without the runs to which a claim does not apply."""
        small = [*zip(self._rational, _check_on_runs(self._exact, claim), strict=True)]
        small += [(run, _check_answer(claim, run)) for run in self._enclosed]
        applicable = [run for run, found in small if found.applicable]
        return Battery(applicable, [table for table in self.long if is_allowed(claim, table)])

    def _check_on_ladders(self, claim: Claim) -> Iterator[CheckResult]:
        """Yield the results of a claim on the ladders, which satisfy its conditions."""
        unconditional = replace(claim, conditions=())
        outcomes = self._floats.check_claims([unconditional]).get(unconditional, {})
        # Joint checks leave violations to a check alone if a constant may be a supremum on a ball.
        has_suprema = bool(list_constants_with_regions(claim))
        for row, table in enumerate(self.long):
            if row not in outcomes and (has_suprema or estimate_exact_cost(table) <= _ALONE):
                yield _check_answer(claim, self._floats.runs[row])
            else:
                yield outcomes.get(row, _UNDECIDED)


def _check_on_runs(runs: RunsTogether, claim: Claim) -> Iterator[CheckResult]:
    together = runs.check_claims([claim]).get(claim, {})
    for row, run in enumerate(runs.runs):
        yield together[row] if row in together else _check_answer(claim, run)


def _check_answer(claim: Claim, run: Run) -> CheckResult:
    try:
        found = check(claim, run)
    except LookupError:
        # A quantity may need a feature that a run lacks, such as a second client.
        return CheckResult(False)
    return CheckResult(found.applicable, found.everywhere, found.holds, found.ratio)


@cache
def build_battery(claim: Claim) -> Battery:
    """Return the battery of a claim; it is cached, so that its runs are simulated once."""
    everything = Battery(tuple(_list_small_runs(claim)), tuple(list_ladder_runs(claim)))
    return everything.select_applicable(claim)


def _list_small_runs(claim: Claim) -> Iterator[Run]:
    """Yield the simplest runs of each kind from the claim's families, the simplest first."""
    names = [name for name in families_for(claim) if not FAMILIES[name].in_floats]
    instances = (instance for name in names for instance in FAMILIES[name].instances)
    ordered = sorted((complexity(i, run), n, run) for n, i in enumerate(instances) for run in [i.run()])
    yield from _limit_each_kind((run for _, _, run in ordered), _QUOTA)


def _limit_each_kind(runs: Iterable[Run], most: int) -> Iterator[Run]:
    """Yield at most `most` runs of each kind, in order."""
    counts: dict[Hashable, int] = {}
    for run in runs:
        kind = _classify_run(run)
        counts[kind] = counts.get(kind, 0) + 1
        if counts[kind] <= most:
            yield run


def _classify_run(run: Run) -> Hashable:
    """Classify a run by its kind, its loss, and whether it has several rounds, many clients, and unequal weights."""
    table = run_table(run)
    weights = get(table, "problem.weights")
    several_rounds, many_clients = run.algorithm.rounds > 1, run.problem.clients > 2
    uneven = weights is not None and len(set(weights)) > 1
    return classify_run(run), table["problem"]["kind"], several_rounds, many_clients, uneven
