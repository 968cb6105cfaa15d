"""Types of clients, and the fairness of their weights."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import sympy as sp

from fedtheory.arithmetic import Array
from fedtheory.engine.run import Run
from fedtheory.kernel.expressions import Expr
from fedtheory.language.quantities import problem
from fedtheory.language.quantities.measuring.axes import place_on_rounds
from fedtheory.language.quantities.measuring.reductions import (
    EACH_TYPE,
    LARGEST_CLIENT,
    LARGEST_ROUND,
    MEAN_OVER_ROUNDS,
    OWN_TYPE,
    SUM_OVER_ROUNDS,
    SUM_OVER_TYPES,
)
from fedtheory.language.quantities.measuring.terms import define_in_numbers, reduce_entries
from fedtheory.language.quantities.quantity import RunQuantity, constant, per_round
from fedtheory.sources.fraboni2022.quantities import weights
from fedtheory.sources.fraboni2022.quantities.vectors import (
    CLIENT_OPTIMUM,
    ROUND_OPTIMUM,
    define_at_each_step,
    subtract_client_values,
    weigh_by_shares,
)


def _indicate_zero(number: Expr) -> Expr:
    """Return 1 for zero, else 0."""
    return sp.Piecewise((1, sp.Eq(number, 0)), (0, True))


def _define_by_type(name: str, latex: str, meaning: str, of: RunQuantity) -> RunQuantity:
    """Define the sums of a number over the clients of each type, for runs without merged clients."""
    return replace(reduce_entries(name, latex, meaning, of, EACH_TYPE), of_types=True)


type_count = constant(
    "type_count",
    "J",
    "number of types of clients: clients with the same objective are of one type",
    lambda run: run.arithmetic.number(len(np.unique(run.surrogate.types)), "count"),
    primitive="setting",
)
_each_importance = reduce_entries("importance_of_each_type", "r_j", "r_j on any run", problem.importance, EACH_TYPE)
_each_share = reduce_entries(
    "share_of_each_type", r"\tilde s_j(n)", "s~_j(n) on any run", weights.weight_share, EACH_TYPE
)
_mean_share = reduce_entries(
    "mean_share_of_each_type", r"\tilde s_j", "s~_j on any run", weights.mean_weight_share, EACH_TYPE
)
_clients_of_each = define_in_numbers(
    "clients_of_each_type", "m", "number of clients of a type, at its first client", sp.S.One, EACH_TYPE, of=[]
)
_own_weight = reduce_entries(
    "weight_of_own_type", "s(n)", "the expected weight of a client's type", weights.expected_weight, OWN_TYPE
)
type_importance = _define_by_type(
    "type_importance",
    "r_j",
    "r_j, importance of each type of clients, at its first client; 0 at the others",
    problem.importance,
)
type_weight = _define_by_type(
    "type_weight",
    "s_j(n)",
    "s_j(n), expected weight of each type in each update, at its first client; 0 at the others",
    weights.expected_weight,
)
type_share = _define_by_type(
    "type_share",
    r"\tilde s_j(n)",
    "s_j(n) / q(n), the share of each type in each update, at its first client; 0 at the others",
    weights.weight_share,
)
mean_type_weight = reduce_entries(
    "mean_type_weight",
    "s_j",
    "s_j, mean weight of each type over all updates, at its first client; 0 at the others",
    type_weight,
    MEAN_OVER_ROUNDS,
)
unrepresented_importance = define_in_numbers(
    "unrepresented_importance",
    r"p_i\mathbb I(i\notin W_n)",
    "p_i of the clients whose type has no weight in the update, zero for the others",
    problem.importance.symbol * _indicate_zero(_own_weight.symbol),
    of=[problem.importance, _own_weight],
)


def _write_chi_squared_term(share: RunQuantity) -> Expr:
    """Return (r_j - s_j)^2 / s_j for a type with positive weight, zero for the others."""
    is_missing = _indicate_zero(share.symbol)
    term: Expr = (1 - is_missing) * (_each_importance.symbol - share.symbol) ** 2 / (share.symbol + is_missing)
    return term


chi_sq = define_in_numbers(
    "chi_sq",
    r"\chi_n^2",
    "chi_n^2 = sum over types with s_j(n) > 0 of (r_j - s_j(n)/q(n))^2 / (s_j(n)/q(n))",
    _write_chi_squared_term(_each_share),
    SUM_OVER_TYPES,
    of=[_each_importance, _each_share],
)
mean_chi_sq = define_in_numbers(
    "mean_chi_sq",
    r"\chi^2",
    "chi^2 = sum_j (r_j - s_j)^2 / s_j with the shares s_j of the types over all updates",
    _write_chi_squared_term(_mean_share),
    SUM_OVER_TYPES,
    of=[_each_importance, _mean_share],
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

absences = define_in_numbers(
    "absences",
    r"\#\{(n,j):s_j(n)=0\}",
    "in how many updates a type is missing, summed over the types",
    _indicate_zero(_own_weight.symbol) * (1 - _indicate_zero(_clients_of_each.symbol)),
    SUM_OVER_TYPES,
    SUM_OVER_ROUNDS,
    of=[_own_weight, _clients_of_each],
)


def _measure_misrepresentation(run: Run) -> Array:
    """Return the sum over types with s_j(n) > 0 of s_j(n)/q(n) [F_j(thetabar^n) - F_j*], (N,)."""
    surrogate = run.surrogate
    gaps = surrogate.client_values(surrogate.update_optima) - surrogate.least_client_values
    return np.broadcast_to((surrogate.update_shares * gaps).sum(axis=1), run.algorithm.rounds)


misrepresentation = per_round(
    "misrepresentation",
    r"\sum_{j\in W_n}\tilde s_j(n)[F_j(\bar\theta^n)-F_j(\theta_j^*)]",
    "sum over types with s_j(n) > 0 of s_j(n)/q(n) [F_j(thetabar^n) - F_j*]",
    lambda run: place_on_rounds(_measure_misrepresentation(run)),
    term=define_at_each_step(weigh_by_shares(subtract_client_values(ROUND_OPTIMUM, CLIENT_OPTIMUM))),
)
mean_misrepresentation = define_in_numbers(
    "mean_misrepresentation",
    r"\frac1N\sum_n\chi_n^2\sum_{j\in W_n}\tilde s_j(n)[F_j(\bar\theta^n)-F_j(\theta_j^*)]",
    "mean over n of chi_n^2 times the sum over represented types of s_j(n)/q(n) [F_j(thetabar^n) - F_j*]",
    chi_sq.symbol * misrepresentation.symbol,
    MEAN_OVER_ROUNDS,
    of=[chi_sq, misrepresentation],
)
