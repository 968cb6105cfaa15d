"""What floats leave open, decided in rationals, or in enclosures where there are none."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from fedtheory.arithmetic import ENCLOSED, FLOAT, RATIONAL
from fedtheory.engine.run import Run
from fedtheory.errors import InputError
from fedtheory.runfile import read_run
from verify.check import Check, Settlement, check

_BUDGET = 2_000_000
"""Multiplications of short rationals up to which a run is repeated exactly."""
_LONGER = 16
"""Local steps after which rationals have become twice as long."""


def settle(found: Check, run_file: str) -> Check:
    """What floats leave open, decided by repeating the run of a file exactly; see `settle_with`."""
    return settle_with(found, lambda: read_run(run_file, RATIONAL))


def settle_with(found: Check, exactly: Callable[[], Run]) -> Check:
    """What floats leave open, decided by repeating the run exactly where that is affordable.

    Near ties, violations, and assumptions that floats cannot decide.  Sides that
    floats have found keep their floats; the settlement says what decided.
    `exactly` reads the same run in rationals.
    """
    if found.arithmetic is not FLOAT or found.is_decided or found.claim.rate is not None:
        return found
    try:
        exact_run = exactly()
    except InputError as reason:
        return _left_open(found, f"floats alone do not decide: {reason.message}")
    if _cost(exact_run) > _BUDGET:
        repeated = f"the run is too large to repeat in {exact_run.arithmetic.numbers}"
        return _left_open(found, f"floats alone do not decide, and {repeated}")
    exact = check(found.claim, exact_run)
    settled = Settlement(exact.holds, _decided(exact))
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
