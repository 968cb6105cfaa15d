"""Update times and what follows from them: waiting times, staleness, exponential clocks (fraboni2022, Section 4)."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from flint import arb, fmpq

from fedtheory.arithmetic import FLOAT, Array, plain_float
from fedtheory.arithmetic.enclosures import precise_enclosures
from fedtheory.engine.run import Run
from fedtheory.language.quantities.axes import on_clients
from fedtheory.language.quantities.notion import Quantity, constant, per_round
from fedtheory.language.quantities.schedule import interval_of, remaining_time
from fedtheory.language.quantities.weights import aggregation_weight


def _over_clients(choose: Callable[..., Any]) -> Callable[[Run], Array]:
    """The largest or the least remaining time of each round, (N, 1, 1)."""

    def measure(run: Run) -> Array:
        extremes: Array = choose(remaining_time.measure(run), axis=2)[:, :, None]
        return extremes

    return measure


def _most_other_reports(run: Run) -> Any:
    """max_i sum_{j != i} ceil(tau_i / tau_j)."""
    times = run.algorithm.clock.times
    sums = [sum(int((time / other).ceil()) for other in times) - 1 for time in times]
    return run.arithmetic.number(max(sums), "reports")


def _speed_ratio(run: Run) -> fmpq:
    ratio: fmpq = max(run.algorithm.clock.times) / min(run.algorithm.clock.times)
    return ratio


def report_chances(run: Run) -> Array:
    """1 - exp(-Delta t / tau_i), (M,): a float, or a rigorous enclosure where the run is exact."""
    length = interval_of(run)
    exponents = [-length / time for time in run.algorithm.clock.times]
    if run.arithmetic is FLOAT:
        return np.array([-math.expm1(plain_float(exponent)) for exponent in exponents])
    with precise_enclosures():
        enclosures = [1 - arb(exponent).exp() for exponent in exponents]
    chances: Array = np.empty(len(enclosures), dtype=object)
    chances[:] = enclosures
    return chances


def _exponential_shares(run: Run) -> Array:
    with precise_enclosures():
        weights = aggregation_weight.measure(run)[0, 0] * report_chances(run)
        shares: Array = weights / weights.sum()
    return shares


largest_remaining_time = per_round(
    "largest_remaining_time",
    r"\max_iT_i^n",
    "max_i T_i^n, time until the last client is done when round n starts",
    _over_clients(np.max),
)
least_remaining_time = per_round(
    "least_remaining_time",
    r"\min_iT_i^n",
    "min_i T_i^n, time until the first client is done when round n starts",
    _over_clients(np.min),
)
largest_aggregation_weight = constant(
    "largest_aggregation_weight",
    r"\max_id_i",
    "largest weight of a client when it reports",
    lambda run: aggregation_weight.measure(run).max(),
)
most_other_reports = constant(
    "most_other_reports",
    r"\max_i\sum_{j\ne i}\lceil\tau_i/\tau_j\rceil",
    "max_i sum_{j != i} ceil(tau_i/tau_j), reports of the others that fit into one update time of a client",
    _most_other_reports,
)
speed_ratio_below = constant(
    "speed_ratio_below",
    r"\lfloor\tau_M/\tau_0\rfloor",
    "floor(tau_M / tau_0), slowest over fastest update time, rounded down",
    lambda run: run.arithmetic.number(int(_speed_ratio(run).floor()), "ratio"),
)
speed_ratio_above = constant(
    "speed_ratio_above",
    r"\lceil\tau_M/\tau_0\rceil",
    "ceil(tau_M / tau_0), slowest over fastest update time, rounded up",
    lambda run: run.arithmetic.number(int(_speed_ratio(run).ceil()), "ratio"),
)
report_chance = constant(
    "report_chance",
    r"(1-e^{-\Delta t/\tau_i})",
    "1 - exp(-Delta t/tau_i), the chance that a client with exponential times of mean tau_i reports in an interval",
    lambda run: on_clients(report_chances(run)),
)
exponential_share = constant(
    "exponential_share",
    r"\tilde q_i^{\exp}",
    "share of each client in an update of FedFix when the run's update times are the means of exponential ones",
    lambda run: on_clients(_exponential_shares(run)),
)
mean_server_suboptimality = Quantity(
    "mean_server_suboptimality",
    r"\frac1N\sum_n\mathbb E\mathcal L(\theta^n)-\mathcal L(\theta^*)",
    "(1/N) sum_{n=0..N-1} E F(theta^n) - F*, over the server's models",
    lambda run: run.trajectory.mean_server_suboptimality,
)
