"""Schedules of reports: staleness, windows, buffers, counts of reports, periods."""

from __future__ import annotations

import math
from typing import Any

from fedtheory.engine.run import Run
from fedtheory.errors import NotApplicable
from fedtheory.federation.clock import Asynchronous, FedBuff, FedFix
from fedtheory.language import assumptions as a
from fedtheory.language.quantities.measuring.axes import place_on_clients, place_on_rounds_and_clients
from fedtheory.language.quantities.measuring.reductions import LARGEST_CLIENT, SUM_OVER_ROUNDS
from fedtheory.language.quantities.measuring.terms import reduce_entries
from fedtheory.language.quantities.quantity import RunQuantity, constant, per_round
from fedtheory.sources.fraboni2022.quantities.clocks import convert_time, convert_times, get_interval

reports = per_round(
    "reports",
    r"\mathbb I(T_i^n\le\Delta t^n)",
    "1 for the clients that report in update n, else 0",
    lambda run: place_on_rounds_and_clients(convert_times(run, run.algorithm.schedule.participates.astype(int))),
    primitive="clock",
)
staleness = per_round(
    "staleness",
    r"n-\rho_i(n)",
    "n - rho_i(n), how many updates ago each client received its model",
    lambda run: place_on_rounds_and_clients(convert_times(run, run.algorithm.schedule.staleness)),
    primitive="clock",
)
largest_staleness = RunQuantity(
    "largest_staleness",
    r"\tau",
    "tau = max over i, n of n - rho_i(n)",
    lambda run: convert_time(run, run.algorithm.largest_staleness),
    assumption=a.finite_answering_time,
    primitive="clock",
)
window = RunQuantity(
    "window",
    "W",
    "the smallest W that divides N with equal weights of each client in every block of W updates",
    lambda run: convert_time(run, run.algorithm.schedule.smallest_window(run.surrogate.weights)),
    primitive="window",
)
report_count = reduce_entries(
    "report_count",
    r"\sum_n\mathbb I(T_i^n\le\Delta t^n)",
    "number of updates in which each client reports",
    reports,
    SUM_OVER_ROUNDS,
)


def _measure_buffer(run: Run) -> Any:
    """Return the number of contributions that the server waits for; raises `NotApplicable` for FedFix."""
    policy = run.algorithm.clock.policy
    if isinstance(policy, FedFix):
        raise NotApplicable("the server waits for a time, not for a number of contributions")
    if isinstance(policy, FedBuff):
        return convert_time(run, policy.buffer)
    return convert_time(run, 1 if isinstance(policy, Asynchronous) else run.clients)


buffer = constant(
    "buffer",
    "m",
    "contributions that the server waits for",
    _measure_buffer,
    primitive="clock",
)


def _read_integer_times(run: Run) -> list[int]:
    """Return the client times as integers; raises `NotApplicable` if one of them is not an integer."""
    run.require_single_clients("reports are those of single clients")
    times = run.algorithm.clock.times
    if any(time.q != 1 for time in times):
        raise NotApplicable("the clients' update times are not whole numbers")
    return [int(time.p) for time in times]


def _count_reports_in_a_period(run: Run) -> Any:
    times = _read_integer_times(run)
    return convert_time(run, sum(math.lcm(*times) // time for time in times))


common_period = constant(
    "common_period",
    r"\nu",
    "nu, least common multiple of the clients' whole update times",
    lambda run: convert_time(run, math.lcm(*_read_integer_times(run))),
    primitive="clock",
)
reports_in_a_period = constant(
    "reports_in_a_period",
    r"\sum_i\nu/\tau_i",
    "sum_i nu / tau_i",
    _count_reports_in_a_period,
    primitive="clock",
)


def _compute_report_intervals(run: Run) -> list[int]:
    """Return N_i' = ceil(T_i / Delta t), the number of FedFix updates between two reports of a client."""
    interval = get_interval(run)
    return [int((time / interval).ceil()) for time in run.algorithm.clock.times]


report_interval = constant(
    "report_interval",
    "N_i'",
    "ceil(T_i / Delta t), updates of FedFix from one report of each client to its next",
    lambda run: place_on_clients(convert_times(run, _compute_report_intervals(run))),
    primitive="clock",
)
common_report_interval = constant(
    "common_report_interval",
    r"\operatorname{lcm}(\{N_i'\})",
    "least common multiple of the report intervals of FedFix",
    lambda run: convert_time(run, math.lcm(*_compute_report_intervals(run))),
    primitive="clock",
)
longest_report_interval = reduce_entries(
    "longest_report_interval",
    r"\lceil\tau_M/\Delta t\rceil",
    "ceil(tau_M / Delta t), the longest report interval of FedFix",
    report_interval,
    LARGEST_CLIENT,
)


def _count_other_reports(run: Run) -> Any:
    """Return max_i sum_{j != i} ceil(tau_i / tau_j)."""
    run.require_single_clients("reports are those of single clients")
    times = run.algorithm.clock.times
    sums = [sum(int((time / other).ceil()) for other in times) - 1 for time in times]
    return convert_time(run, max(sums))


most_other_reports = constant(
    "most_other_reports",
    r"\max_i\sum_{j\ne i}\lceil\tau_i/\tau_j\rceil",
    "max_i sum_{j != i} ceil(tau_i/tau_j), reports of the others that fit into one update time of a client",
    _count_other_reports,
    primitive="clock",
)
