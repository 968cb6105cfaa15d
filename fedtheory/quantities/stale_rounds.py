"""What happens inside updates with stale models, as exact expectations (fraboni2022, Appendix A.2).

All of them are means over the local steps k = 0 .. K-1 of update n.  theta^{n,k}
is the virtual iterate, theta_i^{rho,k} the iterate of client i that started
from the model it received, g_i its stochastic gradient, q_i = q_i(n).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from fedtheory.arithmetic import Array, Number
from fedtheory.frames import Frame, common_steps, frames_at
from fedtheory.quantities.notion import Quantity
from fedtheory.quantities.surrogates import mean_over_rounds
from fedtheory.quantities.weights import on_rounds
from fedtheory.run import Run

_per_round = partial(Quantity, per_round=True)


@dataclass(frozen=True, eq=False)
class _Step:
    """One local step of one update, with the weights of the update."""

    frame: Frame
    weights: Array
    """q_i(n), (M,)."""
    number: int
    """n."""

    @property
    def run(self) -> Run:
        return self.frame.run

    def minus(self, vector: Any, other: Any) -> Any:
        """Difference of two vectors."""
        return vector + other.scaled(-self.run.arithmetic.identity(1)[0])

    def square(self, vector: Any) -> Array:
        """E|v|^2, (1 or M,)."""
        return self.expected(vector, vector)

    def expected(self, left: Any, right: Any) -> Array:
        """E<u, v>, (1 or M,)."""
        found = self.frame.inner(left, right)
        expected: Array = self.frame.expected(found.reshape((1,) * (3 - found.ndim) + found.shape))[0, 0]
        return expected

    def apart(self, vector: Any, point: Array) -> Array:
        """E|v - point|^2 for a point (d,)."""
        return self.square(self.minus(vector, self.frame.constant(point[None])))


def _client_spread(step: _Step) -> Number:
    apart = step.square(step.minus(step.frame.local, step.frame.virtual))
    return apart @ step.run.surrogate.shares[step.number]


def _mean_square_gradient(step: _Step) -> Number:
    return step.square(step.frame.gradient) @ step.run.surrogate.shares[step.number]


def _square_mean_gradient(step: _Step) -> Number:
    return step.square(step.frame.gradient.averaged(step.run.surrogate.shares[step.number]))[0]


def _alignment(step: _Step) -> Number:
    full = step.minus(step.frame.gradient, step.frame.noise).averaged(step.weights)
    optimum = step.frame.constant(step.run.surrogate.optimum[None])
    return step.expected(full, step.minus(step.frame.virtual, optimum))[0]


def _progress(step: _Step) -> Number:
    optimum = step.run.surrogate.optimum
    return (step.apart(step.frame.next_virtual, optimum) - step.apart(step.frame.virtual, optimum))[0]


def _mean_over_steps(value: Callable[[_Step], Number]) -> Callable[[Run], Array]:
    """Means over the local steps of each update, (N, 1, 1)."""

    def measure(run: Run) -> Array:
        sums = run.arithmetic.zeros(run.algorithm.rounds)
        for frame in frames_at("step", run):
            number = int(frame.index["round"])
            sums[number] = sums[number] + value(_Step(frame, run.surrogate.weights[number], number))
        return on_rounds(sums / run.arithmetic.number(common_steps(run), "K"))

    return measure


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


def _step_lengths_sq(run: Run) -> Array:
    """E|theta^{n+1} - theta^n|^2, (N,)."""
    lengths, last = [], common_steps(run) - 1
    for frame in frames_at("step", run):
        if frame.index["step"] == last:
            step = _Step(frame, run.surrogate.weights[0], 0)
            lengths.append(step.square(step.minus(frame.next_virtual, frame.server))[0])
    return run.arithmetic.array(lengths)


def _past_lengths_sq(run: Run) -> Array:
    """sum_{s=1..tau} Q(n-s), (N,), with nothing before the start."""
    lengths, reach = step_length_sq.on(run)[:, 0, 0], run.algorithm.schedule.largest_staleness
    return np.stack([lengths[max(n - reach, 0) : n].sum() + lengths[0] * 0 for n in range(len(lengths))])


step_length_sq = _per_round(
    "step_length_sq",
    "Q(n)",
    "Q(n) = E|theta^{n+1} - theta^n|^2",
    lambda run: on_rounds(_step_lengths_sq(run)),
)
past_step_lengths_sq = _per_round(
    "past_step_lengths_sq",
    r"\sum_{s=1}^\tau Q(n-s)",
    "sum of Q over the last tau updates before n, tau the largest staleness",
    lambda run: on_rounds(_past_lengths_sq(run)),
)
client_spread = _per_round(
    "client_spread",
    r"\phi(n)",
    "phi(n): mean over k of sum_i q_i/q E|theta_i^{rho,k} - theta^{n,k}|^2",
    _mean_over_steps(_client_spread),
)
mean_square_gradient = _per_round(
    "mean_square_gradient",
    "S(n)",
    "S(n): mean over k of sum_i q_i/q E|g_i(theta_i^{rho,k})|^2",
    _mean_over_steps(_mean_square_gradient),
)
square_mean_gradient = _per_round(
    "square_mean_gradient",
    r"R(n)",
    "R(n): mean over k of E|sum_i q_i/q g_i(theta_i^{rho,k})|^2",
    _mean_over_steps(_square_mean_gradient),
)
alignment = _per_round(
    "alignment",
    r"D(\bar\theta,n)",
    "D(thetabar, n): mean over k of E<sum_i q_i grad L_i(theta_i^{rho,k}), theta^{n,k} - thetabar>",
    _mean_over_steps(_alignment),
)
progress = _per_round(
    "progress",
    r"\Delta(n)",
    "Delta(n): mean over k of E|theta^{n,k+1} - thetabar|^2 - E|theta^{n,k} - thetabar|^2",
    _mean_over_steps(_progress),
)
round_gap = _per_round(
    "round_gap",
    "Z(n)",
    "Z(n): mean over k of E L^n(theta^{n,k}) - L^n(thetabar^n)",
    _mean_of_values(_round_gap),
)
surrogate_gap = _per_round(
    "surrogate_gap",
    r"\Xi(n)",
    "Xi(n): mean over k of E L^n(theta^{n,k}) - L^n(thetabar)",
    _mean_of_values(_surrogate_gap),
)
virtual_gradient_sq = _per_round(
    "virtual_gradient_sq",
    r"\frac1K\sum_k\mathbb E\|\nabla\mathcal L(\theta^{n,k})\|^2",
    "mean over k of E|grad F(theta^{n,k})|^2",
    _virtual_gradient_sq,
)
virtual_suboptimality = _per_round(
    "virtual_suboptimality",
    r"\frac1K\sum_k\mathbb E\mathcal L(\theta^{n,k})-\mathcal L(\theta^*)",
    "mean over k of E F(theta^{n,k}) - F*",
    _mean_of_values(_virtual_suboptimality),
)
surrogate_suboptimality = _per_round(
    "surrogate_suboptimality",
    r"\frac1K\sum_k\mathbb E\bar{\mathcal L}(\theta^{n,k})-\bar{\mathcal L}(\bar\theta)",
    "mean over k of E Lbar(theta^{n,k}) - Lbar(thetabar), Lbar the surrogate problem",
    _mean_of_values(_surrogate_suboptimality),
)
unrepresented_gap = _per_round(
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
