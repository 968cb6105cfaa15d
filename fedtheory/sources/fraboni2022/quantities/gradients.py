"""Squared stochastic gradients in updates with stale models, and bounds on the gradients along a run.

Gradients of a quadratic are unbounded, so the bounds hold at the points that the run visits.
"""

from __future__ import annotations

from functools import singledispatch

import sympy as sp

from fedtheory.arithmetic import Number
from fedtheory.arithmetic.enclosures import largest
from fedtheory.engine.constants import Bound
from fedtheory.engine.frames import list_frames_at, read_common_steps
from fedtheory.engine.losses.run import LossRun
from fedtheory.engine.region import AlongRun
from fedtheory.engine.run import Run
from fedtheory.kernel.expressions import Gradient, Selected
from fedtheory.language.quantities.measuring.reductions import (
    LARGEST_CLIENT,
    LARGEST_ROUND,
    LARGEST_STEP,
    LAST_STEP,
    SUM_BEFORE_STEP,
    SUM_OVER_STEPS,
)
from fedtheory.language.quantities.measuring.terms import define
from fedtheory.language.quantities.quantity import Over, Weights, supremum
from fedtheory.sources.fraboni2022.quantities.vectors import (
    AT_LOCAL,
    CLIENT_OBJECTIVE,
    NEXT_VIRTUAL,
    SAMPLE,
    define_at_each_step,
    define_step_average,
    square,
    weigh_by_shares,
)

_SQUARE, _MEAN_SQUARE = square(SAMPLE), weigh_by_shares(square(SAMPLE))
mean_square_gradient = define(
    "mean_square_gradient",
    "S(n)",
    "S(n): mean over k of sum_i q_i/q E|g_i(theta_i^{rho,k})|^2",
    define_step_average(_MEAN_SQUARE),
)
square_mean_gradient = define(
    "square_mean_gradient",
    r"R(n)",
    "R(n): mean over k of E|sum_i q_i/q g_i(theta_i^{rho,k})|^2",
    define_step_average(square(weigh_by_shares(SAMPLE))),
)
square_mean_gradient_at_step = define(
    "square_mean_gradient_at_step",
    "R(n,k)",
    "R(n,k) = E|sum_i q~_i g_i(theta_i^{rho,k})|^2",
    define_at_each_step(square(weigh_by_shares(SAMPLE))),
)
selected_gradient_sq = define(
    "selected_gradient_sq",
    r"\mathbb E\|\sum_i\omega_i(n)g_i\|^2",
    "E|sum_i w_i(n) g_i(theta_i^{rho,k})|^2, over all outcomes of the weights",
    define_at_each_step(square(Selected(SAMPLE))),
)
stochastic_gradient_sq = define(
    "stochastic_gradient_sq",
    r"\mathbb E\|g_i(\theta_i^{\rho_i(n),k})\|^2",
    "E|g_i(theta_i^{rho,k})|^2 of each client",
    define_at_each_step(_SQUARE),
)
past_mean_square_gradient = define(
    "past_mean_square_gradient",
    r"\sum_{l<k}S(n,l)",
    "sum over l < k of S(n,l)",
    define_at_each_step(_MEAN_SQUARE, SUM_BEFORE_STEP),
)

_t = sp.Dummy("t", integer=True)
_WEIGHTED_BY_STEP = Over("steps", "sum", weights=Weights(_t, _t))
weighted_past_sum = define(
    "weighted_past_sum",
    r"\sum_kk\sum_{l<k}S(n,l)",
    "sum over k of k sum_{l<k} S(n,l)",
    define_at_each_step(_MEAN_SQUARE, SUM_BEFORE_STEP, _WEIGHTED_BY_STEP),
)
past_sum_of_sums = define(
    "past_sum_of_sums",
    r"\sum_k\sum_{l<k}S(n,l)",
    "sum over k of sum_{l<k} S(n,l)",
    define_at_each_step(_MEAN_SQUARE, SUM_BEFORE_STEP, SUM_OVER_STEPS),
)
sum_without_last = define(
    "sum_without_last",
    r"\sum_{k\le K-2}S(n,k)",
    "sum over k up to K - 2 of S(n,k)",
    define_at_each_step(_MEAN_SQUARE, SUM_BEFORE_STEP, LAST_STEP),
)


@singledispatch
def _find_largest_squares(run: Run) -> tuple[Number, Number]:
    """Return the largest E|grad L_i|^2 at theta^{n,k} and at clients' iterates, and the largest E|g_i|^2 at these."""
    read_common_steps(run)
    forms, trajectory = run.gradient_forms.squares, run.trajectory
    full = [trajectory.largest_local_second_moment(forms), trajectory.largest_after_local_steps(forms)]
    return largest(full), run.visited_second_moment.value


@_find_largest_squares.register
def _find_largest_squares_of_losses(run: LossRun) -> tuple[Number, Number]:
    full, sampled = [], []
    for frame in list_frames_at("step", run):
        gradients = (run.client_objectives.gradient(frame, at) for at in (frame.next_virtual, frame.local))
        full += [largest(frame.inner(gradient, gradient)) for gradient in gradients]
        sampled.append(largest(frame.inner(frame.gradient, frame.gradient)))
    return largest(full), largest(sampled)


_AT_NEXT, _LARGEST_OF_ALL = (
    square(Gradient(CLIENT_OBJECTIVE, NEXT_VIRTUAL)),
    (LARGEST_CLIENT, LARGEST_STEP, LARGEST_ROUND),
)
"""Every theta^{n,k} is theta^0, at which all clients' iterates start, or the next iterate of a step."""
full_gradient_bound = supremum(
    "full_gradient_bound",
    "B",
    "the largest E|grad L_i|^2 at the theta^{n,k} and at the clients' iterates of the run, its root",
    lambda run: Bound(_find_largest_squares(run)[0], AlongRun()),
    term=define_at_each_step(sp.Max(_AT_NEXT, square(AT_LOCAL)), *_LARGEST_OF_ALL),
)
gradient_bound = supremum(
    "gradient_bound",
    "B_g",
    "the largest E|g_i|^2 at the clients' iterates and E|grad L_i|^2 at the theta^{n,k} of the run, its root",
    lambda run: Bound(largest(_find_largest_squares(run)), AlongRun()),
    term=define_at_each_step(sp.Max(_AT_NEXT, square(AT_LOCAL), square(SAMPLE)), *_LARGEST_OF_ALL),
)
