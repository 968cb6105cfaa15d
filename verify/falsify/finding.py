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
from verify.check.escalation import decidable
from verify.effort import measure_work
from verify.falsify.regimes import NO_PAIRS, Pairs, Regime, Search, search_regimes
from verify.falsify.score import score
from verify.falsify.search import Simplest, require_testable, search, short_search, simplest_violation
from verify.falsify.search_state import SearchState, is_lively
from verify.falsify.shrink import burden, is_clear, shrink, simplify
from verify.falsify.tables import Table, evaluate_rigorously, working_table, write_table
from verify.shown_place import choose_place, describe_points

EVALUATIONS = 150
"""Evaluations of a search by regimes for each second of a budget."""
_BY_REGIMES, _SEARCHING, _HALF = 0.5, 0.85, 0.5
"""Part of the budget for regimes, for all of the search, and for one of two runs that are made simpler."""
_BEYOND = 0.25
"""Part of the budget for the few runs that a proof does not cover."""
_LONGEST = 8.0
"""Seconds of work for a simpler run at most: who has a violation waits no longer."""
_EASILY, _EASY = 0.1, 2.0
"""Part of the budget, and seconds at most, for small runs before all others: most false claims fail on one of them."""
_LOOKING = 0.3
"""Part of these seconds in which simpler violations are looked for."""


@dataclass(frozen=True, eq=False, repr=False)
class Finding(Shown):
    """The verdict of a search on one claim."""

    claim: Claim
    verdict: Literal["refuted", "not refuted", "not applicable"]
    run: Table | None
    """The run file of the counterexample, or of the largest ratio, as a table; None where no run was applicable."""
    found: Check | None
    """The check of exactly that run, in exact arithmetic for a counterexample."""
    looked: int
    """Runs that were tried."""
    applicable: int
    """Number of these that satisfy the claim's assumptions and conditions."""
    seconds: float
    """On the clock."""
    left_open: int = 0
    """Runs that floats see as violations and nothing decides: too long, or beyond the work for that."""
    reason: str | None = None
    """Why the claim is not applicable."""

    def summary(self) -> str:
        """The claim, the verdict, and how many runs were tried."""
        return f"{self.claim.id}: {self.verdict}, {self.looked} runs tried"

    def card(self) -> Card:
        """The statement, both sides, and the run."""
        shown = None if self.found is None else choose_place(self.found)
        facts = {"largest ratio": number(self.best_ratio)}
        if shown is not None:
            facts |= {"left side": number(shown.lhs), "right side": number(shown.rhs)}
            facts["at"] = describe_points(self.claim, shown)
        return Card(self.summary(), self.claim.statement or None, facts, code=self.run_file)

    @property
    def contradicts(self) -> bool:
        """Whether a claim is refuted that is recorded as something else."""
        return self.verdict == "refuted" and self.claim.verdict not in (None, "refuted")

    @property
    def is_exact(self) -> bool:
        """Whether both sides are exact."""
        return self.found is not None and self.found.arithmetic.is_rigorous

    @property
    def best_ratio(self) -> float | None:
        """Ratio of the two sides there; the largest constant of a rate."""
        if self.found is None:
            return None
        return self.found.ratio if self.found.rate is None else self.found.rate.constant

    @cached_property
    def run_file(self) -> str | None:
        """The run as the text of a run file."""
        return None if self.run is None else run_toml(self.run)


def falsify(
    claim: Claim, budget: float, seed: int = 0, on_progress: Callable[[int, int], None] = lambda _done, _all: None
) -> Finding:
    """Search for a violation, and make what is found clear and small, all in `budget` seconds of work.

    Work is counted by what is evaluated, so that the answer is the same on every machine.
    A claim is refuted by the exact check of the run that is reported, never otherwise.
    """
    if not budget >= 0:
        raise InputError("budget", f"expected a number of seconds that is not negative, got {budget}")
    # A claim that names no setting is about plain FedAvg.
    claim = resolve(claim)
    begin, seconds, started = measure_work(), int(budget), perf_counter()
    on_tick = partial(_report_progress, on_progress, begin, seconds)
    easy = _easily(claim, begin + min(_EASILY * budget, _EASY), begin + budget, seed, on_tick)
    known, looked, applicable, left_open = _confirm(claim, easy.table), easy.looked, easy.applicable, 0
    if known is not None and is_clear(claim, known[0]):
        best: tuple[Table | None, Check | None] = known
    else:
        regimes = _search_by_regimes(claim, _BY_REGIMES * budget, seed, on_tick)
        looked, applicable = looked + regimes.evaluations, applicable + regimes.applicable
        violation, hunt, left_open = regimes.counterexample, None, regimes.left_open
        if violation is None:
            hunt = search(claim, _SEARCHING * budget - (measure_work() - begin), seed, lambda _done, _whole: on_tick())
            looked, applicable = looked + hunt.looked, applicable + hunt.applicable
            violation, left_open = _violation_of(hunt), left_open + hunt.left_open
        deadline = _deadline(begin + budget)
        best = (
            _refutation(claim, violation, deadline, seed, on_tick)
            or known
            or _largest(claim, hunt, regimes.best, deadline, on_tick)
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
    """The search by regimes, as far as so many seconds of work allow; of a rate there is none."""
    require_testable(claim)
    evaluations = 0 if claim.rate is not None else round(EVALUATIONS * budget)
    return search_regimes(claim, evaluations, seed, lambda _done, _whole: on_tick())


def _violation_of(hunt: SearchState) -> tuple[Table, Check] | None:
    return None if hunt.violation is None else (hunt.violation.table, hunt.violation.found)


def _confirm(claim: Claim, table: Table | None) -> tuple[Table, Check] | None:
    """A violation with its check, where it is one in rationals."""
    if table is None or burden(claim, table) is None:
        return None
    return table, check(claim, decidable(parse_run(table, RATIONAL)))


def _easily(claim: Claim, until: float, end: float, seed: int, on_tick: Callable[[], None]) -> Simplest:
    """The simplest violation among small runs, made smaller; rates are seen on long ones alone."""
    require_testable(claim)
    if claim.rate is not None:
        return Simplest(None, 0, 0)
    simplest = simplest_violation(claim, seed, until, on_tick)
    if simplest.table is None:
        return simplest
    return replace(simplest, table=shrink(claim, simplest.table, _deadline(end), on_tick))


def _report_progress(on_progress: Callable[[int, int], None], begin: float, seconds: int) -> None:
    """Seconds of work done, of all that the search and the shrinking have."""
    on_progress(min(int(measure_work() - begin), seconds), seconds)


@dataclass(frozen=True)
class QuickSearch:
    """Result of a short search."""

    looked: int
    """Runs that were tried."""
    applicable: int
    """Number of these that satisfy the claim's assumptions and conditions."""
    counterexample: Table | None
    """The run file of a counterexample, as a table."""
    regimes: tuple[Regime, ...] = ()
    """Kinds of runs that were tried, with the largest ratio of each."""
    left_open: int = 0
    """Runs that floats see as violations and nothing decides: too long, or beyond the work for that."""
    pairs: Pairs = NO_PAIRS
    """Number of pairs of kinds that were tried together."""


def search_quickly(claim: Claim, budget: float) -> QuickSearch:
    """Search for a violation by regimes for `budget` seconds of work, and shrink what is found.

    Where no regime is one of the claim's, as with rates and special clocks, the search goes along rays.
    """
    claim = resolve(claim)
    regimes = _search_by_regimes(claim, budget, 0, lambda: None)
    looked, applicable, violation = regimes.evaluations, regimes.applicable, regimes.counterexample
    left_open = regimes.left_open
    if not applicable:
        hunt = short_search(claim, _HALF * budget)
        looked, applicable, violation = looked + hunt.looked, hunt.applicable, _violation_of(hunt)
        left_open += hunt.left_open
    deadline = _deadline(measure_work() + budget)
    refutation = _refutation(claim, violation, deadline, 0, lambda: None)
    table = None if refutation is None else refutation[0]
    return QuickSearch(looked, applicable, table, regimes.regimes, left_open, regimes.pairs)


def search_further(claim: Claim, budget: float) -> QuickSearch:
    """Search by regimes alone, with less work, for a violation of a claim that is proved for most runs.

    `claim` mentions the others, and only these count as looked at; where no regime has one, none is covered.
    """
    regimes = _search_by_regimes(claim, _BEYOND * budget, 0, lambda: None)
    refutation = _refutation(claim, regimes.counterexample, _deadline(measure_work() + budget), 0, lambda: None)
    table = None if refutation is None else refutation[0]
    covered = (regimes.regimes, regimes.left_open, regimes.pairs) if regimes.applicable else ()
    return QuickSearch(regimes.applicable, regimes.applicable, table, *covered)


def _deadline(end: float) -> float:
    """When a found run has to be simple: at the end of the budget, or sooner, after a long wait."""
    return min(end, measure_work() + _LONGEST)


def _refutation(
    claim: Claim, violation: tuple[Table, Check] | None, deadline: float, seed: int, on_tick: Callable[[], None]
) -> tuple[Table, Check] | None:
    """The smallest counterexample that shrinking reaches from the violation found, or from one in the families."""
    if violation is None:
        return None
    shrunk = []
    simplest = simplest_violation(claim, seed, _end_of_part(deadline, _LOOKING), on_tick).table
    if simplest is not None:
        shrunk.append(shrink(claim, simplest, _end_of_part(deadline, _HALF), on_tick))
    if not any(is_clear(claim, table) for table in shrunk):
        shrunk.append(shrink(claim, violation[0], deadline, on_tick))
    asked = [(cost, table) for table in shrunk if (cost := burden(claim, table)) is not None]
    table = min(asked, key=lambda pair: pair[0])[1] if asked else violation[0]
    return table, violation[1] if table == violation[0] else check(claim, decidable(parse_run(table, RATIONAL)))


def _end_of_part(deadline: float, part: float) -> float:
    """The time at which a part of what is left until the deadline is over."""
    now = measure_work()
    return now + part * max(deadline - now, 0)


def _largest(
    claim: Claim, hunt: SearchState | None, by_regimes: Table | None, deadline: float, on_tick: Callable[[], None]
) -> tuple[Table | None, Check | None]:
    """The simplest run with the largest ratio, checked as printed, in the arithmetic that was used for it."""
    reached = [] if hunt is None or hunt.best is None else [(hunt.best.table, hunt.best.found)]
    if by_regimes is not None:
        table = working_table(parse_run(by_regimes, RATIONAL))
        exact = evaluate_rigorously(claim, table)
        found = check(claim, parse_run(by_regimes, FLOAT)) if exact is None and not reached else exact
        if found is not None and found.holds and found.arithmetic in (RATIONAL, FLOAT):
            reached.append((table, found))
    if not reached:
        return None, None
    table, found = max(reached, key=lambda pair: (is_lively(pair[0]), score(pair[1])))
    arithmetic = found.arithmetic
    table = write_table(table, arithmetic)
    if arithmetic is RATIONAL:
        table = simplify(claim, table, deadline, on_tick)
    return table, check(claim, parse_run(table, arithmetic))
