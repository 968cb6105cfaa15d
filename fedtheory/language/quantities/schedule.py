"""Facts of a schedule: times, staleness, windows, counts (fraboni2022, Sections 2.2, 3 and 4)."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from fedtheory.arithmetic import Array
from fedtheory.engine.run import Run
from fedtheory.errors import NotApplicable
from fedtheory.federation.clock import FedFix
from fedtheory.language.quantities.axes import on_clients, on_rounds, on_rounds_and_clients
from fedtheory.language.quantities.notion import Quantity, constant, per_round


def _numbers(run: Run, values: Any) -> Array:
    """Clock times or counts, exact in every arithmetic, as numbers of the run's."""
    return run.arithmetic.array(values)


def _number(run: Run, value: Any) -> Any:
    return run.arithmetic.number(value, "time")


def interval_of(run: Run) -> Any:
    """Delta t of FedFix, exact; `NotApplicable` for other policies."""
    policy = run.algorithm.clock.policy
    if not isinstance(policy, FedFix):
        raise NotApplicable("the server does not update at fixed intervals")
    return policy.interval


def whole_times(run: Run) -> list[int]:
    """The clients' update times, once they are known to be whole numbers."""
    times = run.algorithm.clock.times
    if any(time.q != 1 for time in times):
        raise NotApplicable("the clients' update times are not whole numbers")
    return [int(time.p) for time in times]


def _update_times(run: Run) -> list[Any]:
    """t^0 .. t^N."""
    times = run.algorithm.times(run.problem.weights)
    return [times[0] - times[0], *times]


def _remaining(run: Run) -> Array:
    """T_i^n = T_i - (t^n - t^{rho_i(n)}), (N, M), exact."""
    schedule = run.algorithm.schedule
    times = np.array(schedule.times, dtype=object)
    elapsed: Array = times[:-1, None] - times[schedule.received]
    return np.array(run.algorithm.clock.times, dtype=object) - elapsed


update_time = constant(
    "update_time",
    r"\tau_i",
    "update time T_i of each client",
    lambda run: on_clients(_numbers(run, run.algorithm.clock.times)),
)
slowest_time = constant(
    "slowest_time",
    r"\tau_M",
    "largest update time of a client",
    lambda run: _number(run, max(run.algorithm.clock.times)),
)
fastest_time = constant(
    "fastest_time",
    r"\tau_0",
    "smallest update time of a client",
    lambda run: _number(run, min(run.algorithm.clock.times)),
)
update_rate = constant(
    "update_rate",
    r"\sum_i\frac1{\tau_i}",
    "sum_i 1/tau_i, how often clients finish in a unit of time",
    lambda run: _number(run, sum(1 / time for time in run.algorithm.clock.times)),
)
interval = constant(
    "interval", r"\Delta t", "time between two updates of FedFix", lambda run: _number(run, interval_of(run))
)
clock_time = Quantity(
    "clock_time",
    "T",
    "clock time of the last update, expected where participants are drawn",
    lambda run: _number(run, _update_times(run)[-1]),
)
round_duration = per_round(
    "round_duration",
    r"\Delta t^n",
    "Delta t^n = t^{n+1} - t^n, expected where participants are drawn",
    lambda run: on_rounds(_numbers(run, np.diff(np.array(_update_times(run), dtype=object)))),
)
round_start = per_round(
    "round_start",
    "t^n",
    "clock time at which round n starts, expected where participants are drawn",
    lambda run: on_rounds(_numbers(run, _update_times(run)[:-1])),
)
remaining_time = per_round(
    "remaining_time",
    "T_i^n",
    "T_i - (t^n - t^{rho_i(n)}), time that each client still needs when round n starts",
    lambda run: on_rounds_and_clients(_numbers(run, _remaining(run))),
)
reports = per_round(
    "reports",
    r"\mathbb I(T_i^n\le\Delta t^n)",
    "1 for the clients that report in update n, else 0",
    lambda run: on_rounds_and_clients(_numbers(run, run.algorithm.schedule.participates.astype(int))),
)
staleness = per_round(
    "staleness",
    r"n-\rho_i(n)",
    "n - rho_i(n), how many updates ago each client received its model",
    lambda run: on_rounds_and_clients(_numbers(run, run.algorithm.schedule.staleness)),
)
largest_staleness = Quantity(
    "largest_staleness",
    r"\tau",
    "tau = max over i, n of n - rho_i(n)",
    lambda run: _number(run, run.algorithm.schedule.largest_staleness),
)
window = Quantity(
    "window",
    "W",
    "the smallest W that divides N with equal weights of each client in every block of W updates",
    lambda run: _number(run, run.algorithm.schedule.smallest_window(run.surrogate.weights)),
)
report_count = Quantity(
    "report_count",
    r"\sum_n\mathbb I(T_i^n\le\Delta t^n)",
    "number of updates in which each client reports",
    lambda run: on_clients(_numbers(run, run.algorithm.schedule.participates.sum(axis=0))),
)


def _of_whole_times(measure: Callable[[list[int]], int | list[int]]) -> Callable[[Run], Any]:
    def measured(run: Run) -> Any:
        found = measure(whole_times(run))
        return on_clients(_numbers(run, found)) if isinstance(found, list) else _number(run, found)

    return measured


def _report_intervals(run: Run) -> list[int]:
    """N_i' = ceil(T_i / Delta t), updates of FedFix from one report of a client to its next."""
    length = interval_of(run)
    return [int((time / length).ceil()) for time in run.algorithm.clock.times]


common_period = constant(
    "common_period",
    r"\nu",
    "nu, least common multiple of the clients' whole update times",
    _of_whole_times(lambda times: math.lcm(*times)),
)
reports_in_a_period = constant(
    "reports_in_a_period",
    r"\sum_i\nu/\tau_i",
    "sum_i nu / tau_i",
    _of_whole_times(lambda times: sum(math.lcm(*times) // time for time in times)),
)
report_interval = constant(
    "report_interval",
    "N_i'",
    "ceil(T_i / Delta t), updates of FedFix from one report of each client to its next",
    lambda run: on_clients(_numbers(run, _report_intervals(run))),
)
common_report_interval = constant(
    "common_report_interval",
    r"\operatorname{lcm}(\{N_i'\})",
    "least common multiple of the report intervals of FedFix",
    lambda run: _number(run, math.lcm(*_report_intervals(run))),
)
longest_report_interval = constant(
    "longest_report_interval",
    r"\lceil\tau_M/\Delta t\rceil",
    "ceil(tau_M / Delta t), the longest report interval of FedFix",
    lambda run: _number(run, max(_report_intervals(run))),
)
