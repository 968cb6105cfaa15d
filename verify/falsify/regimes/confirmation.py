"""Replace a float violation by a cheaper one, and decide it in rationals or enclosures."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress

import numpy as np

from fedtheory.arithmetic import RATIONAL
from fedtheory.language.claim import Claim
from fedtheory.runfile import parse_run
from verify.check import Check, check
from verify.check.escalation import LONGEST_IN_RATIONALS, make_decidable
from verify.effort import estimate_simulation, measure_work
from verify.falsify.regimes.evaluation import Seen
from verify.falsify.regimes.factors import STANDARD, Level, Point
from verify.falsify.run_tables import NO_RUN, CheckedRun, Table, read, write_table

_LIGHT, _MOST = 0.2, LONGEST_IN_RATIONALS
"""Seconds of exact work above which a cheaper violation is searched for, and above which no exact check is made.

A counterexample that is found in rationals is checked in rationals again.
"""
_TURNS = 24
_LIGHTER, _MUCH_LIGHTER = 0.8, 1 / 12
"""Fraction of the work that a cheaper run may take, and fraction below which the next pass starts at once."""
_LEAST = 0.03
"""Score that a cheaper violation must keep, unless half of the present score is smaller."""
_TOWARDS_SHORTER = {
    "clients": (-4, -2, -1),
    "local steps": (-4, -2, -1),
    "step size": (4, 2, 1),
    "conditioning": (3, 1),
    "angle": (3, 1),
    "mixing": (-1,),
}


def confirm(claim: Claim, seen: Seen, look: Callable[[Point], Seen], until: float) -> CheckedRun | None:
    """Return a similar violation's run file and rigorous check; None if no check is affordable.

    Cheaper runs are searched for until a value of the work clock, `verify.effort.measure_work`. The check may show that
    the claim holds, because floats see violations where sides cancel.
    """
    light = _find_lighter(seen, look, until)
    return None if light.table is None else decide_table(claim, light.table)


def decide_table(claim: Claim, table: Table) -> CheckedRun | None:
    """Return the run file of a run with its rigorous check; None if no affordable check decides it."""
    with suppress(*NO_RUN), np.errstate(all="ignore"):
        file = write_table(table)
        found = _decide(claim, file)
        if found is not None and found.is_decided:
            return CheckedRun(file, found)
    return None


def estimate_exact_work(table: Table) -> float:
    """Estimate the seconds of work for the rationals of a run."""
    run = read(table)
    return 0.0 if run is None else estimate_simulation(run)


def _decide(claim: Claim, table: Table) -> Check | None:
    """Check in rationals if affordable, else in enclosures if these are affordable; None otherwise."""
    exact = parse_run(table, RATIONAL)
    if estimate_simulation(exact) <= _MOST:
        return check(claim, exact)
    enclosed = make_decidable(exact)
    return None if enclosed is exact or estimate_simulation(enclosed) > _MOST else check(claim, enclosed)


def _find_lighter(seen: Seen, look: Callable[[Point], Seen], until: float) -> Seen:
    """Return a violation that takes less exact work, with the largest margin possible."""
    # The score of an equation is the logarithm of a gap.
    least = min(_LEAST, seen.score / 2) if seen.score > 0 else seen.score - 1
    for _ in range(_TURNS):
        if _estimate_work(seen) <= _LIGHT or measure_work() > until:
            break
        best = _choose_best(seen, least, look)
        if best is None:
            break
        seen = best
    return seen


def _choose_best(seen: Seen, least: float, look: Callable[[Point], Seen]) -> Seen | None:
    now, best = _estimate_work(seen), None
    for point in _list_shorter(seen.point):
        other = look(point)
        if other.holds is not False or other.score <= least:
            continue
        work = _estimate_work(other)
        if work < _LIGHTER * now and (best is None or work < _estimate_work(best)):
            best = other
        if work < _MUCH_LIGHTER * now:
            break
    return best


def _estimate_work(seen: Seen) -> float:
    return 0.0 if seen.table is None else estimate_exact_work(seen.table)


def _list_shorter(point: Point) -> Iterator[dict[str, Level]]:
    """Yield changes to fewer rounds, steps and clients, and to less extreme levels."""
    unit, exponent = point["horizon"]
    for less in (4, 2, 1):
        yield {**point, "horizon": (unit, exponent - less)}
    for horizon in (("L", 2), ("L", 0), ("T", 0), ("T", 6)):
        yield {**point, "horizon": horizon}
    for name, steps in _TOWARDS_SHORTER.items():
        level = point.get(name)
        if isinstance(level, int | float):
            for step in steps:
                moved = level + step
                yield {**point, name: STANDARD[name].within(moved) if name in STANDARD else max(moved, 0)}
