"""Losses and weights over windows of W updates, after which every client has its weight."""

from __future__ import annotations

from fedtheory.arithmetic import Array
from fedtheory.engine.run import Run
from fedtheory.language.quantities.measuring.expectations import measure_at_each_step, virtual_values
from fedtheory.language.quantities.quantity import RunQuantity


def _client_values(run: Run) -> Array:
    """sum_k E L_i(theta^{n,k}), (N, M)."""
    sums: Array = measure_at_each_step(virtual_values)(run).sum(axis=1)
    return sums


def _sum_windows(run: Run, values: Array) -> Array:
    """Sums over the blocks of W updates, (N/W, 1, M) from (N, M)."""
    run.require_single_clients("windows are of the weights of single clients")
    window = run.algorithm.schedule.smallest_window(run.surrogate.weights)
    sums: Array = values.reshape(-1, window, values.shape[1]).sum(axis=1)
    return sums[:, None, :]


window_loss = RunQuantity(
    "window_loss",
    r"\sum_n\sum_kq_i\mathbb E\mathcal L_i(\theta^{n,k})",
    "sum over a window of W updates and over k of q_i E L_i(theta^{n,k}), of each client",
    lambda run: _sum_windows(run, _client_values(run) * run.surrogate.mean_weights),
)
window_round_loss = RunQuantity(
    "window_round_loss",
    r"\sum_n\sum_kq_i(n)\mathbb E\mathcal L_i(\theta^{n,k})",
    "sum over a window of W updates and over k of q_i(n) E L_i(theta^{n,k}), of each client",
    lambda run: _sum_windows(run, _client_values(run) * run.surrogate.weights),
)


def _surrogate_losses(run: Run) -> Array:
    mean: Array = _client_values(run) @ run.surrogate.mean_weights
    return mean[:, None]


window_surrogate_loss = RunQuantity(
    "window_surrogate_loss",
    r"\sum_n\sum_kq_i(n)\mathbb E\bar{\mathcal L}(\theta^{n,k})",
    "sum over a window of W updates and over k of q_i(n) E Lbar(theta^{n,k}), of each client",
    lambda run: _sum_windows(run, _surrogate_losses(run) * run.surrogate.weights),
)
window_weight = RunQuantity(
    "window_weight",
    r"\sum_nq_i(n)",
    "sum over a window of W updates of q_i(n), of each client",
    lambda run: _sum_windows(run, run.surrogate.weights),
)
