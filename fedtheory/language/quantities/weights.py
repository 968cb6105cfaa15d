"""Aggregation weights of a run and what they amount to (fraboni2022, Sections 2.3 to 2.6 and 3.1)."""

from __future__ import annotations

from typing import Any

import numpy as np

from fedtheory.arithmetic import Array
from fedtheory.engine.run import Run
from fedtheory.language.quantities.axes import on_clients, on_rounds, on_rounds_and_clients
from fedtheory.language.quantities.notion import Quantity, constant, per_round


def _pairing(run: Run) -> Any:
    """alpha: that of the participation law; 0 where no update has two reports, else 1."""
    if run.algorithm.clock.is_synchronous:
        return run.algorithm.aggregation.moments(run.problem.weights).pairing
    together = (run.algorithm.schedule.participates.sum(axis=1) > 1).any()
    return run.arithmetic.number(int(together), "alpha")


def _weights_when_reporting(run: Run) -> Array:
    """d_i(n), (M,): the value of w_i(n) where it is not zero, by E[w_i^2] = d_i q_i for sampled clients."""
    if not run.algorithm.clock.is_synchronous:
        return run.algorithm.aggregation.weights(run.problem.weights)
    moments = run.algorithm.aggregation.moments(run.problem.weights)
    ratio: Array = moments.squares / np.where(moments.mean == 0, moments.mean + 1, moments.mean)
    return ratio


def _excess(run: Run) -> Any:
    return (_weights_when_reporting(run) - _pairing(run) * run.surrogate.weights).max()


def _reporting_excess(run: Run) -> Any:
    weights = run.surrogate.weights
    excess = _weights_when_reporting(run) - _pairing(run) * weights
    return np.where(weights != 0, excess, excess - excess).max()


importance = constant(
    "importance", "p_i", "importance of each client in the objective", lambda run: on_clients(run.problem.weights)
)
aggregation_weight = constant(
    "aggregation_weight",
    "d_i",
    "weight of each client when it reports",
    lambda run: on_clients(_weights_when_reporting(run)),
)
expected_weight = per_round(
    "expected_weight",
    "q_i(n)",
    "q_i(n) = E[w_i(n)], expected weight of each client in each update",
    lambda run: on_rounds_and_clients(run.surrogate.weights),
)
weight_sum = per_round("weight_sum", "q(n)", "q(n) = sum_i q_i(n)", lambda run: on_rounds(run.surrogate.totals))
weight_share = per_round(
    "weight_share",
    r"\tilde q_i(n)",
    "q_i(n) / q(n), the share of each client in each update",
    lambda run: on_rounds_and_clients(run.surrogate.shares),
)
largest_share = per_round(
    "largest_share",
    r"\max_i\tilde q_i(n)",
    "max_i q_i(n) / q(n) of each update",
    lambda run: on_rounds(run.surrogate.shares.max(axis=1)),
)
largest_expected_weight = Quantity(
    "largest_expected_weight", r"\max q_i(n)", "max over i, n of q_i(n)", lambda run: run.surrogate.weights.max()
)
mean_weight = Quantity(
    "mean_weight",
    "q_i",
    "q_i = (1/N) sum_n q_i(n), mean weight of each client over all updates",
    lambda run: on_clients(run.surrogate.mean_weights),
)
mean_weight_share = Quantity(
    "mean_weight_share",
    r"\tilde q_i",
    "q_i / sum_j q_j, the share of each client over all updates",
    lambda run: on_clients(run.surrogate.mean_weights / run.surrogate.mean_weights.sum()),
)
largest_weight_sum = Quantity(
    "largest_weight_sum",
    r"\rho",
    "rho = max(1, max_n q(n))",
    lambda run: max(run.arithmetic.number(1, "one"), run.surrogate.totals.max()),
)
mean_weight_sum = Quantity(
    "mean_weight_sum",
    r"\bar q",
    "sum_i q_i = (1/N) sum_n q(n), the mean over the updates of the sum of the weights",
    lambda run: run.surrogate.mean_weights.sum(),
)
weight_pairing = Quantity(
    "weight_pairing",
    r"\alpha",
    "alpha with E[w_i(n) w_j(n)] = alpha q_i(n) q_j(n) for i != j: of the law of sampling; for a fixed schedule 0 "
    "where no update has two reports, else 1",
    _pairing,
)
weight_excess = Quantity(
    "weight_excess",
    r"\beta",
    "beta = max over i, n of d_i(n) - alpha q_i(n), over all clients, as printed",
    _excess,
)
reporting_excess = Quantity(
    "reporting_excess",
    r"\beta_S",
    "max of d_i(n) - alpha q_i(n) over the clients and updates with q_i(n) > 0",
    _reporting_excess,
)
type_importance = constant(
    "type_importance",
    "r_j",
    "r_j, importance of each type of clients, at its first client; 0 at the others",
    lambda run: on_clients(run.surrogate.by_type(run.problem.weights)),
)
type_weight = per_round(
    "type_weight",
    "s_j(n)",
    "s_j(n), expected weight of each type in each update, at its first client; 0 at the others",
    lambda run: on_rounds_and_clients(run.surrogate.by_type(run.surrogate.weights)),
)
type_share = per_round(
    "type_share",
    r"\tilde s_j(n)",
    "s_j(n) / q(n), the share of each type in each update, at its first client; 0 at the others",
    lambda run: on_rounds_and_clients(run.surrogate.by_type(run.surrogate.shares)),
)
mean_type_weight = Quantity(
    "mean_type_weight",
    "s_j",
    "s_j, mean weight of each type over all updates, at its first client; 0 at the others",
    lambda run: on_clients(run.surrogate.by_type(run.surrogate.mean_weights)),
)


def _pearson(run: Run, shares: Array) -> Array:
    """sum over represented types of (r_j - s_j)^2 / s_j for shares (..., M) of types."""
    gap = run.surrogate.by_type(run.problem.weights) - shares
    represented = shares != 0
    safe = np.where(represented, shares, shares + 1)
    terms: Array = np.where(represented, gap * gap / safe, gap - gap)
    return np.asarray(terms.sum(axis=-1))


chi_sq = per_round(
    "chi_sq",
    r"\chi_n^2",
    "chi_n^2 = sum over types with s_j(n) > 0 of (r_j - s_j(n)/q(n))^2 / (s_j(n)/q(n))",
    lambda run: on_rounds(_pearson(run, run.surrogate.by_type(run.surrogate.shares))),
)


def _mean_chi_sq(run: Run) -> Any:
    means = run.surrogate.mean_weights
    return _pearson(run, run.surrogate.by_type(means / means.sum()))[()]


mean_chi_sq = Quantity(
    "mean_chi_sq",
    r"\chi^2",
    "chi^2 = sum_j (r_j - s_j)^2 / s_j with the shares s_j of the types over all updates",
    _mean_chi_sq,
)
