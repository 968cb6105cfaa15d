"""Progress of updates with stale models, and its alignment with the way to an optimum."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from fedtheory.arithmetic import Array
from fedtheory.engine.frames import Frame, Vector
from fedtheory.engine.run import Run
from fedtheory.language.quantities.measuring.axes import place_on_rounds
from fedtheory.language.quantities.measuring.expectations import (
    expected,
    from_optimum,
    mean_over_steps,
    measure_at_each_step,
    measure_at_step,
    minus,
    once,
    selected_gradient,
    square,
    weights_at,
)
from fedtheory.language.quantities.quantity import mean_over_rounds, per_round, per_step

step_length_sq = per_round(
    "step_length_sq",
    "Q(n)",
    "Q(n) = E|theta^{n+1} - theta^n|^2",
    measure_at_step(-1, lambda frame: square(frame, minus(frame.next_virtual, frame.server, frame))),
)


def _past_lengths_sq(run: Run) -> Array:
    """sum_{s=1..tau} Q(n-s), (N,), with nothing before the start."""
    lengths, reach = step_length_sq.on(run)[:, 0, 0], run.algorithm.schedule.largest_staleness
    return np.stack([lengths[max(n - reach, 0) : n].sum() + lengths[0] * 0 for n in range(len(lengths))])


past_step_lengths_sq = per_round(
    "past_step_lengths_sq",
    r"\sum_{s=1}^\tau Q(n-s)",
    "sum of Q over the last tau updates before n, tau the largest staleness",
    lambda run: place_on_rounds(_past_lengths_sq(run)),
)
mean_step_length_sq = mean_over_rounds(step_length_sq, r"\bar Q(N)")
virtual_step_sq = per_step(
    "virtual_step_sq",
    r"\mathbb E\|\theta^{n,k+1}-\theta^{n,k}\|^2",
    "E|theta^{n,k+1} - theta^{n,k}|^2",
    measure_at_each_step(lambda frame: square(frame, minus(frame.next_virtual, frame.virtual, frame))),
)


Point = Callable[[Run], Array]
"""A point of a run, (d,)."""


def surrogate_optimum_of(run: Run) -> Array:
    """thetabar, (d,)."""
    return run.surrogate.optimum


def _from(frame: Frame, model: Vector, point: Point) -> Vector:
    """x less a point."""
    return minus(model, frame.constant(point(frame.run)[None]), frame)


def progress_towards(point: Point) -> Callable[[Run], Array]:
    """Define the change of the squared distance from a point in a step, as a time average over the steps."""

    def at_a_step(frame: Frame) -> Array:
        before, after = (_from(frame, model, point) for model in (frame.virtual, frame.next_virtual))
        return square(frame, after) - square(frame, before)

    return mean_over_steps(at_a_step)


progress = per_round(
    "progress",
    r"\Delta(n)",
    "Delta(n): mean over k of E|theta^{n,k+1} - thetabar|^2 - E|theta^{n,k} - thetabar|^2",
    progress_towards(surrogate_optimum_of),
)
mean_progress = mean_over_rounds(progress, r"\bar\Delta(N)")


def alignment_with(point: Point) -> Callable[[Run], Array]:
    """Define the inner product of the average gradient and the way from a point, as a time average over the steps."""

    def at_a_step(frame: Frame) -> Array:
        full = minus(frame.gradient, frame.noise, frame).averaged(weights_at(frame))
        return expected(frame, full, _from(frame, frame.virtual, point))

    return mean_over_steps(at_a_step)


alignment = per_round(
    "alignment",
    r"D(\bar\theta,n)",
    "D(thetabar, n): mean over k of E<sum_i q_i grad L_i(theta_i^{rho,k}), theta^{n,k} - thetabar>",
    alignment_with(surrogate_optimum_of),
)


def _selected_alignment(frame: Frame) -> Array:
    full = minus(frame.gradient, frame.noise, frame)
    return expected(frame, frame.selected(full), _from(frame, frame.virtual, surrogate_optimum_of))


selected_alignment = per_round(
    "selected_alignment",
    r"D_\omega(\bar\theta,n)",
    "mean over k of E<sum_i w_i(n) grad L_i(theta_i^{rho,k}), theta^{n,k} - thetabar>, the random weights inside",
    mean_over_steps(_selected_alignment),
)


def _descent(direction: Callable[[Frame], Vector]) -> Callable[[Run], Array]:
    """E<v, theta^{n,k} - theta^*>; theta^* is zero in centred coordinates."""
    return measure_at_each_step(lambda frame: expected(frame, direction(frame), from_optimum(frame, frame.virtual)))


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
    measure_at_each_step(lambda frame: expected(frame, _mixed_gradient(frame), from_optimum(frame, frame.server))),
)
