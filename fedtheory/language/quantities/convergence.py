"""Errors of a run, as exact expectations: what a bound's left side promises to keep small."""

from __future__ import annotations

from typing import Any

from fedtheory.arithmetic import Array
from fedtheory.arithmetic.enclosures import largest, smallest
from fedtheory.engine.moments.stationary import stationary_round_suboptimality
from fedtheory.engine.run import Run
from fedtheory.errors import NotApplicable
from fedtheory.language.quantities.axes import on_rounds
from fedtheory.language.quantities.notion import Quantity


def _local(run: Run, values: Array) -> Array:
    """An array over local steps, once all clients are known to take the same number."""
    if run.algorithm.work.common_steps is None:
        raise NotApplicable("the clients take different numbers of local steps: there is no averaged iterate")
    return values


def _mean(values: Array) -> Any:
    return values.sum() / values.size


def _round_suboptimality(run: Run) -> Array:
    after = _local(run, run.trajectory.local_suboptimality)[:, 1:]
    return on_rounds(after.sum(axis=1) / after.shape[1])


def _round_drift(run: Run, drift: Array) -> Array:
    """(1/tau) sum_{k=1..tau-1} sum_i p_i of the drift, (N,) from (N, K+1, M)."""
    inside = _local(run, drift)[:, 1:-1]
    averaged = inside @ run.problem.weights if inside.size else inside.sum(axis=2)
    total = averaged.sum(axis=1) + run.arithmetic.zeros(len(averaged))
    shares: Array = total / run.algorithm.work.steps[0]
    return shares


average_suboptimality = Quantity(
    "average_suboptimality",
    r"\mathbb E\left[\frac{1}{\tau T}\sum_{t=0}^{T-1}\sum_{k=1}^{\tau}F(\bar x^{(t,k)})-F(x^*)\right]",
    "(1/(tau T)) sum_t sum_{k=1..tau} E F(xbar^{t,k}) - F*",
    lambda run: _mean(_local(run, run.trajectory.mean_local_suboptimality)[1:]),
    limit=lambda run: stationary_round_suboptimality(run.trajectory.recursion),
)
average_local_gradient_sq = Quantity(
    "average_local_gradient_sq",
    r"\frac{1}{\tau T}\sum_{t=0}^{T-1}\sum_{k=0}^{\tau-1}\mathbb E\|\nabla F(\bar x^{(t,k)})\|^2",
    "(1/(tau T)) sum_t sum_{k=0..tau-1} E|grad F(xbar^{t,k})|^2, the averaged iterate at every local step",
    lambda run: _mean(_local(run, run.trajectory.mean_local_gradient_sq)[:-1]),
)
max_drift = Quantity(
    "max_drift",
    r"\max_{t,k,i}\mathbb E\|x_i^{(t,k)}-\bar x^{(t,k)}\|^2",
    "max over t, k, i of E|x_i^{t,k} - xbar^{t,k}|^2",
    lambda run: largest(_local(run, run.trajectory.drift)),
)
average_gradient_sq = Quantity(
    "average_gradient_sq",
    r"\frac1T\sum_{n=0}^{T-1}\mathbb E\|\nabla F(x^n)\|^2",
    "(1/T) sum_{n=0..T-1} E|grad F(x^n)|^2",
    lambda run: run.trajectory.mean_server_gradient_sq,
)
final_suboptimality = Quantity(
    "final_suboptimality", r"\mathbb E F(x^T)-F^*", "E F(x^T) - F*", lambda run: run.trajectory.final_suboptimality
)
final_distance_sq = Quantity(
    "final_distance_sq",
    r"\mathbb E\|x^T-x^*\|^2",
    "E|x^T - x*|^2",
    lambda run: run.trajectory.final_distance_sq,
)
round_suboptimality = Quantity(
    "round_suboptimality",
    r"\mathbb E\left[\frac{1}{\tau}\sum_{k=1}^{\tau}F(\bar x^{(t,k)})-F(x^*)\right]",
    "for each round t: (1/tau) sum_{k=1..tau} E F(xbar^{t,k}) - F*",
    _round_suboptimality,
    per_round=True,
)
server_distance_sq = Quantity(
    "server_distance_sq",
    r"\mathbb E\|x^{(t)}-x^*\|^2",
    "for each round t: E|x^t - x*|^2, the model that the round starts from",
    lambda run: on_rounds(run.trajectory.server_distance_sq[:-1]),
    per_round=True,
)
next_server_distance_sq = Quantity(
    "next_server_distance_sq",
    r"\mathbb E\|\bar x^{(t,\tau)}-x^*\|^2",
    "for each round t: E|xbar^{t,tau} - x*|^2, at the end of its local steps",
    lambda run: on_rounds(_local(run, run.trajectory.local_distance_sq)[:, -1]),
    per_round=True,
)
round_drift = Quantity(
    "round_drift",
    r"\frac{1}{M\tau}\sum_{i=1}^M\sum_{k=1}^{\tau-1}\mathbb E\|x_i^{(t,k)}-\bar x^{(t,k)}\|^2",
    "for each round t: (1/tau) sum_{k=1..tau-1} sum_i p_i E|x_i^{t,k} - xbar^{t,k}|^2",
    lambda run: on_rounds(_round_drift(run, run.trajectory.drift)),
    per_round=True,
)
average_round_drift = Quantity(
    "average_round_drift",
    r"\frac{1}{T}\sum_t\frac{1}{M\tau}\sum_{i=1}^M\sum_{k=1}^{\tau-1}\mathbb E\|x_i^{(t,k)}-\bar x^{(t,k)}\|^2",
    "mean over t of round_drift",
    lambda run: _round_drift(run, run.trajectory.mean_drift[None])[0],
)
total_progress = Quantity(
    "total_progress",
    r"\sum_{t=0}^{T-1}\left(\mathbb E\|\bar x^{(t,0)}-x^*\|^2-\mathbb E\|\bar x^{(t,\tau)}-x^*\|^2\right)",
    "sum over t of E|xbar^{t,0} - x*|^2 - E|xbar^{t,tau} - x*|^2, from the local steps of each round",
    lambda run: (_local(run, run.trajectory.local_distance_sq)[:, 0] - run.trajectory.local_distance_sq[:, -1]).sum(),
)
limiting_suboptimality = Quantity(
    "limiting_suboptimality",
    r"\lim_{T\to\infty}\mathbb E\left[\frac{1}{\tau T}\sum_{t=0}^{T-1}\sum_{k=1}^{\tau}F(\bar x^{(t,k)})-F(x^*)\right]",
    "limit of average_suboptimality for ever more rounds, from the fixed point of the second moments",
    lambda run: stationary_round_suboptimality(run.trajectory.recursion),
    is_constant=True,
)
server_distance_after_sq = Quantity(
    "server_distance_after_sq",
    r"\mathbb E\|x^{(t+1)}-x^*\|^2",
    "for each round t: E|x^{t+1} - x*|^2, the server's model after the round",
    lambda run: on_rounds(run.trajectory.server_distance_sq[1:]),
    per_round=True,
)
best_aggregated_suboptimality = Quantity(
    "best_aggregated_suboptimality",
    r"\min_{1\le n\le T}\mathbb E F(x^n)-F^*",
    "the smallest E F(x^n) - F* of the aggregated models n = 1 .. T",
    lambda run: smallest(run.trajectory.server_suboptimality[1:]),
)
total_descent = Quantity(
    "total_descent",
    r"F(x^0)-\mathbb E F(x^T)",
    "F(x^0) - E F(x^T)",
    lambda run: run.initial_gap - run.trajectory.final_suboptimality,
)
