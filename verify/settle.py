"""Near ties and violations of floats, decided in rationals."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from fedtheory.arithmetic import FLOAT, RATIONAL
from fedtheory.errors import InputError
from fedtheory.run import Run
from fedtheory.runfile import read_run
from verify.check import Check, Settlement, check

_BUDGET = 2_000_000
"""Rational multiplications per local step, times local steps, up to which a run is repeated exactly."""


def settle(found: Check, run_file: str) -> Check:
    """A near tie or a violation in floats, decided by repeating the run of a file in rationals; see `settle_with`."""
    return settle_with(found, lambda: read_run(run_file, RATIONAL))


def settle_with(found: Check, exactly: Callable[[], Run]) -> Check:
    """A near tie or a violation in floats, decided by repeating the run in rationals where that is affordable.

    `exactly` reads the same run in rationals.  The sides keep their floats; the settlement says what decided.
    """
    if found.arithmetic is not FLOAT or not found.applicable or found.holds or not found.comparisons:
        return found
    try:
        exact_run = exactly()
    except InputError as reason:
        return replace(found, settlement=Settlement(None, f"floats alone do not decide: {reason.message}"))
    if _cost(exact_run) > _BUDGET:
        too_large = "floats alone do not decide, and the run is too large to repeat in rationals"
        return replace(found, settlement=Settlement(None, too_large))
    exact = check(found.claim, exact_run)
    if not exact.applicable:
        return exact
    return replace(found, settlement=Settlement(exact.holds, "decided in rationals"))


def _cost(run: Run) -> int:
    steps = run.algorithm.rounds * max(run.algorithm.work.steps)
    return int(steps * run.problem.clients * (run.problem.dimension + 1) ** 3)
