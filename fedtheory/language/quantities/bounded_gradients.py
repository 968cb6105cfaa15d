"""Gradients along a run, and losses over windows of updates (fraboni2022, Section 3.4).

No gradient of a quadratic is bounded on all of space: the constants are those
of the points that the run itself visits.
"""

from __future__ import annotations

from collections.abc import Callable

from fedtheory.arithmetic import Array
from fedtheory.arithmetic.enclosures import largest
from fedtheory.engine.frames import Frame, Vector, frames_at
from fedtheory.engine.region import AlongRun
from fedtheory.engine.run import Bound, Run
from fedtheory.language.quantities.constants import assumed
from fedtheory.language.quantities.local_expectations import (
    at_each_step,
    at_step,
    minus,
    square,
    values_at,
    virtual_values,
)
from fedtheory.language.quantities.notion import Quantity


def _largest(run: Run, values: Callable[[Frame], list[Array]]) -> Bound:
    found = [largest(found) for frame in frames_at("step", run) for found in values(frame)]
    return Bound(largest(found), AlongRun())


def _gradient_squares(frame: Frame, at: Vector) -> Array:
    """E|grad L_i|^2, (M,)."""
    return square(frame, frame.run.client_objectives.gradient(frame, at))


def _full(frame: Frame) -> list[Array]:
    # Every theta^{n,k} is theta^0, which all clients start from, or the next iterate of a step.
    return [_gradient_squares(frame, at) for at in (frame.next_virtual, frame.local)]


def _stochastic(run: Run) -> Bound:
    drawn = _largest(run, lambda frame: [square(frame, frame.gradient)])
    return Bound(largest([drawn.value, full_gradient_bound.on(run)]), drawn.region)


full_gradient_bound = assumed(
    "full_gradient_bound",
    "B",
    "the largest E|grad L_i|^2 at the theta^{n,k} and at the clients' iterates of the run, its root",
    lambda run: _largest(run, _full),
)
gradient_bound = assumed(
    "gradient_bound",
    "B_g",
    "the largest E|g_i|^2 at the clients' iterates and E|grad L_i|^2 at the theta^{n,k} of the run, its root",
    _stochastic,
)


local_change_sq = Quantity(
    "local_change_sq",
    r"\mathbb E\|\theta_i^{\rho_i(n)+1}-\theta^{\rho_i(n)}\|^2",
    "E|theta_i^{rho,K} - theta^rho|^2, what K local steps change, of each client in each update",
    at_step(-1, lambda frame: square(frame, minus(frame.next_local, frame.received, frame))),
    per_round=True,
)


def _loss_change(frame: Frame) -> Array:
    """E L_i(theta^{n,k+1}) - E L_i(theta^{n,k}), (M,)."""
    return values_at(frame, frame.next_virtual) - virtual_values(frame)


virtual_loss_change = Quantity(
    "virtual_loss_change",
    r"\mathbb E\mathcal L_i(\theta^{n,k+1})-\mathbb E\mathcal L_i(\theta^{n,k})",
    "E L_i(theta^{n,k+1}) - E L_i(theta^{n,k}) of each client at each local step",
    at_each_step(_loss_change),
    per_round=True,
)


def _client_values(run: Run) -> Array:
    """sum_k E L_i(theta^{n,k}), (N, M)."""
    sums: Array = at_each_step(virtual_values)(run).sum(axis=1)
    return sums


def _over_windows(run: Run, values: Array) -> Array:
    """Sums over the blocks of W updates, (N/W, 1, M) from (N, M)."""
    window = run.algorithm.schedule.smallest_window(run.surrogate.weights)
    sums: Array = values.reshape(-1, window, values.shape[1]).sum(axis=1)
    return sums[:, None, :]


def _surrogate_losses(run: Run) -> Array:
    mean: Array = _client_values(run) @ run.surrogate.mean_weights
    return mean[:, None]


window_loss = Quantity(
    "window_loss",
    r"\sum_n\sum_kq_i\mathbb E\mathcal L_i(\theta^{n,k})",
    "sum over a window of W updates and over k of q_i E L_i(theta^{n,k}), of each client",
    lambda run: _over_windows(run, _client_values(run) * run.surrogate.mean_weights),
)
window_round_loss = Quantity(
    "window_round_loss",
    r"\sum_n\sum_kq_i(n)\mathbb E\mathcal L_i(\theta^{n,k})",
    "sum over a window of W updates and over k of q_i(n) E L_i(theta^{n,k}), of each client",
    lambda run: _over_windows(run, _client_values(run) * run.surrogate.weights),
)
window_surrogate_loss = Quantity(
    "window_surrogate_loss",
    r"\sum_n\sum_kq_i(n)\mathbb E\bar{\mathcal L}(\theta^{n,k})",
    "sum over a window of W updates and over k of q_i(n) E Lbar(theta^{n,k}), of each client",
    lambda run: _over_windows(run, _surrogate_losses(run) * run.surrogate.weights),
)
window_weight = Quantity(
    "window_weight",
    r"\sum_nq_i(n)",
    "sum over a window of W updates of q_i(n), of each client",
    lambda run: _over_windows(run, run.surrogate.weights),
)
