"""What updates with stale models move, and whether it is towards an optimum."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from fedtheory.arithmetic import Array
from fedtheory.engine.frames import Frame, Vector
from fedtheory.engine.run import Run
from fedtheory.language.quantities.measuring.axes import on_rounds
from fedtheory.language.quantities.measuring.expectations import (
    at_each_step,
    at_step,
    expected,
    mean_over_steps,
    minus,
    once,
    selected_gradient,
    square,
    weights_at,
)
from fedtheory.language.quantities.notion import mean_over_rounds, per_round, per_step

step_length_sq = per_round(
    "step_length_sq",
    "Q(n)",
    "Q(n) = E|theta^{n+1} - theta^n|^2",
    at_step(-1, lambda frame: square(frame, minus(frame.next_virtual, frame.server, frame))),
)


def _past_lengths_sq(run: Run) -> Array:
    """sum_{s=1..tau} Q(n-s), (N,), with nothing before the start."""
    lengths, reach = step_length_sq.on(run)[:, 0, 0], run.algorithm.schedule.largest_staleness
    return np.stack([lengths[max(n - reach, 0) : n].sum() + lengths[0] * 0 for n in range(len(lengths))])


past_step_lengths_sq = per_round(
    "past_step_lengths_sq",
    r"\sum_{s=1}^\tau Q(n-s)",
    "sum of Q over the last tau updates before n, tau the largest staleness",
    lambda run: on_rounds(_past_lengths_sq(run)),
)
mean_step_length_sq = mean_over_rounds(step_length_sq, r"\bar Q(N)")
virtual_step_sq = per_step(
    "virtual_step_sq",
    r"\mathbb E\|\theta^{n,k+1}-\theta^{n,k}\|^2",
    "E|theta^{n,k+1} - theta^{n,k}|^2",
    at_each_step(lambda frame: square(frame, minus(frame.next_virtual, frame.virtual, frame))),
)


def _to_surrogate_optimum(frame: Frame, model: Vector) -> Vector:
    """x - thetabar."""
    return minus(model, frame.constant(frame.run.surrogate.optimum[None]), frame)


def _progress(frame: Frame) -> Array:
    before, after = (_to_surrogate_optimum(frame, model) for model in (frame.virtual, frame.next_virtual))
    return square(frame, after) - square(frame, before)


progress = per_round(
    "progress",
    r"\Delta(n)",
    "Delta(n): mean over k of E|theta^{n,k+1} - thetabar|^2 - E|theta^{n,k} - thetabar|^2",
    mean_over_steps(_progress),
)
mean_progress = mean_over_rounds(progress, r"\bar\Delta(N)")


def _alignment(frame: Frame) -> Array:
    full = minus(frame.gradient, frame.noise, frame).averaged(weights_at(frame))
    return expected(frame, full, _to_surrogate_optimum(frame, frame.virtual))


alignment = per_round(
    "alignment",
    r"D(\bar\theta,n)",
    "D(thetabar, n): mean over k of E<sum_i q_i grad L_i(theta_i^{rho,k}), theta^{n,k} - thetabar>",
    mean_over_steps(_alignment),
)


def _selected_alignment(frame: Frame) -> Array:
    full = minus(frame.gradient, frame.noise, frame)
    optimum = frame.constant(frame.run.surrogate.optimum[None])
    return expected(frame, frame.selected(full), minus(frame.virtual, optimum, frame))


selected_alignment = per_round(
    "selected_alignment",
    r"D_\omega(\bar\theta,n)",
    "mean over k of E<sum_i w_i(n) grad L_i(theta_i^{rho,k}), theta^{n,k} - thetabar>, the random weights inside",
    mean_over_steps(_selected_alignment),
)


def _descent(direction: Callable[[Frame], Vector]) -> Callable[[Run], Array]:
    """E<v, theta^{n,k} - theta^*>; theta^* is zero in centred coordinates."""
    return at_each_step(lambda frame: expected(frame, direction(frame), frame.virtual))


@once
def _mixed_gradient(frame: Frame) -> Vector:
    """sum_i q_i g_i."""
    return frame.gradient.averaged(weights_at(frame))


mixed_descent = per_step(
    "mixed_descent",
    r"\mathbb E\langle\sum_iq_i(n)g_i,\theta^{n,k}-\theta^*\rangle",
    "E<sum_i q_i(n) g_i, theta^{n,k} - theta^*>",
    _descent(_mixed_gradient),
)
selected_descent = per_step(
    "selected_descent",
    r"\mathbb E\langle\sum_i\omega_i(n)g_i,\theta^{n,k}-\theta^*\rangle",
    "E<sum_i w_i(n) g_i, theta^{n,k} - theta^*>, the random weights inside",
    _descent(selected_gradient),
)
server_descent = per_step(
    "server_descent",
    r"\mathbb E\langle\sum_iq_i(n)g_i,\theta^n-\theta^*\rangle",
    "E<sum_i q_i(n) g_i, theta^n - theta^*>",
    at_each_step(lambda frame: expected(frame, _mixed_gradient(frame), frame.server)),
)
