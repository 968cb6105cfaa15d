"""What floats leave open, decided in rationals, or in enclosures where there are none."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from fedtheory.arithmetic import ENCLOSED, FLOAT
from fedtheory.engine.run import Run
from fedtheory.errors import InputError
from fedtheory.language.claim import Claim
from verify.check.nearby import nearby_runs
from verify.check.one_run import check
from verify.check.outcome import Check, Settlement

_BUDGET = 2_000_000
"""Multiplications of short rationals up to which a run is repeated exactly."""
_LONGER = 16
"""Local steps after which rationals have become twice as long."""


def check_settled(claim: Claim, exact: Run, floats: Run | None) -> Check:
    """The check in floats where they decide, else in exact arithmetic; whoever relies on a violation confirms it."""
    if floats is not None:
        found = check(claim, floats)
        # A slope that the ladder leaves open stays open in exact numbers.
        is_slope = claim.rate is not None and claim.rate.constant is None
        if not found.applicable or found.holds is not None or is_slope:
            return found
    return check(claim, exact)


def check_and_settle(claim: Claim, given: Run, exactly: Callable[[], Run]) -> Check:
    """A claim on a run that somebody gave: steady under small changes, and decided wherever that can be afforded.

    `exactly` reads the same run in rationals.
    """
    return settle(check(claim, given, nearby_runs(given)), exactly)


def settle(found: Check, exactly: Callable[[], Run]) -> Check:
    """What floats leave open, decided by repeating the run exactly where that is affordable.

    Near ties, violations, and assumptions that floats cannot decide.  Sides that
    floats have found keep their floats; the settlement says what decided.
    `exactly` reads the same run in rationals.
    """
    if found.arithmetic is not FLOAT or found.is_decided or found.claim.rate is not None:
        return found
    seen = "floats alone see a violation" if found.holds is False else "floats alone do not decide"
    try:
        exact_run = exactly()
    except InputError as reason:
        return _left_open(found, f"{seen}: {reason.message}")
    if _cost(exact_run) > _BUDGET:
        return _left_open(found, f"{seen}, and the run is too large to repeat in {exact_run.arithmetic.numbers}")
    exact = check(found.claim, exact_run)
    settled = Settlement(exact.holds, _decided(exact), exact.arithmetic.numbers)
    if exact.applicable and found.comparisons:
        return replace(found, conditions=exact.conditions, settlement=settled, is_steady=True)
    return replace(exact, arithmetic=FLOAT, settlement=settled)


def _decided(exact: Check) -> str:
    if exact.arithmetic is ENCLOSED and not exact.is_decided:
        return f"floats alone do not decide, and {exact.reason}"
    return f"decided in {exact.arithmetic.numbers}"


def _left_open(found: Check, reason: str) -> Check:
    """The check without a verdict; a reason that it has already is the better one."""
    return replace(found, settlement=Settlement(None, reason), reason=found.reason or reason)


def _cost(run: Run) -> int:
    steps = run.algorithm.rounds * max(run.algorithm.work.steps)
    # The bits of enclosures are no more than about the number of steps.
    longer = 0 if run.arithmetic is ENCLOSED else steps / _LONGER
    return int(steps * (1 + longer) * run.problem.clients * (run.problem.dimension + 1) ** 3)
