"""What a search for a violation ends with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from time import perf_counter
from typing import Literal

from fedtheory.arithmetic import RATIONAL
from fedtheory.errors import InputError
from fedtheory.language.claim import Claim
from fedtheory.runfile import parse_run, run_toml
from fedtheory.shown import Card, Shown, number
from verify.check import Check, check
from verify.effort import worked
from verify.falsify.hunt import Hunt
from verify.falsify.search import Simplest, require_testable, search, short_search, simplest_violation
from verify.falsify.shrink import burden, is_clear, shrink, simplify
from verify.falsify.tables import Table, written
from verify.shown_place import points_in_words, shown_place

_SEARCHING, _HALF = 0.85, 0.5
"""Part of the budget for the search, and of a small one; the rest makes a simpler run of what is found."""
_LEAST, _LONGEST = 1.0, 8.0
"""Seconds that it gets of a large budget, and at most: who has a violation waits no longer for a simpler one."""
_EASILY, _EASY = 0.1, 2.0
"""Part of the budget, and seconds at most, for small runs before all others: most false claims fail on one of them."""
_LOOKING = 0.3
"""Part of these seconds in which simpler violations are looked for."""


@dataclass(frozen=True, eq=False, repr=False)
class Finding(Shown):
    """The verdict of a search on one claim."""

    claim: Claim
    verdict: Literal["refuted", "not refuted"]
    run: Table | None
    """The run file of the counterexample, or of the largest ratio, as a table; None where no run was applicable."""
    found: Check | None
    """The check of exactly that run, in exact arithmetic for a counterexample."""
    looked: int
    """Runs that were tried."""
    applicable: int
    """Of these, runs of which the claim speaks."""
    seconds: float
    """On the clock."""

    def summary(self) -> str:
        """The claim, the verdict, and how many runs were tried."""
        return f"{self.claim.id}: {self.verdict}, {self.looked} runs tried"

    def card(self) -> Card:
        """The statement, both sides, and the run."""
        shown = None if self.found is None else shown_place(self.found)
        facts = {"largest ratio": number(self.best_ratio)}
        if shown is not None:
            facts |= {"left side": number(shown.lhs), "right side": number(shown.rhs)}
            facts["at"] = points_in_words(self.claim, shown.points)
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

    A claim is refuted by the exact check of the run that is reported, never otherwise.
    """
    if not budget >= 0:
        raise InputError("budget", f"expected a number of seconds that is not negative, got {budget}")
    begin, seconds, started = worked(), int(budget), perf_counter()
    on_tick = partial(_tell, on_progress, begin, seconds)
    easy = _easily(claim, begin + min(_EASILY * budget, _EASY), begin + budget, seed, on_tick)
    known, looked, applicable = _confirmed(claim, easy.table), easy.looked, easy.applicable
    if known is not None and is_clear(claim, known[0]):
        best: tuple[Table | None, Check | None] = known
    else:
        hunt = search(claim, _SEARCHING * budget - (worked() - begin), seed, lambda _done, _whole: on_tick())
        looked, applicable = looked + hunt.looked, applicable + hunt.applicable
        deadline = _deadline(begin + budget)
        best = _refutation(hunt, deadline, seed, on_tick) or known or _largest(hunt, deadline, on_tick)
    table, found = best
    on_progress(seconds, seconds)
    verdict: Literal["refuted", "not refuted"] = (
        "refuted" if found is not None and found.arithmetic.is_rigorous and found.holds is False else "not refuted"
    )
    return Finding(claim, verdict, table, found, looked, applicable, perf_counter() - started)


def _confirmed(claim: Claim, table: Table | None) -> tuple[Table, Check] | None:
    """A violation with its check, where it is one in rationals."""
    if table is None or burden(claim, table) is None:
        return None
    return table, check(claim, parse_run(table, RATIONAL))


def _easily(claim: Claim, until: float, end: float, seed: int, on_tick: Callable[[], None]) -> Simplest:
    """The simplest violation among small runs, made smaller; rates are seen on long ones alone."""
    require_testable(claim)
    if claim.rate is not None:
        return Simplest(None, 0, 0)
    simplest = simplest_violation(claim, seed, until, on_tick)
    if simplest.table is None:
        return simplest
    return replace(simplest, table=shrink(claim, simplest.table, _deadline(end), on_tick))


def _tell(on_progress: Callable[[int, int], None], begin: float, seconds: int) -> None:
    """Seconds done, of all that the search and the shrinking have."""
    on_progress(min(int(worked() - begin), seconds), seconds)


@dataclass(frozen=True)
class Glance:
    """What a short search ends with."""

    looked: int
    """Runs that were tried."""
    counterexample: Table | None
    """The run file of a counterexample, as a table."""


def glance(claim: Claim, budget: float) -> Glance:
    """Search for a violation where bounds usually fail, for at most `budget` seconds, and shrink what is found."""
    begin = worked()
    hunt = short_search(claim, _searching(budget))
    refutation = _refutation(hunt, _deadline(begin + budget), 0, lambda: None)
    return Glance(hunt.looked, None if refutation is None else refutation[0])


def _searching(budget: float) -> float:
    """Seconds of the search: what is left for a simpler run is some of the budget, not more than it."""
    return max(_HALF * budget, min(_SEARCHING * budget, budget - _LEAST))


def _deadline(end: float) -> float:
    """When a found run has to be simple: at the end of the budget, or sooner, after a long wait."""
    return min(end, worked() + _LONGEST)


def _refutation(hunt: Hunt, deadline: float, seed: int, on_tick: Callable[[], None]) -> tuple[Table, Check] | None:
    """The smallest counterexample that shrinking reaches from the violation found, or from one in the families.

    What takes longer to check than there is time stays as it is.
    """
    given = hunt.violation
    if given is None or worked() + given.seconds > deadline:
        return None if given is None else (given.table, given.found)
    shrunk = []
    simplest = simplest_violation(hunt.claim, seed, _share(deadline, _LOOKING), on_tick).table
    if simplest is not None:
        shrunk.append(shrink(hunt.claim, simplest, _share(deadline, _HALF), on_tick))
    if not any(is_clear(hunt.claim, table) for table in shrunk):
        shrunk.append(shrink(hunt.claim, given.table, deadline, on_tick))
    table = shrunk[0] if len(shrunk) == 1 else min(shrunk, key=lambda smaller: _order(hunt.claim, smaller))
    return table, given.found if table == given.table else check(hunt.claim, parse_run(table, RATIONAL))


def _share(deadline: float, part: float) -> float:
    """The time at which a part of what is left until the deadline is over."""
    now = worked()
    return now + part * max(deadline - now, 0)


def _order(claim: Claim, table: Table) -> tuple[int, ...]:
    """Counterexamples by what they ask of a reader."""
    asked = burden(claim, table)
    assert asked is not None
    return asked


def _largest(hunt: Hunt, deadline: float, on_tick: Callable[[], None]) -> tuple[Table | None, Check | None]:
    """The simplest run with the largest ratio, checked as it is printed, in the arithmetic that was used for it."""
    if hunt.best is None:
        return None, None
    arithmetic = hunt.best.found.arithmetic
    table = written(hunt.best.table, arithmetic)
    if arithmetic is RATIONAL:
        table = simplify(hunt.claim, table, deadline, on_tick)
    return table, check(hunt.claim, parse_run(table, arithmetic))
