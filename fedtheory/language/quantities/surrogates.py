"""The surrogate problem in numbers: residuals, noise at optima, misrepresentation (fraboni2022, Sections 2.5, 3)."""

from __future__ import annotations

from typing import Any

from fedtheory.arithmetic import Array
from fedtheory.engine.run import Run
from fedtheory.language.quantities.axes import on_clients, on_rounds
from fedtheory.language.quantities.notion import Quantity, VectorNotion, per_round


def mean_over_rounds(quantity: Quantity, latex: str) -> Quantity:
    """The mean over all updates of a quantity that has one value for each."""
    return Quantity(
        f"mean_{quantity.name}",
        latex,
        f"mean over the updates of {quantity.name}",
        lambda run: quantity.on(run).sum() / run.algorithm.rounds,
    )


def second_moments_at(run: Run, points: Array) -> Array:
    """E|g_i(x)|^2 of each client, (..., M), at points (..., d)."""
    return run.second_moments_at(points)


def _mean(values: Array) -> Any:
    return values.sum() / len(values)


def _residual(run: Run) -> Any:
    return _mean(run.surrogate.values_at_optimum - run.surrogate.round_optimal_values)


def _distance_sq(run: Run) -> Any:
    away = run.problem.centred.start - run.surrogate.optimum
    return away @ away


def _misrepresentation(run: Run) -> Array:
    """sum over represented types of s_j/q [F_j(thetabar^n) - F_j*], (N,): types are sums over their clients."""
    surrogate = run.surrogate
    gaps = surrogate.client_values(surrogate.round_optima) - surrogate.least_client_values
    total: Array = (surrogate.shares * gaps).sum(axis=1)
    return total


round_optimum_noise = per_round(
    "round_optimum_noise",
    r"\sigma_1(n)",
    "sigma_1(n) = sum_i q_i(n)/q(n) E|g_i|^2 at the optimum of L^n",
    lambda run: on_rounds((run.surrogate.shares * second_moments_at(run, run.surrogate.round_optima)).sum(axis=1)),
)
round_optimum_mixed_noise = per_round(
    "round_optimum_mixed_noise",
    r"\sigma_2(n)",
    "sigma_2(n) = sum_i (q_i(n)/q(n))^2 E|g_i|^2 at the optimum of L^n",
    lambda run: on_rounds((run.surrogate.shares**2 * second_moments_at(run, run.surrogate.round_optima)).sum(axis=1)),
)
mean_round_optimum_noise = mean_over_rounds(round_optimum_noise, r"\Sigma_1(N)")
mean_round_optimum_mixed_noise = mean_over_rounds(round_optimum_mixed_noise, r"\Sigma_2(N)")
surrogate_noise = Quantity(
    "surrogate_noise",
    r"\Sigma",
    "Sigma = sum_i q_i E|g_i|^2 at the optimum of the surrogate problem",
    lambda run: second_moments_at(run, run.surrogate.optimum) @ run.surrogate.mean_weights,
)
optimum_noise = Quantity(
    "optimum_noise",
    r"\Sigma",
    "sum_i p_i E|g_i|^2 at the optimum of the federated problem",
    lambda run: second_moments_at(run, run.problem.centred.optimum) @ run.problem.weights,
    is_constant=True,
)
residual = Quantity(
    "residual",
    r"R(\{\mathcal L^n\})",
    "R = (1/N) sum_n L^n(thetabar) - L^n(thetabar^n), thetabar the optimum of the surrogate, thetabar^n that of L^n",
    _residual,
)
surrogate_initial_distance = Quantity(
    "surrogate_initial_distance",
    r"\|\theta^0-\bar\theta\|",
    "|theta^0 - thetabar|, thetabar the optimum of the surrogate problem",
    _distance_sq,
    root=True,
)
surrogate_optimum_distance = Quantity(
    "surrogate_optimum_distance",
    r"\|\bar\theta-\theta^*\|",
    "distance of the optimum of the surrogate problem from that of the federated problem",
    lambda run: run.surrogate.optimum @ run.surrogate.optimum,
    root=True,
)
client_gap_at_optimum = Quantity(
    "client_gap_at_optimum",
    r"\mathcal L_i(\theta^*)-\mathcal L_i(\theta_i^*)",
    "L_i(x*) - L_i* of each client, x* the optimum of the federated problem",
    lambda run: on_clients(
        run.surrogate.client_values(run.problem.centred.optimum) - run.surrogate.least_client_values
    ),
    is_constant=True,
)
round_optimum_gap = per_round(
    "round_optimum_gap",
    r"\mathcal L^n(\bar\theta)-\mathcal L^n(\bar\theta^n)",
    "L^n(thetabar) - L^n(thetabar^n) of each update",
    lambda run: on_rounds(run.surrogate.values_at_optimum - run.surrogate.round_optimal_values),
)
misrepresentation = per_round(
    "misrepresentation",
    r"\sum_{j\in W_n}\tilde s_j(n)[F_j(\bar\theta^n)-F_j(\theta_j^*)]",
    "sum over types with s_j(n) > 0 of s_j(n)/q(n) [F_j(thetabar^n) - F_j*]",
    lambda run: on_rounds(_misrepresentation(run)),
)
surrogate_optimum = VectorNotion(
    "surrogate_optimum",
    r"\bar\theta",
    "the optimum of the surrogate problem sum_i q_i L_i",
    lambda frame: frame.constant(frame.run.surrogate.optimum[None]),
)
round_optimum = VectorNotion(
    "round_optimum",
    r"\bar\theta^n",
    "the optimum of L^n = sum_i q_i(n) L_i",
    lambda frame: frame.constant(frame.run.surrogate.round_optima[int(frame.index["round"])][None]),
)
