"""Margins of step sizes for losses with bounded derivatives, whose runs fail long before they diverge.

Above some step size such a run jumps about x* and never settles, while models stay bounded.  The margin is then kept
from the step sizes at which the result is clearly worse.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Protocol

from fedtheory.planner.outcomes import ErrorAtStepSize

_MOST = 25
"""Number of step sizes that are tried below the best one."""
_WORSE = 2.0
"""Ratio of the error at the larger step size from which a result is clearly worse, if no target decides."""


class Search(Protocol):
    """Results of a run at any step size."""

    margin: float

    @property
    def planned_rounds(self) -> int:
        """The rounds of the run as planned."""

    def outcome(self, step_size: float, rounds: int, /) -> ErrorAtStepSize:
        """Compute the error of the run in at most `rounds` rounds."""

    def confirm_outcome(self, step_size: float, rounds: int, /) -> ErrorAtStepSize:
        """Compute the error of the run; if it reaches the target, also whether it stays below it later."""


def keep_margin(search: Search, best: ErrorAtStepSize) -> ErrorAtStepSize:
    """Return the largest step size, from the best one down, at which a larger one by the margin does as well.

    Each step size is smaller than the previous one by the margin, so that it needs one run.  Returns the best one
    without a margin if there is none.
    """
    if search.margin == 0 or not math.isfinite(best.error):
        return best
    ratio = 1 - search.margin
    rounds = max(search.planned_rounds, best.rounds) if best.reached else best.rounds
    beyond = search.outcome(best.step_size / ratio, rounds)
    best = replace(best, beyond=beyond)
    here = best
    for power in range(1, _MOST + 1):
        if _does_as_well(beyond, here, best):
            return replace(here, beyond=beyond)
        beyond, here = here, search.confirm_outcome(best.step_size * ratio**power, rounds)
    return best


def _does_as_well(beyond: ErrorAtStepSize, here: ErrorAtStepSize, best: ErrorAtStepSize) -> bool:
    """Return whether the result at the larger step size is about as good as that at the smaller one.

    Without a target, the smaller one must also be no worse than the best one is when that is increased by the margin.
    """
    if best.reached:
        return here.reached and beyond.reached
    is_no_worse = best.beyond is None or here.error <= max(best.error, best.beyond.error)
    return is_no_worse and beyond.error <= _WORSE * here.error
