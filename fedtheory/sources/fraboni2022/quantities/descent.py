"""Progress of updates with stale models, and alignment of gradients with the direction to an optimum."""

from __future__ import annotations

import numpy as np

from fedtheory.arithmetic import Array
from fedtheory.engine.run import Run
from fedtheory.kernel.expressions import Expr, Selected
from fedtheory.language.quantities.measuring.axes import place_on_rounds
from fedtheory.language.quantities.measuring.reductions import LAST_STEP
from fedtheory.language.quantities.measuring.terms import define
from fedtheory.language.quantities.quantity import Term, mean_over_rounds, per_round
from fedtheory.sources.fraboni2022.quantities.vectors import (
    AT_LOCAL,
    NEXT_VIRTUAL,
    OPTIMUM,
    SAMPLE,
    SERVER,
    SURROGATE_OPTIMUM,
    VIRTUAL,
    define_at_each_step,
    define_step_average,
    product,
    square,
    weigh_by_weights,
)

step_length_sq = define(
    "step_length_sq",
    "Q(n)",
    "Q(n) = E|theta^{n+1} - theta^n|^2",
    define_at_each_step(square(NEXT_VIRTUAL - SERVER), LAST_STEP),
)


def _sum_past_lengths_sq(run: Run) -> Array:
    """Return sum_{s=1..tau} Q(n-s), (N,), with Q = 0 before the start."""
    lengths, staleness = step_length_sq.on(run)[:, 0, 0], run.algorithm.largest_staleness
    # The added zero gives an empty sum the arithmetic of the run.
    return np.stack([lengths[max(n - staleness, 0) : n].sum() + lengths[0] * 0 for n in range(len(lengths))])


past_step_lengths_sq = per_round(
    "past_step_lengths_sq",
    r"\sum_{s=1}^\tau Q(n-s)",
    "sum of Q over the last tau updates before n, tau the largest staleness",
    lambda run: place_on_rounds(_sum_past_lengths_sq(run)),
    primitive="window",
)
mean_step_length_sq = mean_over_rounds(step_length_sq, r"\bar Q(N)")
virtual_step_sq = define(
    "virtual_step_sq",
    r"\mathbb E\|\theta^{n,k+1}-\theta^{n,k}\|^2",
    "E|theta^{n,k+1} - theta^{n,k}|^2",
    define_at_each_step(square(NEXT_VIRTUAL - VIRTUAL)),
)


def define_progress(point: Expr) -> Term:
    """Define the change of the squared distance from a point in one step, averaged over the steps."""
    return define_step_average(square(NEXT_VIRTUAL - point) - square(VIRTUAL - point))


progress = define(
    "progress",
    r"\Delta(n)",
    "Delta(n): mean over k of E|theta^{n,k+1} - thetabar|^2 - E|theta^{n,k} - thetabar|^2",
    define_progress(SURROGATE_OPTIMUM),
)
mean_progress = mean_over_rounds(progress, r"\bar\Delta(N)")


def define_alignment(point: Expr) -> Term:
    """Define the inner product of the weighted gradients with theta^{n,k} minus a point, averaged over the steps."""
    return define_step_average(product(weigh_by_weights(AT_LOCAL), VIRTUAL - point))


alignment = define(
    "alignment",
    r"D(\bar\theta,n)",
    "D(thetabar, n): mean over k of E<sum_i q_i grad L_i(theta_i^{rho,k}), theta^{n,k} - thetabar>",
    define_alignment(SURROGATE_OPTIMUM),
)
selected_alignment = define(
    "selected_alignment",
    r"D_\omega(\bar\theta,n)",
    "mean over k of E<sum_i w_i(n) grad L_i(theta_i^{rho,k}), theta^{n,k} - thetabar>, the random weights inside",
    define_step_average(product(Selected(AT_LOCAL), VIRTUAL - SURROGATE_OPTIMUM)),
)
mixed_descent = define(
    "mixed_descent",
    r"\mathbb E\langle\sum_iq_i(n)g_i,\theta^{n,k}-\theta^*\rangle",
    "E<sum_i q_i(n) g_i, theta^{n,k} - theta^*>",
    define_at_each_step(product(weigh_by_weights(SAMPLE), VIRTUAL - OPTIMUM)),
)
selected_descent = define(
    "selected_descent",
    r"\mathbb E\langle\sum_i\omega_i(n)g_i,\theta^{n,k}-\theta^*\rangle",
    "E<sum_i w_i(n) g_i, theta^{n,k} - theta^*>, the random weights inside",
    define_at_each_step(product(Selected(SAMPLE), VIRTUAL - OPTIMUM)),
)
server_descent = define(
    "server_descent",
    r"\mathbb E\langle\sum_iq_i(n)g_i,\theta^n-\theta^*\rangle",
    "E<sum_i q_i(n) g_i, theta^n - theta^*>",
    define_at_each_step(product(weigh_by_weights(SAMPLE), SERVER - OPTIMUM)),
)
