"""Assumptions on clocks: client times, whole cycles, intervals of half a client time."""

from __future__ import annotations

from fedtheory.engine.run import Run
from fedtheory.federation.clock import FedFix
from fedtheory.language.assumptions.assumption import Setting, expect


def _require_whole_cycles(run: Run) -> None:
    """Require that each client has reported once per client time, in FedFix rounded up to whole intervals."""
    schedule, policy = run.algorithm.schedule, run.algorithm.clock.policy
    times = run.algorithm.clock.times
    if isinstance(policy, FedFix):
        times = tuple((time / policy.interval).ceil() * policy.interval for time in times)
    reports = schedule.participates.sum(axis=0)
    is_whole = all(count * time == schedule.times[-1] for count, time in zip(map(int, reports), times, strict=True))
    expect(is_whole, "the run does not end with a whole cycle")


def _require_integer_times(run: Run) -> None:
    expect(all(time.q == 1 for time in run.algorithm.clock.times), "the update times are not whole numbers")


def _require_equal_times(run: Run) -> None:
    expect(len(set(run.algorithm.clock.times)) <= 1, "the clients' update times differ")


def _require_half_of_one_time(run: Run) -> None:
    """Require FedFix with an interval of half the common client time, over whole client times."""
    clock = run.algorithm.clock
    _require_equal_times(run)
    halved = isinstance(clock.policy, FedFix) and 2 * clock.policy.interval == clock.times[0]
    expect(halved, "the server does not update at intervals of half the clients' update time")
    whole = run.algorithm.rounds % 2 == 0 and not clock.is_random
    expect(whole, "the run does not end at a whole multiple of the clients' update time")


identical_times = Setting("identical update times", r"$\tau_i=\tau_1$ for all clients", _require_equal_times)

half_of_one_time = Setting(
    "FedFix-0.5 under F0",
    r"all clients need the same time, and $\Delta t$ is half of it; the run ends with a report",
    _require_half_of_one_time,
)

finite_answering_time = Setting(
    "finite answering time", r"$\tau=\max_{i,n}(n-\rho_i(n))$ is finite", lambda run: run.algorithm.largest_staleness
)

whole_times = Setting("whole times", r"the update times $\tau_i$ are whole numbers", _require_integer_times)

whole_cycles = Setting(
    "whole cycles", r"the run ends when every client has reported in proportion to its speed", _require_whole_cycles
)
