"""Clock times and counts of a run, which are exact in every arithmetic."""

from __future__ import annotations

from typing import Any

from fedtheory.arithmetic import Array
from fedtheory.engine.run import Run
from fedtheory.errors import NotApplicable
from fedtheory.federation.clock import FedFix


def convert_times(run: Run, values: Any) -> Array:
    """Return clock times or counts as numbers of the run's arithmetic."""
    return run.arithmetic.array(values)


def convert_time(run: Run, value: Any) -> Any:
    """Return a clock time or a count as a number of the run's arithmetic."""
    return run.arithmetic.number(value, "time")


def get_interval(run: Run) -> Any:
    """Return Delta t of FedFix, exact; raises `NotApplicable` for other policies."""
    policy = run.algorithm.clock.policy
    if not isinstance(policy, FedFix):
        raise NotApplicable("the server does not update at fixed intervals")
    return policy.interval
