"""What happens at each local step (n, k) of updates with stale models, as exact expectations (fraboni2022, A.3).

theta^{n,k} is the virtual iterate, theta_i^{rho,k} the iterate of client i that
started from the model it received, g_i its stochastic gradient there, q~_i the
client's share q_i(n)/q(n).  Values have the axes (updates, local steps, clients).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from fedtheory.arithmetic import Array, Number
from fedtheory.engine.frames import Frame, Vector, common_steps, frames_at
from fedtheory.engine.run import Run
from fedtheory.language.quantities.local_expectations import (
    at_each_step,
    at_step,
    expected,
    mean_over_steps,
    minus,
    once,
    over_shares,
    shares_at,
    square,
    virtual_values,
    weights_at,
)
from fedtheory.language.quantities.notion import Quantity, per_round


def _before_each_step(value: Callable[[Frame], Array]) -> Callable[[Run], Array]:
    """Sums over the local steps l < k."""

    def measure(run: Run) -> Array:
        values = at_each_step(value)(run)
        return np.asarray(values.cumsum(axis=1) - values)

    return measure


@once
def mean_gradient(frame: Frame) -> Vector:
    """sum_i q~_i g_i."""
    return frame.gradient.averaged(shares_at(frame))


@once
def selected_gradient(frame: Frame) -> Vector:
    """sum_i w_i g_i."""
    return frame.selected(frame.gradient)


@once
def apart(frame: Frame) -> Vector:
    """theta_i^{rho,k} - theta^{n,k}."""
    return minus(frame.local, frame.virtual, frame)


@once
def gradient_lengths(frame: Frame) -> Array:
    """E|g_i|^2, (M,)."""
    return square(frame, frame.gradient)


def _mean_square_gradient(frame: Frame) -> Array:
    return over_shares(frame, gradient_lengths(frame))


def _round_gap(frame: Frame) -> Array:
    """E L^n(theta^{n,k}) - L^n(thetabar^n)."""
    least = frame.run.surrogate.round_optimal_values[int(frame.index["round"])]
    gap: Array = (virtual_values(frame) * weights_at(frame)).sum(keepdims=True) - least
    return gap


def _surrogate_suboptimality(frame: Frame) -> Array:
    """sum_i q_i [E L_i(theta^{n,k}) - L_i(thetabar)]."""
    surrogate = frame.run.surrogate
    above = virtual_values(frame) - surrogate.client_values(surrogate.optimum)
    return np.asarray((above * surrogate.mean_weights).sum(keepdims=True))


def _descent(direction: Callable[[Frame], Vector]) -> Callable[[Run], Array]:
    """E<v, theta^{n,k} - theta^*>; theta^* is zero in centred coordinates."""
    return at_each_step(lambda frame: expected(frame, direction(frame), frame.virtual))


@once
def _mixed_gradient(frame: Frame) -> Vector:
    """sum_i q_i g_i."""
    return frame.gradient.averaged(weights_at(frame))


def _shares_apart(frame: Frame) -> Array:
    """E|theta^{n,k} - theta^n + sum_i q~_i (theta^{rho_i} - theta_i^{rho,k})|^2."""
    moved = minus(frame.local, frame.received, frame).averaged(shares_at(frame))
    return square(frame, minus(frame.virtual, frame.server + moved, frame))


def _age_sq(frame: Frame) -> Array:
    return square(frame, minus(frame.received, frame.server, frame))


def _gradient_spread(frame: Frame) -> Array:
    return square(frame, minus(frame.gradient, mean_gradient(frame), frame))


def _applied_spread(frame: Frame) -> Array:
    server = frame.run.arithmetic.array([frame.run.algorithm.aggregation.server_step_size])
    return square(frame, minus(frame.gradient, selected_gradient(frame).scaled(server), frame))


def _selected_alignment(frame: Frame) -> Array:
    full = minus(frame.gradient, frame.noise, frame)
    optimum = frame.constant(frame.run.surrogate.optimum[None])
    return expected(frame, frame.selected(full), minus(frame.virtual, optimum, frame))


def _final_distance_sq(run: Run) -> Number:
    *_, last = frames_at("step", run)
    optimum = last.constant(run.surrogate.optimum[None])
    return square(last, minus(last.next_virtual, optimum, last))[0]


def _sum_over_steps(run: Run, factors: Array, values: Array) -> Array:
    """sum_k factors_k values_k, (N, 1, 1), for factors (K,) and values (N, K, 1)."""
    total: Array = (run.arithmetic.array(list(factors))[None, :, None] * values).sum(axis=1, keepdims=True)
    return total


def _weighted_past_sum(run: Run) -> Array:
    return _sum_over_steps(run, np.arange(common_steps(run)), past_mean_square_gradient.measure(run))


def _past_sum_of_sums(run: Run) -> Array:
    return _sum_over_steps(run, np.ones(common_steps(run), dtype=int), past_mean_square_gradient.measure(run))


def _sum_without_last(run: Run) -> Array:
    values: Array = past_mean_square_gradient.measure(run)[:, -1:]
    return values


square_mean_gradient_at_step = per_round(
    "square_mean_gradient_at_step",
    "R(n,k)",
    "R(n,k) = E|sum_i q~_i g_i(theta_i^{rho,k})|^2",
    at_each_step(lambda frame: square(frame, mean_gradient(frame))),
)
selected_gradient_sq = per_round(
    "selected_gradient_sq",
    r"\mathbb E\|\sum_i\omega_i(n)g_i\|^2",
    "E|sum_i w_i(n) g_i(theta_i^{rho,k})|^2, over all outcomes of the weights",
    at_each_step(lambda frame: square(frame, selected_gradient(frame))),
)
stochastic_gradient_sq = per_round(
    "stochastic_gradient_sq",
    r"\mathbb E\|g_i(\theta_i^{\rho_i(n),k})\|^2",
    "E|g_i(theta_i^{rho,k})|^2 of each client",
    at_each_step(gradient_lengths),
)
client_distance_sq = per_round(
    "client_distance_sq",
    r"\mathbb E\|\theta_i^{\rho_i(n),k}-\theta^{n,k}\|^2",
    "E|theta_i^{rho,k} - theta^{n,k}|^2 of each client",
    at_each_step(lambda frame: square(frame, apart(frame))),
)
virtual_distance_sq = per_round(
    "virtual_distance_sq",
    r"\mathbb E\|\theta^{n,k}-\theta^*\|^2",
    "E|theta^{n,k} - theta^*|^2, theta^* the optimum of the federated problem",
    at_each_step(lambda frame: square(frame, frame.virtual)),
)
next_virtual_distance_sq = per_round(
    "next_virtual_distance_sq",
    r"\mathbb E\|\theta^{n,k+1}-\theta^*\|^2",
    "E|theta^{n,k+1} - theta^*|^2",
    at_each_step(lambda frame: square(frame, frame.next_virtual)),
)
virtual_step_sq = per_round(
    "virtual_step_sq",
    r"\mathbb E\|\theta^{n,k+1}-\theta^{n,k}\|^2",
    "E|theta^{n,k+1} - theta^{n,k}|^2",
    at_each_step(lambda frame: square(frame, minus(frame.next_virtual, frame.virtual, frame))),
)
mixed_descent = per_round(
    "mixed_descent",
    r"\mathbb E\langle\sum_iq_i(n)g_i,\theta^{n,k}-\theta^*\rangle",
    "E<sum_i q_i(n) g_i, theta^{n,k} - theta^*>",
    _descent(_mixed_gradient),
)
selected_descent = per_round(
    "selected_descent",
    r"\mathbb E\langle\sum_i\omega_i(n)g_i,\theta^{n,k}-\theta^*\rangle",
    "E<sum_i w_i(n) g_i, theta^{n,k} - theta^*>, the random weights inside",
    _descent(selected_gradient),
)
server_descent = per_round(
    "server_descent",
    r"\mathbb E\langle\sum_iq_i(n)g_i,\theta^n-\theta^*\rangle",
    "E<sum_i q_i(n) g_i, theta^n - theta^*>",
    at_each_step(lambda frame: expected(frame, _mixed_gradient(frame), frame.server)),
)
distance_from_shares_sq = per_round(
    "distance_from_shares_sq",
    r"\mathbb E\|\theta^{n,k}-[\theta^n-\eta_l\sum_{l<k}\sum_i\tilde q_i(n)g_i]\|^2",
    "E|theta^{n,k} - theta^n + sum_i q~_i (theta^{rho_i} - theta_i^{rho,k})|^2: how far the virtual iterate is from "
    "the server's model and the local work of all clients with their shares",
    at_each_step(_shares_apart),
)
virtual_client_gap = per_round(
    "virtual_client_gap",
    r"\mathbb E\mathcal L_i(\theta^{n,k})-\mathcal L_i(\theta_i^*)",
    "E L_i(theta^{n,k}) - L_i* of each client",
    at_each_step(lambda frame: virtual_values(frame) - frame.run.surrogate.least_client_values),
)
round_gap_at_step = per_round(
    "round_gap_at_step", "Z(n,k)", "Z(n,k) = E L^n(theta^{n,k}) - L^n(thetabar^n)", at_each_step(_round_gap)
)
surrogate_suboptimality_at_step = per_round(
    "surrogate_suboptimality_at_step",
    r"\mathbb E\bar{\mathcal L}(\theta^{n,k})-\bar{\mathcal L}(\bar\theta)",
    "E Lbar(theta^{n,k}) - Lbar(thetabar), Lbar the surrogate problem",
    at_each_step(_surrogate_suboptimality),
)
received_distance_sq = per_round(
    "received_distance_sq",
    r"\mathbb E\|\theta^{\rho_i(n)}-\theta^n\|^2",
    "E|theta^{rho_i(n)} - theta^n|^2 of each client",
    at_step(0, _age_sq),
)
past_gradient_spread = per_round(
    "past_gradient_spread",
    r"\sum_{l<k}\mathbb E\|g_i-\sum_j\tilde q_jg_j\|^2",
    "sum over l < k of E|g_i - sum_j q~_j g_j|^2 of each client, at the iterates of step l",
    _before_each_step(_gradient_spread),
)
past_applied_spread = per_round(
    "past_applied_spread",
    r"\sum_{l<k}\mathbb E\|g_i-\eta_g\sum_j\omega_jg_j\|^2",
    "sum over l < k of E|g_i - eta_g sum_j w_j g_j|^2 of each client, at the iterates of step l",
    _before_each_step(_applied_spread),
)
past_mean_square_gradient = per_round(
    "past_mean_square_gradient",
    r"\sum_{l<k}S(n,l)",
    "sum over l < k of S(n,l)",
    _before_each_step(_mean_square_gradient),
)
weighted_past_sum = per_round(
    "weighted_past_sum", r"\sum_kk\sum_{l<k}S(n,l)", "sum over k of k sum_{l<k} S(n,l)", _weighted_past_sum
)
past_sum_of_sums = per_round(
    "past_sum_of_sums", r"\sum_k\sum_{l<k}S(n,l)", "sum over k of sum_{l<k} S(n,l)", _past_sum_of_sums
)
sum_without_last = per_round(
    "sum_without_last", r"\sum_{k\le K-2}S(n,k)", "sum over k up to K - 2 of S(n,k)", _sum_without_last
)
selected_alignment = per_round(
    "selected_alignment",
    r"D_\omega(\bar\theta,n)",
    "mean over k of E<sum_i w_i(n) grad L_i(theta_i^{rho,k}), theta^{n,k} - thetabar>, the random weights inside",
    mean_over_steps(_selected_alignment),
)
final_surrogate_distance_sq = Quantity(
    "final_surrogate_distance_sq",
    r"\mathbb E\|\theta^N-\bar\theta\|^2",
    "E|theta^N - thetabar|^2 after the last update, thetabar the optimum of the surrogate problem",
    _final_distance_sq,
)
