"""Types of clients, and how fairly the weights represent them."""

from __future__ import annotations

from typing import Any

import numpy as np
import sympy as sp

from fedtheory.arithmetic import Array
from fedtheory.engine.run import Run
from fedtheory.kernel.expressions import Expectation, Value
from fedtheory.language.quantities.measuring.axes import place_on_clients, place_on_rounds, place_on_rounds_and_clients
from fedtheory.language.quantities.measuring.reductions import LARGEST_CLIENT, LARGEST_ROUND, MEAN_OVER_ROUNDS
from fedtheory.language.quantities.measuring.terms import define_in_numbers, reduce_entries
from fedtheory.language.quantities.quantity import RunQuantity, constant, per_round
from fedtheory.sources.fraboni2022.quantities.vectors import (
    CLIENT_OPTIMUM,
    OBJECTIVE,
    ROUND_OPTIMUM,
    define_at_each_step,
    weigh_by_shares,
)

type_count = constant(
    "type_count",
    "J",
    "number of types of clients: clients with the same objective are of one type",
    lambda run: run.arithmetic.number(len(np.unique(run.surrogate.types)), "count"),
)
type_importance = constant(
    "type_importance",
    "r_j",
    "r_j, importance of each type of clients, at its first client; 0 at the others",
    lambda run: place_on_clients(run.surrogate.sum_by_type(run.problem.weights)),
    of_types=True,
)
type_weight = per_round(
    "type_weight",
    "s_j(n)",
    "s_j(n), expected weight of each type in each update, at its first client; 0 at the others",
    lambda run: place_on_rounds_and_clients(run.surrogate.sum_by_type(run.surrogate.weights)),
    of_types=True,
)
type_share = per_round(
    "type_share",
    r"\tilde s_j(n)",
    "s_j(n) / q(n), the share of each type in each update, at its first client; 0 at the others",
    lambda run: place_on_rounds_and_clients(run.surrogate.sum_by_type(run.surrogate.shares)),
    of_types=True,
)
mean_type_weight = reduce_entries(
    "mean_type_weight",
    "s_j",
    "s_j, mean weight of each type over all updates, at its first client; 0 at the others",
    type_weight,
    MEAN_OVER_ROUNDS,
)


def _measure_missing_weights(run: Run) -> Array:
    """p_i of the clients of types with s_j(n) = 0, zero for the others, (N, M)."""
    surrogate = run.surrogate
    missing = surrogate.sum_by_type(surrogate.weights)[:, surrogate.types] == 0
    importances: Array = np.where(missing, run.client_weights, run.client_weights * 0)
    return importances


unrepresented_importance = per_round(
    "unrepresented_importance",
    r"p_i\mathbb I(i\notin W_n)",
    "p_i of the clients whose type has no weight in the update, zero for the others",
    lambda run: place_on_rounds_and_clients(_measure_missing_weights(run)),
)


def _pearson(run: Run, shares: Array) -> Array:
    """sum over represented types of (r_j - s_j)^2 / s_j for shares (..., M) of types."""
    gap = run.surrogate.sum_by_type(run.problem.weights) - shares
    represented = shares != 0
    safe = np.where(represented, shares, shares + 1)
    terms: Array = np.where(represented, gap * gap / safe, gap - gap)
    return np.asarray(terms.sum(axis=-1))


chi_sq = per_round(
    "chi_sq",
    r"\chi_n^2",
    "chi_n^2 = sum over types with s_j(n) > 0 of (r_j - s_j(n)/q(n))^2 / (s_j(n)/q(n))",
    lambda run: place_on_rounds(_pearson(run, run.surrogate.sum_by_type(run.surrogate.shares))),
)


def _average_chi_sq(run: Run) -> Any:
    return _pearson(run, run.surrogate.sum_by_type(run.surrogate.mean_shares))[()]


mean_chi_sq = RunQuantity(
    "mean_chi_sq",
    r"\chi^2",
    "chi^2 = sum_j (r_j - s_j)^2 / s_j with the shares s_j of the types over all updates",
    _average_chi_sq,
)
largest_chi_sq = reduce_entries("largest_chi_sq", r"\max_n\chi_n^2", "max over n of chi_n^2", chi_sq, LARGEST_ROUND)


misfit = define_in_numbers(
    "misfit",
    r"\max_{n,j}|s_j(n)-r_j|",
    "max over updates and types of |s_j(n) - r_j|",
    sp.Abs(type_weight.symbol - type_importance.symbol),
    LARGEST_CLIENT,
    LARGEST_ROUND,
    of=[type_weight, type_importance],
)


def _absences(run: Run) -> Any:
    surrogate = run.surrogate
    present = surrogate.sum_by_type(surrogate.weights)[:, np.unique(surrogate.types)]
    return run.arithmetic.number(int((present == 0).sum()), "count")


absences = RunQuantity(
    "absences",
    r"\#\{(n,j):s_j(n)=0\}",
    "in how many updates a type is missing, summed over the types",
    _absences,
)


def _misrepresentation(run: Run) -> Array:
    """sum over represented types of s_j/q [F_j(thetabar^n) - F_j*], (N,): types are sums over their clients."""
    surrogate = run.surrogate
    gaps = surrogate.client_values(surrogate.round_optima) - surrogate.least_client_values
    total: Array = (surrogate.shares * gaps).sum(axis=1)
    return total


misrepresentation = per_round(
    "misrepresentation",
    r"\sum_{j\in W_n}\tilde s_j(n)[F_j(\bar\theta^n)-F_j(\theta_j^*)]",
    "sum over types with s_j(n) > 0 of s_j(n)/q(n) [F_j(thetabar^n) - F_j*]",
    lambda run: place_on_rounds(_misrepresentation(run)),
    term=define_at_each_step(
        weigh_by_shares(Expectation(Value(OBJECTIVE, ROUND_OPTIMUM) - Value(OBJECTIVE, CLIENT_OPTIMUM)))
    ),
)
mean_misrepresentation = define_in_numbers(
    "mean_misrepresentation",
    r"\frac1N\sum_n\chi_n^2\sum_{j\in W_n}\tilde s_j(n)[F_j(\bar\theta^n)-F_j(\theta_j^*)]",
    "mean over n of chi_n^2 times the sum over represented types of s_j(n)/q(n) [F_j(thetabar^n) - F_j*]",
    chi_sq.symbol * misrepresentation.symbol,
    MEAN_OVER_ROUNDS,
    of=[chi_sq, misrepresentation],
)
