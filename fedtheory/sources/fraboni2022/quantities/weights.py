"""Aggregation weights, their expectations, sums and averages, and normalised weights."""

from __future__ import annotations

import numpy as np
import sympy as sp

from fedtheory.arithmetic import Array
from fedtheory.arithmetic.enclosures import precise_enclosures
from fedtheory.engine.run import Run
from fedtheory.errors import NotApplicable
from fedtheory.kernel.expressions import ClientSum
from fedtheory.language.quantities.measuring.axes import place_on_clients, place_on_rounds_and_clients
from fedtheory.language.quantities.measuring.reductions import LARGEST_CLIENT, LARGEST_ROUND, MEAN_OVER_ROUNDS
from fedtheory.language.quantities.measuring.terms import define_in_numbers, reduce_entries, term_at_steps
from fedtheory.language.quantities.quantity import Over, RunQuantity, constant, per_round
from fedtheory.sources.fraboni2022.quantities import clocks


def _measure_reported_weights(run: Run) -> Array:
    """Return d_i(n), (M,): the non-zero value of w_i(n), with E[w_i^2] = d_i q_i for sampled clients."""
    if reason := run.algorithm.clock.policy.changes_weights:
        raise NotApplicable(f"clients have no weights of their own: {reason}")
    if not run.algorithm.clock.is_synchronous:
        return run.algorithm.aggregation.weights(run.problem.weights)
    moments = run.algorithm.aggregation.moments(run.problem.weights)
    ratio: Array = moments.squares / np.where(moments.mean == 0, moments.mean + 1, moments.mean)
    return ratio


aggregation_weight = constant(
    "aggregation_weight",
    "d_i",
    "weight of each client when it reports",
    lambda run: place_on_clients(_measure_reported_weights(run)),
    primitive="setting",
)
largest_aggregation_weight = reduce_entries(
    "largest_aggregation_weight",
    r"\max_id_i",
    "largest weight of a client when it reports",
    aggregation_weight,
    LARGEST_CLIENT,
)
expected_weight = per_round(
    "expected_weight",
    "q_i(n)",
    "q_i(n) = E[w_i(n)], expected weight of each client in each update",
    lambda run: place_on_rounds_and_clients(run.average_over_types(run.surrogate.update_weights)),
    primitive="setting",
)
weight_sum = define_in_numbers(
    "weight_sum", "q(n)", "q(n) = sum_i q_i(n)", ClientSum(expected_weight.symbol), of=[expected_weight]
)
weight_share = per_round(
    "weight_share",
    r"\tilde q_i(n)",
    "q_i(n) / q(n), the share of each client in each update",
    lambda run: place_on_rounds_and_clients(run.average_over_types(run.surrogate.update_shares)),
    term=term_at_steps(expected_weight.symbol / weight_sum.symbol, expected_weight, weight_sum),
)
largest_share = reduce_entries(
    "largest_share", r"\max_i\tilde q_i(n)", "max_i q_i(n) / q(n) of each update", weight_share, LARGEST_CLIENT
)
largest_share_of_all = reduce_entries(
    "largest_share_of_all",
    r"\max_{i,n}\tilde q_i(n)",
    "max over i, n of q_i(n) / q(n)",
    weight_share,
    LARGEST_CLIENT,
    LARGEST_ROUND,
)
largest_expected_weight = reduce_entries(
    "largest_expected_weight",
    r"\max q_i(n)",
    "max over i, n of q_i(n)",
    expected_weight,
    LARGEST_CLIENT,
    LARGEST_ROUND,
)
mean_weight = reduce_entries(
    "mean_weight",
    "q_i",
    "q_i = (1/N) sum_n q_i(n), mean weight of each client over all updates",
    expected_weight,
    MEAN_OVER_ROUNDS,
)
mean_of_shares = reduce_entries(
    "mean_of_shares",
    r"\frac1N\sum_n\tilde q_i(n)",
    "mean over the updates of q_i(n)/q(n), of each client",
    weight_share,
    MEAN_OVER_ROUNDS,
)
largest_weight_sum = define_in_numbers(
    "largest_weight_sum",
    r"\rho",
    "rho = max(1, max_n q(n))",
    sp.Max(1, weight_sum.symbol),
    LARGEST_ROUND,
    of=[weight_sum],
)
smallest_weight_sum = reduce_entries(
    "smallest_weight_sum", r"\min_nq(n)", "min over n of q(n)", weight_sum, Over("rounds", "smallest")
)
mean_weight_sum = reduce_entries(
    "mean_weight_sum",
    r"\bar q",
    "sum_i q_i = (1/N) sum_n q(n), the mean over the updates of the sum of the weights",
    weight_sum,
    MEAN_OVER_ROUNDS,
)
mean_weight_share = RunQuantity(
    "mean_weight_share",
    r"\tilde q_i",
    "q_i / sum_j q_j, the share of each client over all updates",
    lambda run: place_on_clients(run.average_over_types(run.surrogate.mean_shares)),
    term=term_at_steps(mean_weight.symbol / mean_weight_sum.symbol, mean_weight, mean_weight_sum),
)

_CHANCE = aggregation_weight.symbol * clocks.report_chance.symbol


def _measure_exponential_weights(run: Run) -> Array:
    """Return normalised weights of clients with exponential client times, (M,)."""
    with precise_enclosures():
        weights = aggregation_weight.measure(run)[0, 0] * clocks.report_chance.measure(run)[0, 0]
        shares: Array = weights / weights.sum()
    return shares


exponential_share = constant(
    "exponential_share",
    r"\tilde q_i^{\exp}",
    "share of each client in an update of FedFix when the run's update times are the means of exponential ones",
    lambda run: place_on_clients(_measure_exponential_weights(run)),
    term=term_at_steps(_CHANCE / ClientSum(_CHANCE), aggregation_weight, clocks.report_chance),
)
