"""Assumptions on the aggregation weights: their values, their expectations, and their sums over types."""

from __future__ import annotations

from fedtheory.arithmetic import RATIONAL
from fedtheory.engine.run import Run
from fedtheory.errors import InputError, NotApplicable
from fedtheory.federation.aggregation import compute_time_based_weights
from fedtheory.language.assumptions.assumption import Setting, expect
from fedtheory.language.assumptions.weights import expect_constant_weights


def _require_positive_weights(run: Run) -> None:
    weights = run.algorithm.aggregation.weights(run.problem.weights)
    expect((weights > 0).all(), "the aggregation weight of a client is not positive")


def _require_time_based(run: Run) -> None:
    expect_constant_weights(run)
    weights = run.algorithm.aggregation.weights(run.problem.weights)
    try:
        closed_form = compute_time_based_weights(run.algorithm.clock, RATIONAL.array(run.problem.weights))
    except InputError as reason:
        raise NotApplicable(reason.message) from None
    difference = abs(weights - run.arithmetic.array(closed_form))
    rounding = 0 if run.arithmetic.is_rigorous else 1e-12 * weights
    expect((difference <= rounding).all(), "the aggregation weights are not those of the closed form")


def _require_fixed_weights(run: Run) -> None:
    """Require weights that are not random; those of asynchronous updates never are."""
    law = run.algorithm.aggregation.moments(run.problem.weights)
    expect(law.is_fixed or not run.algorithm.clock.is_synchronous, "the weights of an update are random")


def _require_unbiased_updates(run: Run) -> None:
    difference = abs(run.surrogate.update_weights - run.problem.weights)
    rounding = 0 if run.arithmetic.name == "rational" else 1e-12
    expect(not (difference > rounding).any(), "the expected weights of some update are not the client weights")


def _require_fair_types(run: Run) -> None:
    """Require that the normalised weights of each type sum to its client weights in every update."""
    surrogate = run.surrogate
    difference = abs(surrogate.sum_by_type(surrogate.update_shares) - surrogate.sum_by_type(run.problem.weights))
    rounding = 0 if run.arithmetic.is_rigorous else 1e-12
    expect(
        (difference <= rounding).all(),
        "the normalised weight of some type differs from its client weight in some update",
    )


positive_weights = Setting(
    "positive weights", r"$d_i>0$: every client has a weight when it reports", _require_positive_weights
)

time_based = Setting(
    "time-based weights",
    r"$d_i=[\sum_j1/\tau_j]\tau_ip_i$ (asynchronous), $\lceil\tau_i/\Delta t\rceil p_i$ (FedFix), $p_i$ (synchronous)",
    _require_time_based,
)

given_weights = Setting(
    "given weights", r"participation is deterministic: $\omega_i(n)=q_i(n)$", _require_fixed_weights
)

weight_covariance = Setting(
    "covariance of the weights",
    r"$\mathbb E[\omega_i(n)\omega_j(n)]=\alpha q_i(n)q_j(n)$ for $i\ne j$",
    lambda run: run.algorithm.schedule,
)

unbiased_updates = Setting("unbiased updates", r"$q_i(n)=p_i$ in every update", _require_unbiased_updates)

fair_types = Setting("fair types", r"$\tilde s_j(n)=r_j$ for every type in every update", _require_fair_types)
