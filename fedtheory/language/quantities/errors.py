"""Errors of the server's and the averaged models, as exact expectations: the left sides of bounds."""

from __future__ import annotations

from typing import Any

import sympy as sp

from fedtheory.arithmetic import Array
from fedtheory.arithmetic.enclosures import smallest
from fedtheory.engine.moments.stationary import compute_stationary_round_suboptimality
from fedtheory.engine.run import Run
from fedtheory.language.quantities import local_work, problem
from fedtheory.language.quantities.measuring.axes import place_on_rounds, require_common_steps
from fedtheory.language.quantities.measuring.reductions import (
    FIRST_STEP,
    LAST_ROUND,
    LAST_STEP,
    MEAN_OVER_ROUNDS,
    MEAN_OVER_STEPS,
    SUM_OVER_ROUNDS,
    SUM_OVER_STEPS,
)
from fedtheory.language.quantities.measuring.symbols import (
    ITERATE,
    NEXT_ITERATE,
    NEXT_VIRTUAL,
    OPTIMUM,
    SERVER,
    VIRTUAL,
    define_by,
    gap,
    gradient_sq,
    square,
)
from fedtheory.language.quantities.measuring.terms import define
from fedtheory.language.quantities.quantity import Over, RunQuantity, Weights, per_round, per_step


def _average(values: Array) -> Any:
    return values.sum() / values.size


average_suboptimality = RunQuantity(
    "average_suboptimality",
    r"\mathbb E\left[\frac{1}{\tau T}\sum_{t=0}^{T-1}\sum_{k=1}^{\tau}F(\bar x^{(t,k)})-F(x^*)\right]",
    "(1/(tau T)) sum_t sum_{k=1..tau} E F(xbar^{t,k}) - F*",
    lambda run: _average(require_common_steps(run, run.trajectory.mean_local_suboptimality)[1:]),
    limit=lambda run: compute_stationary_round_suboptimality(run.trajectory.recursion),
    term=define_by(gap(NEXT_ITERATE), MEAN_OVER_STEPS, MEAN_OVER_ROUNDS),
)


_j = sp.Dummy("j", integer=True)
_ETA, _MU = local_work.local_step_size, problem.strong_convexity
_DISCOUNTS = Weights((1 - _ETA.symbol * _MU.symbol / 2) ** (-_j), _j, ((_ETA.symbol, _ETA), (_MU.symbol, _MU)))
discounted_suboptimality = define(
    "discounted_suboptimality",
    r"\textstyle\sum_{j=1}^{\tau T}q^{-j}\,\mathbb E\left[F(\bar x_j)-F(x^*)\right]/\sum_{j=1}^{\tau T}q^{-j}",
    "sum_j q^-j (E F(xbar_j) - F*) / sum_j q^-j, q = 1 - eta mu/2, over the local steps j = 1 .. tau T of all rounds: "
    "an exponentially weighted average",
    define_by(gap(NEXT_ITERATE), Over("iterations", "mean", weights=_DISCOUNTS)),
)


last_round_suboptimality = RunQuantity(
    "last_round_suboptimality",
    r"\mathbb E\left[\frac{1}{\tau}\sum_{k=1}^{\tau}F(\bar x^{(T-1,k)})-F(x^*)\right]",
    "(1/tau) sum_{k=1..tau} E F(xbar^{T-1,k}) - F*, over the local steps of the last round",
    lambda run: _average(require_common_steps(run, run.trajectory.last_local_suboptimality)[1:]),
    limit=lambda run: compute_stationary_round_suboptimality(run.trajectory.recursion),
    term=define_by(gap(NEXT_ITERATE), MEAN_OVER_STEPS, LAST_ROUND),
)
average_local_gradient_sq = RunQuantity(
    "average_local_gradient_sq",
    r"\frac{1}{\tau T}\sum_{t=0}^{T-1}\sum_{k=0}^{\tau-1}\mathbb E\|\nabla F(\bar x^{(t,k)})\|^2",
    "(1/(tau T)) sum_t sum_{k=0..tau-1} E|grad F(xbar^{t,k})|^2, the averaged iterate at every local step",
    lambda run: _average(require_common_steps(run, run.trajectory.mean_local_gradient_sq)[:-1]),
    term=define_by(gradient_sq(ITERATE), MEAN_OVER_STEPS, MEAN_OVER_ROUNDS),
)
average_gradient_sq = RunQuantity(
    "average_gradient_sq",
    r"\frac1T\sum_{n=0}^{T-1}\mathbb E\|\nabla F(x^n)\|^2",
    "(1/T) sum_{n=0..T-1} E|grad F(x^n)|^2",
    lambda run: run.trajectory.mean_server_gradient_sq,
    term=define_by(gradient_sq(SERVER), FIRST_STEP, MEAN_OVER_ROUNDS),
)
final_suboptimality = RunQuantity(
    "final_suboptimality",
    r"\mathbb E F(x^T)-F^*",
    "E F(x^T) - F*",
    lambda run: run.trajectory.final_suboptimality,
    term=define_by(gap(NEXT_VIRTUAL), LAST_STEP, LAST_ROUND),
)
final_distance_sq = RunQuantity(
    "final_distance_sq",
    r"\mathbb E\|x^T-x^*\|^2",
    "E|x^T - x*|^2",
    lambda run: run.trajectory.final_distance_sq,
    term=define_by(square(NEXT_VIRTUAL - OPTIMUM), LAST_STEP, LAST_ROUND),
)


def _round_suboptimality(run: Run) -> Array:
    """Return the suboptimality averaged over the iterates of each round."""
    after = require_common_steps(run, run.trajectory.local_suboptimality)[:, 1:]
    return place_on_rounds(after.sum(axis=1) / after.shape[1])


round_suboptimality = per_round(
    "round_suboptimality",
    r"\mathbb E\left[\frac{1}{\tau}\sum_{k=1}^{\tau}F(\bar x^{(t,k)})-F(x^*)\right]",
    "for each round t: (1/tau) sum_{k=1..tau} E F(xbar^{t,k}) - F*",
    _round_suboptimality,
    term=define_by(gap(NEXT_ITERATE), MEAN_OVER_STEPS),
)
suboptimality_at_step = per_step(
    "suboptimality_at_step",
    r"\mathbb E F(\bar x^{(t,k)})-F(x^*)",
    "for each local step k = 0 .. tau-1 of each round t: E F(xbar^{t,k}) - F*, before the step",
    lambda run: require_common_steps(run, run.trajectory.local_suboptimality)[:, :-1, None],
    term=define_by(gap(ITERATE)),
)
suboptimality_after_step = per_step(
    "suboptimality_after_step",
    r"\mathbb E F(\bar x^{(t,k+1)})-F(x^*)",
    "for each local step k = 0 .. tau-1 of each round t: E F(xbar^{t,k+1}) - F*, after the step",
    lambda run: require_common_steps(run, run.trajectory.local_suboptimality)[:, 1:, None],
    term=define_by(gap(NEXT_ITERATE)),
)
server_suboptimality = per_round(
    "server_suboptimality",
    r"\mathbb E F(x^{(t)})-F(x^*)",
    "for each round t: E F(x^t) - F*, the model that the round starts from",
    lambda run: place_on_rounds(run.trajectory.server_suboptimality[:-1]),
    term=define_by(gap(SERVER), FIRST_STEP),
)
server_suboptimality_after = per_round(
    "server_suboptimality_after",
    r"\mathbb E F(x^{(t+1)})-F(x^*)",
    "for each round t: E F(x^{t+1}) - F*, the server's model after the round",
    lambda run: place_on_rounds(run.trajectory.server_suboptimality[1:]),
    term=define_by(gap(NEXT_VIRTUAL), LAST_STEP),
)
server_distance_sq = per_round(
    "server_distance_sq",
    r"\mathbb E\|x^{(t)}-x^*\|^2",
    "for each round t: E|x^t - x*|^2, the model that the round starts from",
    lambda run: place_on_rounds(run.trajectory.server_distance_sq[:-1]),
    term=define_by(square(SERVER - OPTIMUM), FIRST_STEP),
)
server_distance_after_sq = per_round(
    "server_distance_after_sq",
    r"\mathbb E\|x^{(t+1)}-x^*\|^2",
    "for each round t: E|x^{t+1} - x*|^2, the server's model after the round",
    lambda run: place_on_rounds(run.trajectory.server_distance_sq[1:]),
    term=define_by(square(NEXT_VIRTUAL - OPTIMUM), LAST_STEP),
)
best_aggregated_suboptimality = RunQuantity(
    "best_aggregated_suboptimality",
    r"\min_{1\le n\le T}\mathbb E F(x^n)-F^*",
    "the smallest E F(x^n) - F* of the aggregated models n = 1 .. T",
    lambda run: smallest(run.trajectory.server_suboptimality[1:]),
    term=define_by(gap(NEXT_VIRTUAL), LAST_STEP, Over("rounds", "smallest")),
)


def _measure_total_progress(run: Run) -> Any:
    """Return the sum over rounds of the decrease of the squared distance to the optimum."""
    distances = require_common_steps(run, run.trajectory.local_distance_sq)
    return (distances[:, 0] - distances[:, -1]).sum()


total_progress = RunQuantity(
    "total_progress",
    r"\sum_{t=0}^{T-1}\left(\mathbb E\|\bar x^{(t,0)}-x^*\|^2-\mathbb E\|\bar x^{(t,\tau)}-x^*\|^2\right)",
    "sum over t of E|xbar^{t,0} - x*|^2 - E|xbar^{t,tau} - x*|^2, from the local steps of each round",
    _measure_total_progress,
    term=define_by(square(ITERATE - OPTIMUM) - square(NEXT_ITERATE - OPTIMUM), SUM_OVER_STEPS, SUM_OVER_ROUNDS),
)
total_descent = RunQuantity(
    "total_descent",
    r"F(x^0)-\mathbb E F(x^T)",
    "F(x^0) - E F(x^T)",
    lambda run: run.trajectory.total_descent,
    term=define_by(gap(VIRTUAL, NEXT_VIRTUAL), SUM_OVER_STEPS, SUM_OVER_ROUNDS),
)
