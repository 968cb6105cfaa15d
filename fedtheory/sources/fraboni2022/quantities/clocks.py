"""Clock times: client times, durations of rounds, intervals of FedFix, and remaining times."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from flint import arb, fmpq

from fedtheory.arithmetic import FLOAT, Array, plain_float
from fedtheory.arithmetic.enclosures import precise_enclosures
from fedtheory.engine.frames.outcomes import MOST_OUTCOMES
from fedtheory.engine.run import Run
from fedtheory.errors import NotApplicable
from fedtheory.federation.clock import FedFix
from fedtheory.kernel.expressions import ClientSum
from fedtheory.language.assumptions.clocks import expect_no_cycle
from fedtheory.language.quantities.measuring.axes import place_on_clients, place_on_rounds, place_on_rounds_and_clients
from fedtheory.language.quantities.measuring.reductions import LARGEST_CLIENT, SMALLEST_CLIENT
from fedtheory.language.quantities.measuring.terms import define_in_numbers, reduce_entries
from fedtheory.language.quantities.quantity import RunQuantity, constant, per_round


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


update_time = constant(
    "update_time",
    r"\tau_i",
    "update time T_i of each client",
    lambda run: place_on_clients(convert_times(run, run.algorithm.clock.times)),
    primitive="clock",
)
slowest_time = reduce_entries("slowest_time", r"\tau_M", "largest update time of a client", update_time, LARGEST_CLIENT)
fastest_time = reduce_entries(
    "fastest_time", r"\tau_0", "smallest update time of a client", update_time, SMALLEST_CLIENT
)
update_rate = define_in_numbers(
    "update_rate",
    r"\sum_i\frac1{\tau_i}",
    "sum_i 1/tau_i, how often clients finish in a unit of time",
    ClientSum(1 / update_time.symbol),
    of=[update_time],
)
interval = constant(
    "interval",
    r"\Delta t",
    "time between two updates of FedFix",
    lambda run: convert_time(run, get_interval(run)),
    primitive="clock",
)


def _measure_update_times(run: Run) -> list[Any]:
    """Return t^0 .. t^N, exact."""
    times = run.algorithm.times(run.problem.weights)
    return [times[0] - times[0], *times]


clock_time = RunQuantity(
    "clock_time",
    "T",
    "clock time of the last update, expected where participants are drawn",
    lambda run: convert_time(run, _measure_update_times(run)[-1]),
    primitive="clock",
)

expected_clock_time = RunQuantity(
    "expected_clock_time",
    "T",
    "expected clock time of the last round's end",
    lambda run: convert_time(run, run.algorithm.times(run.problem.weights)[-1]),
    primitive="clock",
)


def _compute_expected_round_time(run: Run) -> Any:
    """Return E[max of T_i over the participants], over all outcomes of a round."""
    expect_no_cycle(run)
    run.require_single_clients("outcomes of a round are those of single clients")
    if run.algorithm.aggregation.participation.possibilities(run.problem.clients) > MOST_OUTCOMES:
        raise NotApplicable(f"a round has more than {MOST_OUTCOMES} outcomes")
    chances, weights = run.algorithm.aggregation.participation.outcomes(run.problem.weights)
    times = run.algorithm.clock.times
    # A round without participants lasts as long as the fastest client works.
    present = ([time for time, weight in zip(times, row, strict=True) if weight != 0] for row in weights)
    slowest = [max(each, default=min(times)) for each in present]
    return chances @ run.arithmetic.array(slowest)


expected_round_time = constant(
    "expected_round_time",
    r"\mathbb E[\max_{i\in S_n}T_i]",
    "expected update time of the slowest participant of a round, over all outcomes",
    _compute_expected_round_time,
    primitive="clock",
)
round_duration = per_round(
    "round_duration",
    r"\Delta t^n",
    "Delta t^n = t^{n+1} - t^n, expected where participants are drawn",
    lambda run: place_on_rounds(convert_times(run, np.diff(np.array(_measure_update_times(run), dtype=object)))),
    primitive="clock",
)
round_start = per_round(
    "round_start",
    "t^n",
    "clock time at which round n starts, expected where participants are drawn",
    lambda run: place_on_rounds(convert_times(run, _measure_update_times(run)[:-1])),
    primitive="clock",
)


def _compute_remaining(run: Run) -> Array:
    """Return T_i^n = T_i - (t^n - t^{rho_i(n)}), (N, M), exact."""
    schedule = run.algorithm.schedule
    times = np.array(schedule.times, dtype=object)
    elapsed: Array = times[:-1, None] - times[schedule.received]
    return np.array(run.algorithm.clock.times, dtype=object) - elapsed


remaining_time = per_round(
    "remaining_time",
    "T_i^n",
    "T_i - (t^n - t^{rho_i(n)}), time that each client still needs when round n starts",
    lambda run: place_on_rounds_and_clients(convert_times(run, _compute_remaining(run))),
    primitive="clock",
)

largest_remaining_time = reduce_entries(
    "largest_remaining_time",
    r"\max_iT_i^n",
    "max_i T_i^n, time until the last client is done when round n starts",
    remaining_time,
    LARGEST_CLIENT,
)
least_remaining_time = reduce_entries(
    "least_remaining_time",
    r"\min_iT_i^n",
    "min_i T_i^n, time until the first client is done when round n starts",
    remaining_time,
    SMALLEST_CLIENT,
)


def _compute_speed_ratio(run: Run) -> fmpq:
    """Return tau_M / tau_0, exact."""
    ratio: fmpq = max(run.algorithm.clock.times) / min(run.algorithm.clock.times)
    return ratio


speed_ratio_below = constant(
    "speed_ratio_below",
    r"\lfloor\tau_M/\tau_0\rfloor",
    "floor(tau_M / tau_0), slowest over fastest update time, rounded down",
    lambda run: convert_time(run, int(_compute_speed_ratio(run).floor())),
    primitive="clock",
)
speed_ratio_above = constant(
    "speed_ratio_above",
    r"\lceil\tau_M/\tau_0\rceil",
    "ceil(tau_M / tau_0), slowest over fastest update time, rounded up",
    lambda run: convert_time(run, int(_compute_speed_ratio(run).ceil())),
    primitive="clock",
)


def _compute_report_chances(run: Run) -> Array:
    """Return 1 - exp(-Delta t / tau_i), (M,): floats, or rigorous enclosures if the run is exact."""
    interval_length = get_interval(run)
    exponents = [-interval_length / time for time in run.algorithm.clock.times]
    if run.arithmetic is FLOAT:
        return np.array([-math.expm1(plain_float(exponent)) for exponent in exponents])
    with precise_enclosures():
        enclosures = [1 - arb(exponent).exp() for exponent in exponents]
    chances: Array = np.empty(len(enclosures), dtype=object)
    chances[:] = enclosures
    return chances


report_chance = constant(
    "report_chance",
    r"(1-e^{-\Delta t/\tau_i})",
    "1 - exp(-Delta t/tau_i), the chance that a client with exponential times of mean tau_i reports in an interval",
    lambda run: place_on_clients(_compute_report_chances(run)),
    primitive="clock",
)
