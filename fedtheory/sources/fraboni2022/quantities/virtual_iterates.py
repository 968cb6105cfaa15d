"""Values and gradients at the virtual iterates of updates with stale models, as exact expectations.

theta^{n,k} is the virtual iterate, theta_i^{rho,k} the iterate of client i that
started from the model it received, q_i = q_i(n).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from fedtheory.arithmetic import Array, group_equal_rows
from fedtheory.engine.frames import read_common_steps
from fedtheory.engine.run import Run
from fedtheory.kernel.expressions import ClientSum, Expectation, Gradient, Value
from fedtheory.language.quantities.measuring.axes import place_on_rounds
from fedtheory.language.quantities.measuring.reductions import FIRST_STEP, LAST_ROUND, LAST_STEP, MEAN_OVER_STEPS
from fedtheory.language.quantities.measuring.terms import define
from fedtheory.language.quantities.quantity import get_symbol, mean_over_rounds, per_round, per_step
from fedtheory.sources.fraboni2022.quantities import representation
from fedtheory.sources.fraboni2022.quantities.surrogate import get_surrogate_optimum
from fedtheory.sources.fraboni2022.quantities.vectors import (
    CLIENT_OBJECTIVE,
    CLIENT_OPTIMUM,
    MEAN_WEIGHT,
    NEXT_VIRTUAL,
    OBJECTIVE,
    OPTIMUM,
    ROUND_OPTIMUM,
    SURROGATE_OPTIMUM,
    VIRTUAL,
    define_at_each_step,
    define_step_average,
    square,
    subtract_client_values,
    subtract_values,
    weigh_by_weights,
)

_OWN_GAP = subtract_client_values(VIRTUAL, CLIENT_OPTIMUM)
_ABOVE_SURROGATE_OPTIMUM = ClientSum(MEAN_WEIGHT * subtract_client_values(VIRTUAL, SURROGATE_OPTIMUM))


def _compute_client_values(run: Run) -> Array:
    """Return E L_i(theta^{n,k}), (N, K, M), k = 0 .. K-1."""
    values: Array = run.virtual_values(run.arithmetic.identity(run.problem.clients))[:, : read_common_steps(run)]
    return values


def _compute_weighted_values(run: Run, weights: Array) -> Array:
    """Return sum_i c_i(n) E L_i(theta^{n,k}), (N, K), for weights c(n) of each round, (N, M), or of all, (1, M)."""
    first, kinds = group_equal_rows(weights)
    # Values of the distinct weightings are cheaper than those of all clients if there are fewer of them.
    if len(first) >= run.problem.clients:
        weighted: Array = (run.compute_once(_compute_client_values) * weights[:, None, :]).sum(axis=-1)
        return weighted
    values = run.virtual_values(weights[first])[:, : read_common_steps(run)]
    kinds = kinds if len(kinds) == len(values) else kinds * len(values)
    return np.stack([each[:, kind] for each, kind in zip(values, kinds, strict=True)])


def _average_values(value: Callable[[Run], Array]) -> Callable[[Run], Array]:
    """Return a measure of the averages over the local steps, (N, 1, 1), of numbers at the virtual iterates, (N, K)."""

    def measure(run: Run) -> Array:
        return place_on_rounds(value(run).sum(axis=1) / run.arithmetic.number(read_common_steps(run), "K"))

    return measure


def _compute_round_objective(run: Run) -> Array:
    """Return E L^n(theta^{n,k}), (N, K)."""
    return _compute_weighted_values(run, run.surrogate.update_weights)


def _measure_round_gap(run: Run) -> Array:
    return run.compute_once(_compute_round_objective) - run.surrogate.round_optimal_values[:, None]


round_gap = per_round(
    "round_gap",
    "Z(n)",
    "Z(n): mean over k of E L^n(theta^{n,k}) - L^n(thetabar^n)",
    _average_values(_measure_round_gap),
    term=define_step_average(subtract_values(VIRTUAL, ROUND_OPTIMUM)),
)


def measure_gap_above(point: Callable[[Run], Array]) -> Callable[[Run], Array]:
    """Return a measure of the average over k of E L^n(theta^{n,k}) - L^n at a point, (N, 1, 1)."""
    return _average_values(
        lambda run: run.compute_once(_compute_round_objective) - run.surrogate.values_at(point(run))[:, None]
    )


surrogate_gap = per_round(
    "surrogate_gap",
    r"\Xi(n)",
    "Xi(n): mean over k of E L^n(theta^{n,k}) - L^n(thetabar)",
    measure_gap_above(get_surrogate_optimum),
    term=define_step_average(subtract_values(VIRTUAL, SURROGATE_OPTIMUM)),
)


def _measure_gradient_sq(run: Run) -> Array:
    """Return the average over k of E|grad F(theta^{n,k})|^2, (N, 1, 1)."""
    values = run.virtual_gradient_sq[:, : read_common_steps(run)]
    return place_on_rounds(values.sum(axis=1) / run.arithmetic.number(read_common_steps(run), "K"))


virtual_gradient_sq = per_round(
    "virtual_gradient_sq",
    r"\frac1K\sum_k\mathbb E\|\nabla\mathcal L(\theta^{n,k})\|^2",
    "mean over k of E|grad F(theta^{n,k})|^2",
    _measure_gradient_sq,
    term=define_step_average(square(Gradient(OBJECTIVE, VIRTUAL))),
)


def _measure_suboptimality(run: Run) -> Array:
    return np.asarray(_compute_weighted_values(run, run.problem.weights[None]) - run.problem.optimal_value)


virtual_suboptimality = per_round(
    "virtual_suboptimality",
    r"\frac1K\sum_k\mathbb E\mathcal L(\theta^{n,k})-\mathcal L(\theta^*)",
    "mean over k of E F(theta^{n,k}) - F*",
    _average_values(_measure_suboptimality),
    term=define_step_average(Expectation(Value(OBJECTIVE, VIRTUAL) - Value(OBJECTIVE, OPTIMUM))),
)


def _measure_surrogate_suboptimality(run: Run) -> Array:
    surrogate = run.surrogate
    lowest = surrogate.client_values(surrogate.optimum) @ surrogate.mean_weights
    return np.asarray(_compute_weighted_values(run, surrogate.mean_weights[None]) - lowest)


surrogate_suboptimality = per_round(
    "surrogate_suboptimality",
    r"\frac1K\sum_k\mathbb E\bar{\mathcal L}(\theta^{n,k})-\bar{\mathcal L}(\bar\theta)",
    "mean over k of E Lbar(theta^{n,k}) - Lbar(thetabar), Lbar the surrogate problem",
    _average_values(_measure_surrogate_suboptimality),
    term=define_step_average(_ABOVE_SURROGATE_OPTIMUM),
)


def _measure_unrepresented(run: Run) -> Array:
    """Return the sum over types with s_j(n) = 0 of r_j E[F_j(theta^{n,k}) - F_j*], (N, K)."""
    surrogate = run.surrogate
    missing = surrogate.sum_by_type(surrogate.update_weights)[:, surrogate.types] == 0
    shares = np.where(missing, run.problem.weights, run.problem.weights * 0)
    return np.asarray(_compute_weighted_values(run, shares) - (shares @ surrogate.least_client_values)[:, None])


unrepresented_gap = per_round(
    "unrepresented_gap",
    r"\frac1K\sum_k\sum_{j\notin W_n}r_j[\mathbb EF_j(\theta^{n,k})-F_j(\theta_j^*)]",
    "mean over k of the sum over types with s_j(n) = 0 of r_j E[F_j(theta^{n,k}) - F_j*]",
    _average_values(_measure_unrepresented),
    term=define_at_each_step(
        ClientSum(get_symbol(representation.unrepresented_importance) * _OWN_GAP),
        MEAN_OVER_STEPS,
        also=(representation.unrepresented_importance,),
    ),
)
mean_round_gap = mean_over_rounds(round_gap, r"\bar Z(N)")
mean_surrogate_gap = mean_over_rounds(surrogate_gap, r"\bar\Xi(N)")
mean_virtual_gradient_sq = mean_over_rounds(
    virtual_gradient_sq, r"\frac1N\sum_n\frac1K\sum_k\mathbb E\|\nabla\mathcal L(\theta^{n,k})\|^2"
)
mean_virtual_suboptimality = mean_over_rounds(
    virtual_suboptimality, r"\frac1N\sum_n\frac1K\sum_k[\mathbb E\mathcal L(\theta^{n,k})-\mathcal L(\theta^*)]"
)
mean_surrogate_suboptimality = mean_over_rounds(
    surrogate_suboptimality,
    r"\frac1N\sum_n\frac1K\sum_k[\mathbb E\bar{\mathcal L}(\theta^{n,k})-\bar{\mathcal L}(\bar\theta)]",
)
mean_unrepresented_gap = mean_over_rounds(
    unrepresented_gap,
    r"\frac1N\sum_n\frac1K\sum_k\sum_{j\notin W_n}r_j[\mathbb EF_j(\theta^{n,k})-F_j(\theta_j^*)]",
)
virtual_distance_sq = define(
    "virtual_distance_sq",
    r"\mathbb E\|\theta^{n,k}-\theta^*\|^2",
    "E|theta^{n,k} - theta^*|^2, theta^* the optimum of the federated problem",
    define_at_each_step(square(VIRTUAL - OPTIMUM)),
)
next_virtual_distance_sq = define(
    "next_virtual_distance_sq",
    r"\mathbb E\|\theta^{n,k+1}-\theta^*\|^2",
    "E|theta^{n,k+1} - theta^*|^2",
    define_at_each_step(square(NEXT_VIRTUAL - OPTIMUM)),
)
virtual_start_distance_sq = define(
    "virtual_start_distance_sq",
    r"\mathbb E\|\theta^{n,0}-\theta^*\|^2",
    "E|theta^{n,0} - x*|^2 of the virtual iterate",
    define_at_each_step(square(VIRTUAL - OPTIMUM), FIRST_STEP),
)
virtual_end_distance_sq = define(
    "virtual_end_distance_sq",
    r"\mathbb E\|\theta^{n,K}-\theta^*\|^2",
    "E|theta^{n,K} - x*|^2 of the virtual iterate",
    define_at_each_step(square(NEXT_VIRTUAL - OPTIMUM), LAST_STEP),
)
virtual_client_gap = define(
    "virtual_client_gap",
    r"\mathbb E\mathcal L_i(\theta^{n,k})-\mathcal L_i(\theta_i^*)",
    "E L_i(theta^{n,k}) - L_i* of each client",
    define_at_each_step(_OWN_GAP),
)

virtual_loss_change = define(
    "virtual_loss_change",
    r"\mathbb E\mathcal L_i(\theta^{n,k+1})-\mathbb E\mathcal L_i(\theta^{n,k})",
    "E L_i(theta^{n,k+1}) - E L_i(theta^{n,k}) of each client at each local step",
    define_at_each_step(subtract_client_values(NEXT_VIRTUAL, VIRTUAL)),
)


def _place_round_objectives(run: Run) -> Array:
    """Return E L^n(theta^{n,k}) on the axes of rounds and steps, (N, K, 1)."""
    return run.compute_once(_compute_round_objective)[..., None]


round_objective_at_virtual = per_step(
    "round_objective_at_virtual",
    r"\mathbb E\mathcal L^n(\theta^{n,k})",
    "E L^n(theta^{n,k}), of the one objective L^n",
    _place_round_objectives,
    term=define_at_each_step(weigh_by_weights(Expectation(Value(CLIENT_OBJECTIVE, VIRTUAL)))),
)
round_gap_at_step = define(
    "round_gap_at_step",
    "Z(n,k)",
    "Z(n,k) = E L^n(theta^{n,k}) - L^n(thetabar^n)",
    define_at_each_step(subtract_values(VIRTUAL, ROUND_OPTIMUM)),
)

surrogate_suboptimality_at_step = define(
    "surrogate_suboptimality_at_step",
    r"\mathbb E\bar{\mathcal L}(\theta^{n,k})-\bar{\mathcal L}(\bar\theta)",
    "E Lbar(theta^{n,k}) - Lbar(thetabar), Lbar the surrogate problem",
    define_at_each_step(_ABOVE_SURROGATE_OPTIMUM),
)

final_surrogate_distance_sq = define(
    "final_surrogate_distance_sq",
    r"\mathbb E\|\theta^N-\bar\theta\|^2",
    "E|theta^N - thetabar|^2 after the last update, thetabar the optimum of the surrogate problem",
    define_at_each_step(square(NEXT_VIRTUAL - SURROGATE_OPTIMUM), LAST_STEP, LAST_ROUND),
)
