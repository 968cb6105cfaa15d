"""What happens inside updates with stale models, as exact expectations (fraboni2022, Appendix A.2).

All of them are means over the local steps k = 0 .. K-1 of update n.  theta^{n,k}
is the virtual iterate, theta_i^{rho,k} the iterate of client i that started
from the model it received, g_i its stochastic gradient, q_i = q_i(n).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from fedtheory.arithmetic import Array
from fedtheory.engine.frames import Frame, Vector, common_steps
from fedtheory.engine.run import Run
from fedtheory.language.quantities.axes import on_rounds
from fedtheory.language.quantities.inside_rounds import apart, gradient_lengths, mean_gradient
from fedtheory.language.quantities.local_expectations import (
    at_step,
    expected,
    mean_over_steps,
    minus,
    over_shares,
    square,
    weights_at,
)
from fedtheory.language.quantities.notion import per_round
from fedtheory.language.quantities.surrogates import mean_over_rounds


def _client_spread(frame: Frame) -> Array:
    return over_shares(frame, square(frame, apart(frame)))


def _mean_square_gradient(frame: Frame) -> Array:
    return over_shares(frame, gradient_lengths(frame))


def _square_mean_gradient(frame: Frame) -> Array:
    return square(frame, mean_gradient(frame))


def _to_surrogate_optimum(frame: Frame, model: Vector) -> Vector:
    """x - thetabar."""
    return minus(model, frame.constant(frame.run.surrogate.optimum[None]), frame)


def _alignment(frame: Frame) -> Array:
    full = minus(frame.gradient, frame.noise, frame).averaged(weights_at(frame))
    return expected(frame, full, _to_surrogate_optimum(frame, frame.virtual))


def _progress(frame: Frame) -> Array:
    before, after = (_to_surrogate_optimum(frame, model) for model in (frame.virtual, frame.next_virtual))
    return square(frame, after) - square(frame, before)


def _client_values(run: Run) -> Array:
    """E L_i(theta^{n,k}), (N, K, M), k = 0 .. K-1."""
    if _client_values not in run.known:
        run.known[_client_values] = run.virtual_client_values[:, : common_steps(run)]
    values: Array = run.known[_client_values]
    return values


def _mean_of_values(value: Callable[[Run, Array], Array]) -> Callable[[Run], Array]:
    """Means over the local steps, (N, 1, 1), of numbers (N, K) made of E L_i(theta^{n,k}), (N, K, M)."""

    def measure(run: Run) -> Array:
        values = value(run, _client_values(run))
        return on_rounds(values.sum(axis=1) / run.arithmetic.number(common_steps(run), "K"))

    return measure


def _weighted(run: Run, values: Array) -> Array:
    """E L^n(theta^{n,k}), (N, K)."""
    weighted: Array = (values * run.surrogate.weights[:, None, :]).sum(axis=-1)
    return weighted


def _round_gap(run: Run, values: Array) -> Array:
    return _weighted(run, values) - run.surrogate.round_optimal_values[:, None]


def _surrogate_gap(run: Run, values: Array) -> Array:
    return _weighted(run, values) - run.surrogate.values_at_optimum[:, None]


def _surrogate_suboptimality(run: Run, values: Array) -> Array:
    surrogate = run.surrogate
    return np.asarray((values - surrogate.client_values(surrogate.optimum)) @ surrogate.mean_weights)


def _virtual_suboptimality(run: Run, values: Array) -> Array:
    return np.asarray(values @ run.problem.weights - run.problem.optimal_value)


def _unrepresented(run: Run, values: Array) -> Array:
    """sum over types with s_j(n) = 0 of r_j E[F_j(theta^{n,k}) - F_j*]."""
    surrogate = run.surrogate
    missing = surrogate.by_type(surrogate.weights)[:, surrogate.types] == 0
    shares = np.where(missing, run.problem.weights, run.problem.weights * 0)
    return np.asarray(((values - surrogate.least_client_values) * shares[:, None, :]).sum(axis=-1))


def _virtual_gradient_sq(run: Run) -> Array:
    """Mean over k of E|grad F(theta^{n,k})|^2, (N, 1, 1)."""
    values = run.virtual_gradient_sq[:, : common_steps(run)]
    return on_rounds(values.sum(axis=1) / run.arithmetic.number(common_steps(run), "K"))


def _past_lengths_sq(run: Run) -> Array:
    """sum_{s=1..tau} Q(n-s), (N,), with nothing before the start."""
    lengths, reach = step_length_sq.on(run)[:, 0, 0], run.algorithm.schedule.largest_staleness
    return np.stack([lengths[max(n - reach, 0) : n].sum() + lengths[0] * 0 for n in range(len(lengths))])


step_length_sq = per_round(
    "step_length_sq",
    "Q(n)",
    "Q(n) = E|theta^{n+1} - theta^n|^2",
    at_step(-1, lambda frame: square(frame, minus(frame.next_virtual, frame.server, frame))),
)
past_step_lengths_sq = per_round(
    "past_step_lengths_sq",
    r"\sum_{s=1}^\tau Q(n-s)",
    "sum of Q over the last tau updates before n, tau the largest staleness",
    lambda run: on_rounds(_past_lengths_sq(run)),
)
client_spread = per_round(
    "client_spread",
    r"\phi(n)",
    "phi(n): mean over k of sum_i q_i/q E|theta_i^{rho,k} - theta^{n,k}|^2",
    mean_over_steps(_client_spread),
)
mean_square_gradient = per_round(
    "mean_square_gradient",
    "S(n)",
    "S(n): mean over k of sum_i q_i/q E|g_i(theta_i^{rho,k})|^2",
    mean_over_steps(_mean_square_gradient),
)
square_mean_gradient = per_round(
    "square_mean_gradient",
    r"R(n)",
    "R(n): mean over k of E|sum_i q_i/q g_i(theta_i^{rho,k})|^2",
    mean_over_steps(_square_mean_gradient),
)
alignment = per_round(
    "alignment",
    r"D(\bar\theta,n)",
    "D(thetabar, n): mean over k of E<sum_i q_i grad L_i(theta_i^{rho,k}), theta^{n,k} - thetabar>",
    mean_over_steps(_alignment),
)
progress = per_round(
    "progress",
    r"\Delta(n)",
    "Delta(n): mean over k of E|theta^{n,k+1} - thetabar|^2 - E|theta^{n,k} - thetabar|^2",
    mean_over_steps(_progress),
)
round_gap = per_round(
    "round_gap",
    "Z(n)",
    "Z(n): mean over k of E L^n(theta^{n,k}) - L^n(thetabar^n)",
    _mean_of_values(_round_gap),
)
surrogate_gap = per_round(
    "surrogate_gap",
    r"\Xi(n)",
    "Xi(n): mean over k of E L^n(theta^{n,k}) - L^n(thetabar)",
    _mean_of_values(_surrogate_gap),
)
virtual_gradient_sq = per_round(
    "virtual_gradient_sq",
    r"\frac1K\sum_k\mathbb E\|\nabla\mathcal L(\theta^{n,k})\|^2",
    "mean over k of E|grad F(theta^{n,k})|^2",
    _virtual_gradient_sq,
)
virtual_suboptimality = per_round(
    "virtual_suboptimality",
    r"\frac1K\sum_k\mathbb E\mathcal L(\theta^{n,k})-\mathcal L(\theta^*)",
    "mean over k of E F(theta^{n,k}) - F*",
    _mean_of_values(_virtual_suboptimality),
)
surrogate_suboptimality = per_round(
    "surrogate_suboptimality",
    r"\frac1K\sum_k\mathbb E\bar{\mathcal L}(\theta^{n,k})-\bar{\mathcal L}(\bar\theta)",
    "mean over k of E Lbar(theta^{n,k}) - Lbar(thetabar), Lbar the surrogate problem",
    _mean_of_values(_surrogate_suboptimality),
)
unrepresented_gap = per_round(
    "unrepresented_gap",
    r"\frac1K\sum_k\sum_{j\notin W_n}r_j[\mathbb EF_j(\theta^{n,k})-F_j(\theta_j^*)]",
    "mean over k of the sum over types with s_j(n) = 0 of r_j E[F_j(theta^{n,k}) - F_j*]",
    _mean_of_values(_unrepresented),
)
mean_step_length_sq = mean_over_rounds(step_length_sq, r"\bar Q(N)")
mean_round_gap = mean_over_rounds(round_gap, r"\bar Z(N)")
mean_surrogate_gap = mean_over_rounds(surrogate_gap, r"\bar\Xi(N)")
mean_progress = mean_over_rounds(progress, r"\bar\Delta(N)")
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
