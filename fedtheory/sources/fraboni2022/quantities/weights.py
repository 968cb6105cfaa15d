"""Aggregation weights of a run, their sums, shares and means."""

from __future__ import annotations

import numpy as np

from fedtheory.arithmetic import Array
from fedtheory.arithmetic.enclosures import precise_enclosures
from fedtheory.engine.run import Run
from fedtheory.errors import NotApplicable
from fedtheory.language.quantities.measuring.axes import place_on_clients, place_on_rounds, place_on_rounds_and_clients
from fedtheory.language.quantities.quantity import RunQuantity, constant, per_round
from fedtheory.sources.fraboni2022.quantities import clocks


def _weights_when_reporting(run: Run) -> Array:
    """d_i(n), (M,): the value of w_i(n) where it is not zero, by E[w_i^2] = d_i q_i for sampled clients."""
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
    lambda run: place_on_clients(_weights_when_reporting(run)),
)
largest_aggregation_weight = constant(
    "largest_aggregation_weight",
    r"\max_id_i",
    "largest weight of a client when it reports",
    lambda run: aggregation_weight.measure(run).max(),
)
expected_weight = per_round(
    "expected_weight",
    "q_i(n)",
    "q_i(n) = E[w_i(n)], expected weight of each client in each update",
    lambda run: place_on_rounds_and_clients(run.of_one_client(run.surrogate.weights)),
)
weight_sum = per_round("weight_sum", "q(n)", "q(n) = sum_i q_i(n)", lambda run: place_on_rounds(run.surrogate.totals))
weight_share = per_round(
    "weight_share",
    r"\tilde q_i(n)",
    "q_i(n) / q(n), the share of each client in each update",
    lambda run: place_on_rounds_and_clients(run.of_one_client(run.surrogate.shares)),
)
largest_share = per_round(
    "largest_share",
    r"\max_i\tilde q_i(n)",
    "max_i q_i(n) / q(n) of each update",
    lambda run: place_on_rounds(run.of_one_client(run.surrogate.shares).max(axis=1)),
)
largest_share_of_all = RunQuantity(
    "largest_share_of_all",
    r"\max_{i,n}\tilde q_i(n)",
    "max over i, n of q_i(n) / q(n)",
    lambda run: run.of_one_client(run.surrogate.shares).max(),
)
largest_expected_weight = RunQuantity(
    "largest_expected_weight",
    r"\max q_i(n)",
    "max over i, n of q_i(n)",
    lambda run: run.of_one_client(run.surrogate.weights).max(),
)
mean_weight = RunQuantity(
    "mean_weight",
    "q_i",
    "q_i = (1/N) sum_n q_i(n), mean weight of each client over all updates",
    lambda run: place_on_clients(run.of_one_client(run.surrogate.mean_weights)),
)
mean_weight_share = RunQuantity(
    "mean_weight_share",
    r"\tilde q_i",
    "q_i / sum_j q_j, the share of each client over all updates",
    lambda run: place_on_clients(run.of_one_client(run.surrogate.mean_shares)),
)
mean_of_shares = RunQuantity(
    "mean_of_shares",
    r"\frac1N\sum_n\tilde q_i(n)",
    "mean over the updates of q_i(n)/q(n), of each client",
    lambda run: place_on_clients(run.of_one_client(run.surrogate.shares).sum(axis=0) / run.algorithm.rounds),
)
largest_weight_sum = RunQuantity(
    "largest_weight_sum",
    r"\rho",
    "rho = max(1, max_n q(n))",
    lambda run: max(run.arithmetic.number(1, "one"), run.surrogate.totals.max()),
)
smallest_weight_sum = RunQuantity(
    "smallest_weight_sum", r"\min_nq(n)", "min over n of q(n)", lambda run: run.surrogate.totals.min()
)
mean_weight_sum = RunQuantity(
    "mean_weight_sum",
    r"\bar q",
    "sum_i q_i = (1/N) sum_n q(n), the mean over the updates of the sum of the weights",
    lambda run: run.surrogate.mean_weights.sum(),
)


def _exponential_shares(run: Run) -> Array:
    with precise_enclosures():
        weights = aggregation_weight.measure(run)[0, 0] * clocks.report_chance.measure(run)[0, 0]
        shares: Array = weights / weights.sum()
    return shares


exponential_share = constant(
    "exponential_share",
    r"\tilde q_i^{\exp}",
    "share of each client in an update of FedFix when the run's update times are the means of exponential ones",
    lambda run: place_on_clients(_exponential_shares(run)),
)
