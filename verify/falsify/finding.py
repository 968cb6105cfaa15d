"""What a search for a violation ends with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from time import perf_counter
from typing import Literal

from fedtheory.arithmetic import RATIONAL
from fedtheory.language.claim import Claim
from fedtheory.runfile import parse_run, run_toml
from fedtheory.shown import Card, Shown, number
from verify.check import Check, check
from verify.falsify.hunt import Hunt
from verify.falsify.search import search, short_search, simplest_violation
from verify.falsify.shrink import burden, shrink, simplify
from verify.falsify.tables import Table, written

_LOOKING, _SHRINKING = 0.2, 0.6
"""Seconds for each second of the budget, at most: to look for simpler violations, and until the end of shrinking."""
_LONGEST_LOOK, _LONGEST_SHRINKING = 1.0, 8.0
"""Seconds, whatever the budget: who has a violation waits no longer for a simpler one."""
_LEAST = 5.0
"""Seconds of budget that shrinking counts with in any case."""


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

    def summary(self) -> str:
        """The claim, the verdict, and how many runs were tried."""
        return f"{self.claim.id}: {self.verdict}, {self.looked} runs tried"

    def card(self) -> Card:
        """The statement, both sides, and the run."""
        worst = None if self.found is None else self.found.worst
        facts = {"largest ratio": number(self.best_ratio)}
        if worst is not None:
            facts |= {"left side": number(worst.lhs), "right side": number(worst.rhs)}
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
    """Search for a violation for `budget` seconds, and shrink it where there is one.

    A claim is refuted by the exact check of the run that is reported, never otherwise.
    """
    hunt = search(claim, budget, seed, on_progress)
    table, found = _refutation(hunt, budget, seed) or _largest(hunt, budget)
    verdict: Literal["refuted", "not refuted"] = (
        "refuted" if found is not None and found.arithmetic.is_rigorous and found.holds is False else "not refuted"
    )
    return Finding(claim, verdict, table, found, hunt.looked, hunt.applicable, hunt.seconds)


@dataclass(frozen=True)
class Glance:
    """What a short search ends with."""

    looked: int
    """Runs that were tried."""
    counterexample: Table | None
    """The run file of a counterexample, as a table."""


def glance(claim: Claim, budget: float) -> Glance:
    """Search for a violation where bounds usually fail, for at most `budget` seconds, and shrink what is found."""
    hunt = short_search(claim, budget)
    refutation = _refutation(hunt, budget, seed=0)
    return Glance(hunt.looked, None if refutation is None else refutation[0])


def _refutation(hunt: Hunt, budget: float, seed: int) -> tuple[Table, Check] | None:
    """The smallest counterexample that shrinking reaches from the violation found, or from one in the families."""
    if hunt.violation is None:
        return None
    begin, budget = perf_counter(), max(budget, _LEAST)
    simplest = simplest_violation(hunt.claim, seed, begin + min(_LOOKING * budget, _LONGEST_LOOK))
    starts = [hunt.violation.table] if simplest is None else [simplest, hunt.violation.table]
    shrunk = [shrink(hunt.claim, start, begin + min(_SHRINKING * budget, _LONGEST_SHRINKING)) for start in starts]
    table = min(shrunk, key=lambda smaller: _order(hunt.claim, smaller))
    return table, check(hunt.claim, parse_run(table, RATIONAL))


def _order(claim: Claim, table: Table) -> tuple[int, ...]:
    """Counterexamples by what they ask of a reader."""
    asked = burden(claim, table)
    assert asked is not None
    return asked


def _largest(hunt: Hunt, budget: float) -> tuple[Table | None, Check | None]:
    """The simplest run with the largest ratio, checked as it is printed, in the arithmetic that was used for it."""
    if hunt.best is None:
        return None, None
    arithmetic = hunt.best.found.arithmetic
    table = written(hunt.best.table, arithmetic)
    if arithmetic is RATIONAL:
        table = simplify(hunt.claim, table, perf_counter() + _SHRINKING * budget)
    return table, check(hunt.claim, parse_run(table, arithmetic))
