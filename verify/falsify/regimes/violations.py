"""Select the float violations that are decided in exact arithmetic, and their order; count those left open.

Work is bounded, so the order matters: kinds of runs without a decided one come first, and within a kind clear and cheap
violations. A gap that changes between perturbed runs is a tie, not a violation; one tie of each kind is decided if that
is cheap.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from fedtheory.arithmetic import FLOAT, plain_float
from fedtheory.engine.run import Run
from fedtheory.language.claim import Claim
from fedtheory.runfile import parse_run
from verify.check import check
from verify.check.perturbed_runs import perturb
from verify.effort import measure_work
from verify.falsify.regimes.confirmation import confirm, decide_table, estimate_exact_work
from verify.falsify.regimes.evaluation import Seen
from verify.falsify.regimes.factors import Point
from verify.falsify.run_tables import NO_RUN, CheckedRun, Table

_STEADY = 100
"""Required ratio of a violation's gap to its change at perturbed runs."""
_AT_ONCE, _OF_TIES = 0.5, 0.2
"""Fractions of the work for immediate decisions, and for ties."""
_ROUNDED_STEPS = 16
"""Units in the last place by which the steps of a run may separate two equal models."""
_LEAST = 0.02
"""Seconds of work below which a run is not simplified to save time."""
_EASY = 0.2
"""Largest number of seconds of exact work for a tie."""
_ROUNDING = 1e-6
"""Score of sides that differ by more than rounding, although floats cannot order them."""
SETTLED = -95.0
"""Score of a run that looks like a violation, but is none or cannot be decided."""
_DISTINCT = ("loss", "negative curvature", "weights", "participation", "local work", "clock", "aggregation")
"""Factors whose levels distinguish kinds of runs, in addition to the sources of error."""


@dataclass(frozen=True)
class _Open:
    """A violation that waits for an exact check."""

    seen: Seen
    kind: Hashable
    effort: float
    """Seconds of exact work per unit of the relative gap."""


class Violations:
    """Float violations of one search, and the work for exact checks; `look` evaluates another point."""

    def __init__(self, claim: Claim, seconds: float, look: Callable[[Point], Seen]) -> None:
        self._claim, self._look = claim, look
        self._seconds, self._spent = seconds, 0.0
        self._of_ties = _OF_TIES * seconds
        self.found: CheckedRun | None = None
        """The run file of a violation with its rigorous check."""
        self.is_deciding = False
        """Whether cheaper runs are tried for a violation; they do not count separately."""
        self._undecided = 0
        self._open: list[_Open] = []
        self._met: set[int] = set()
        self._tried: Counter[Hashable] = Counter()

    @property
    def left_open(self) -> int:
        """Return the number of float violations that no exact check decided."""
        return self._undecided + len(self._open)

    def meet(self, seen: Seen) -> None:
        """Record a run that violates the claim in floats; the first of its kind is decided at once."""
        if self.is_deciding or id(seen) in self._met or seen.table is None:
            return
        self._met.add(id(seen))
        gap = _compute_relative_gap(seen)
        if not _is_steady(self._claim, seen.table):
            self._decide_tie(seen, seen.table)
            return
        waiting = _Open(seen, _classify(seen), max(estimate_exact_work(seen.table), _LEAST) / gap)
        if self._tried[waiting.kind] or self._spent >= _AT_ONCE * self._seconds:
            self._open.append(waiting)
        else:
            self._decide(waiting)

    def meet_unclear(self, seen: Seen) -> None:
        """Record a run whose sides are in the wrong order, perhaps by rounding; its ratio is not shown."""
        is_wrong_way = seen.sides is not None and seen.sides[0] > seen.sides[1] and seen.score > _ROUNDING
        if is_wrong_way and seen.table is not None and not self.is_deciding:
            self._decide_tie(seen, seen.table)

    def decide_open(self, part: float) -> None:
        """Decide waiting violations until a fraction of the work is spent or one is confirmed."""
        while self._open and self._spent < part * self._seconds and self.found is None:
            chosen = min(self._open, key=lambda one: (self._tried[one.kind], one.effort))
            self._open.remove(chosen)
            self._decide(chosen)

    def _decide(self, one: _Open) -> None:
        begin, self.is_deciding = measure_work(), True
        left = max(self._seconds - self._spent, _EASY)
        found = confirm(self._claim, one.seen, self._look, begin + left)
        self.is_deciding = False
        self._tried[one.kind] += 1
        self._undecided += found is None
        self._record_decision(one.seen, found)
        self._spent += measure_work() - begin

    def _decide_tie(self, seen: Seen, table: Table) -> None:
        """Decide the first tie of each kind if that is cheap; other ties do not count as violations."""
        kind = ("tie", _has_zero_side(seen), seen.point["sources"])
        begin, found = measure_work(), None
        is_first = not self._tried[kind] and self._of_ties > 0
        if is_first and estimate_exact_work(table) <= _EASY:
            self._tried[kind] += 1
            found = decide_table(self._claim, table)
        self._of_ties -= measure_work() - begin
        seen.holds = None
        self._record_decision(seen, found)

    def _record_decision(self, seen: Seen, found: CheckedRun | None) -> None:
        if found is not None and found.found.applicable and found.found.holds is False:
            self.found = found
        seen.score = min(seen.score, SETTLED)


def _classify(seen: Seen) -> Hashable:
    """Return the kind of a violation: its sources of error, its setting, and whether a side is zero."""
    return _has_zero_side(seen), seen.point["sources"], *(str(seen.point.get(name)) for name in _DISTINCT)


def _has_zero_side(seen: Seen) -> bool:
    return seen.sides is not None and 0 in seen.sides


def _compute_relative_gap(seen: Seen) -> float:
    """Return the gap of a violation over the larger side, between 0 and 1."""
    if seen.sides is None:
        return max(min(math.exp(min(seen.score, 0.0)), 1.0), math.ulp(1.0))
    smaller, larger = seen.sides
    size = max(abs(smaller), abs(larger))
    gap = (smaller - larger) / size if size > 0 else 0.0
    return max(min(gap, 1.0), math.ulp(1.0)) if math.isfinite(gap) else math.ulp(1.0)


def _is_steady(claim: Claim, table: Table) -> bool:
    """Return whether perturbed runs violate a claim by nearly the same gap; rounding errors would differ.

    A gap of squared distances may be one squared unit in the last place of a model, on each of them.
    """
    run = parse_run(table, FLOAT)
    gap = _compute_gap(claim, run)
    if abs(gap) <= (_ROUNDED_STEPS * math.ulp(_measure_models(run))) ** 2:
        return False
    return all(
        _STEADY * abs(_compute_gap(claim, near) - gap) <= abs(gap) and math.isfinite(gap) for near in perturb(run)
    )


def _measure_models(run: Run) -> float:
    """Return the largest coordinate of the start and of the clients' minimisers, between which the models move."""
    start = float(np.abs(run.problem.start).max())
    with suppress(*NO_RUN):
        far = max(start, float(np.abs(run.problem.client_optima).max())) if run.problem.is_quadratic else start
        return far if math.isfinite(far) else start
    return start


def _compute_gap(claim: Claim, run: Run) -> float:
    """Return the gap where a violation is largest; infinite if there is none, or a side has no value."""
    with suppress(*NO_RUN):
        found = check(claim, run)
        if found.applicable and found.holds is False and found.worst is not None:
            return plain_float(found.worst.lhs - found.worst.rhs)
    return math.inf
