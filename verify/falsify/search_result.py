"""Result of a search for a violation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from time import perf_counter
from typing import Literal

from fedtheory.arithmetic import FLOAT, RATIONAL
from fedtheory.errors import InputError
from fedtheory.language.claim import Claim
from fedtheory.language.targets import resolve
from fedtheory.runfile import parse_run, run_toml
from fedtheory.shown import Card, Shown, number
from verify.check import Check, check
from verify.check.escalation import check_rigorously
from verify.effort import measure_work
from verify.falsify.instance_search import (
    Simplest,
    find_simplest_violation,
    require_testable,
    search,
    search_briefly,
    search_worst_starts,
)
from verify.falsify.regimes import NO_PAIRS, Pairs, Regime, Search, search_regimes
from verify.falsify.run_tables import CheckedRun, Table, evaluate_rigorously, make_working_table, write_table
from verify.falsify.score import score
from verify.falsify.search_state import SearchState, is_moving
from verify.falsify.shrink import is_clear, measure_reading_effort, shrink, simplify
from verify.shown_place import choose_place, describe_points

EVALUATIONS = 160
"""Number of evaluations of a search by regimes per second of a budget."""
_BY_REGIMES, _SEARCHING, _HALF = 0.5, 0.85, 0.5
"""Fractions of the budget: the search by regimes, the whole search, one of two runs that are simplified."""
_BEYOND = 0.25
"""Fraction of the budget for the few runs that a proof does not cover."""
_LONGEST = 8.0
"""Largest number of seconds of work for simplification after a violation is found."""
_EASILY, _EASY = 0.1, 2.0
"""Fraction of the budget, and largest number of seconds, for small runs at the start: most false claims fail on one."""
_LOOKING = 0.3
"""Fraction of these seconds for the search for simpler violations."""


@dataclass(frozen=True, eq=False, repr=False)
class Finding(Shown):
    """Result of a search for a violation of one claim."""

    claim: Claim
    verdict: Literal["refuted", "not refuted", "not applicable"]
    run: Table | None
    """The counterexample, or the run with the largest ratio, as a run file's table; None without any."""
    found: Check | None
    """The check of this run, in exact arithmetic for a counterexample."""
    looked: int
    """Number of runs that were tried."""
    applicable: int
    """Number of these that satisfy the claim's assumptions and conditions."""
    seconds: float
    """Elapsed seconds."""
    left_open: int = 0
    """Number of runs that violate the claim in floats and that no exact check decides."""
    reason: str | None = None
    """Reason why the claim is not applicable."""

    def summary(self) -> str:
        """Return one line: the claim, the verdict, and the number of runs that were tried."""
        return f"{self.claim.id}: {self.verdict}, {self.looked} runs tried"

    def card(self) -> Card:
        """Return the statement, both sides and the run for display."""
        shown = None if self.found is None else choose_place(self.found)
        facts = {"largest ratio": number(self.best_ratio)}
        if shown is not None:
            facts |= {"left side": number(shown.lhs), "right side": number(shown.rhs)}
            facts["at"] = describe_points(self.claim, shown)
        return Card(self.summary(), self.claim.statement or None, facts, code=self.run_file)

    @property
    def contradicts(self) -> bool:
        """Return whether a claim is refuted that is recorded as something else."""
        return self.verdict == "refuted" and self.claim.verdict not in (None, "refuted")

    @property
    def is_exact(self) -> bool:
        """Return whether both sides are exact."""
        return self.found is not None and self.found.arithmetic.is_rigorous

    @property
    def best_ratio(self) -> float | None:
        """Return the ratio of the sides on the run; for a rate, its largest constant."""
        if self.found is None:
            return None
        return self.found.ratio if self.found.rate is None else self.found.rate.constant

    @cached_property
    def run_file(self) -> str | None:
        """Return the run as the text of a run file."""
        return None if self.run is None else run_toml(self.run)


def falsify(
    claim: Claim, budget: float, seed: int = 0, on_progress: Callable[[int, int], None] = lambda _done, _all: None
) -> Finding:
    """Search for a violation, and simplify it, within `budget` seconds of counted work.

    The work depends only on what is evaluated, so the answer is the same on every machine. A claim is refuted only by
    the exact check of the reported run.
    """
    if not budget >= 0:
        raise InputError("budget", f"expected a number of seconds that is not negative, got {budget}")
    # A claim without a setting concerns plain FedAvg.
    claim = resolve(claim)
    begin, seconds, started = measure_work(), int(budget), perf_counter()
    on_tick = partial(_report_progress, on_progress, begin, seconds)
    easy = _search_small_runs(claim, begin + min(_EASILY * budget, _EASY), begin + budget, seed, on_tick)
    known, looked, applicable, left_open = _confirm(claim, easy.table), easy.looked, easy.applicable, 0
    if known is not None and is_clear(claim, known.table):
        best: tuple[Table | None, Check | None] = known
    else:
        regimes = _search_by_regimes(claim, _BY_REGIMES * budget, seed, on_tick)
        looked, applicable = looked + regimes.evaluations, applicable + regimes.applicable
        violation, state, left_open = regimes.counterexample, None, regimes.left_open
        if violation is None:
            state = search(claim, _SEARCHING * budget - (measure_work() - begin), seed, on_tick)
            looked, applicable = looked + state.looked, applicable + state.applicable
            violation, left_open = state.violation, left_open + state.left_open
        deadline = _compute_deadline(begin + budget)
        best = (
            _shrink_violation(claim, violation, deadline, seed, on_tick)
            or known
            or _find_closest_run(claim, state, regimes.best, deadline, on_tick)
        )
    table, found = best
    on_progress(seconds, seconds)
    is_refuted = found is not None and found.arithmetic.is_rigorous and found.holds is False
    return Finding(
        claim,
        "refuted" if is_refuted else "not refuted",
        table,
        found,
        looked,
        applicable,
        perf_counter() - started,
        0 if is_refuted else left_open,
    )


def _search_by_regimes(claim: Claim, budget: float, seed: int, on_tick: Callable[[], None]) -> Search:
    """Search from worst functions of steps, then by regimes, for at most `budget` seconds of work.

    Rates are not searched this way.
    """
    require_testable(claim)
    worst = search_worst_starts(claim, budget)
    if worst.violation is not None:
        return Search(worst.looked, worst.applicable, worst.violation, None, (), 0, NO_PAIRS)
    evaluations = 0 if claim.rate is not None else round(EVALUATIONS * budget)
    found = search_regimes(claim, evaluations, seed, on_tick)
    return replace(
        found,
        evaluations=worst.looked + found.evaluations,
        applicable=worst.applicable + found.applicable,
        left_open=worst.left_open + found.left_open,
    )


def _confirm(claim: Claim, table: Table | None) -> CheckedRun | None:
    """Return a violation with its check if rationals confirm it."""
    if table is None or measure_reading_effort(claim, table) is None:
        return None
    return CheckedRun(table, check_rigorously(claim, parse_run(table, RATIONAL)))


def _search_small_runs(claim: Claim, until: float, end: float, seed: int, on_tick: Callable[[], None]) -> Simplest:
    """Find and shrink the simplest violation among small runs; rates need long runs and are skipped."""
    require_testable(claim)
    if claim.rate is not None:
        return Simplest(None, 0, 0)
    simplest = find_simplest_violation(claim, seed, until, on_tick)
    if simplest.table is None:
        return simplest
    return replace(simplest, table=shrink(claim, simplest.table, _compute_deadline(end), on_tick))


def _report_progress(on_progress: Callable[[int, int], None], begin: float, seconds: int) -> None:
    """Report the finished seconds of work, and the total for the search and the shrinking."""
    on_progress(min(int(measure_work() - begin), seconds), seconds)


@dataclass(frozen=True)
class QuickSearch:
    """Result of a short search."""

    looked: int
    """Number of runs that were tried."""
    applicable: int
    """Number of these that satisfy the claim's assumptions and conditions."""
    counterexample: Table | None
    """The run file of a counterexample, as a table."""
    regimes: tuple[Regime, ...] = ()
    """Kinds of runs that were tried, each with the largest ratio."""
    left_open: int = 0
    """Number of runs that violate the claim in floats and that no exact check decides."""
    pairs: Pairs = NO_PAIRS
    """Number of pairs of kinds that were tried together."""


def search_quickly(claim: Claim, budget: float) -> QuickSearch:
    """Search for a violation by regimes for `budget` seconds of work, and shrink it.

    Claims without regimes, such as rates and claims on special clocks, are searched along rays.
    """
    claim = resolve(claim)
    regimes = _search_by_regimes(claim, budget, 0, lambda: None)
    looked, applicable, violation = regimes.evaluations, regimes.applicable, regimes.counterexample
    left_open = regimes.left_open
    if not applicable:
        state = search_briefly(claim, _HALF * budget)
        looked, applicable, violation = looked + state.looked, state.applicable, state.violation
        left_open += state.left_open
    deadline = _compute_deadline(measure_work() + budget)
    refutation = _shrink_violation(claim, violation, deadline, 0, lambda: None)
    table = None if refutation is None else refutation.table
    return QuickSearch(looked, applicable, table, regimes.regimes, left_open, regimes.pairs)


def search_further(claim: Claim, budget: float) -> QuickSearch:
    """Search by regimes, with less work, for a violation of a claim that is proved for most runs.

    `claim` describes the remaining runs, and only these are counted; if no regime contains one, none is covered.
    """
    regimes = _search_by_regimes(claim, _BEYOND * budget, 0, lambda: None)
    refutation = _shrink_violation(
        claim, regimes.counterexample, _compute_deadline(measure_work() + budget), 0, lambda: None
    )
    table = None if refutation is None else refutation.table
    covered = (regimes.regimes, regimes.left_open, regimes.pairs) if regimes.applicable else ()
    return QuickSearch(regimes.applicable, regimes.applicable, table, *covered)


def _compute_deadline(end: float) -> float:
    """Return the work after which simplification ends: the end of the budget, or earlier."""
    return min(end, measure_work() + _LONGEST)


def _shrink_violation(
    claim: Claim, violation: CheckedRun | None, deadline: float, seed: int, on_tick: Callable[[], None]
) -> CheckedRun | None:
    """Return the smallest counterexample that shrinking finds, from the given violation or from one in the families."""
    if violation is None:
        return None
    shrunk = []
    simplest = find_simplest_violation(claim, seed, _compute_end_of_part(deadline, _LOOKING), on_tick).table
    if simplest is not None:
        shrunk.append(shrink(claim, simplest, _compute_end_of_part(deadline, _HALF), on_tick))
    if not any(is_clear(claim, table) for table in shrunk):
        shrunk.append(shrink(claim, violation.table, deadline, on_tick))
    readable = [(cost, table) for table in shrunk if (cost := measure_reading_effort(claim, table)) is not None]
    table = min(readable, key=lambda pair: pair[0])[1] if readable else violation.table
    if table == violation.table:
        return violation
    return CheckedRun(table, check_rigorously(claim, parse_run(table, RATIONAL)))


def _compute_end_of_part(deadline: float, part: float) -> float:
    """Return the time after a fraction of the remaining work."""
    now = measure_work()
    return now + part * max(deadline - now, 0)


def _find_closest_run(
    claim: Claim, state: SearchState | None, by_regimes: Table | None, deadline: float, on_tick: Callable[[], None]
) -> tuple[Table | None, Check | None]:
    """Return the simplest run with the largest ratio, checked as displayed, in the arithmetic of its search."""
    reached = [] if state is None or state.best is None else [(state.best.table, state.best.found)]
    if by_regimes is not None:
        table = make_working_table(parse_run(by_regimes, RATIONAL))
        exact = evaluate_rigorously(claim, table)
        found = check(claim, parse_run(by_regimes, FLOAT)) if exact is None and not reached else exact
        if found is not None and found.holds and found.arithmetic in (RATIONAL, FLOAT):
            reached.append((table, found))
    if not reached:
        return None, None
    table, found = max(reached, key=lambda pair: (is_moving(pair[0]), score(pair[1])))
    arithmetic = found.arithmetic
    table = write_table(table, arithmetic)
    if arithmetic is RATIONAL:
        table = simplify(claim, table, deadline, on_tick)
    return table, check(claim, parse_run(table, arithmetic))
