"""Drift of the clients' iterates from their average."""

from __future__ import annotations

import sympy as sp

from fedtheory.arithmetic import Array
from fedtheory.arithmetic.enclosures import largest
from fedtheory.engine.run import Run
from fedtheory.kernel.expressions import Average
from fedtheory.language.quantities.measuring.axes import place_on_rounds, require_common_steps
from fedtheory.language.quantities.measuring.reductions import MEAN_OVER_ROUNDS
from fedtheory.language.quantities.measuring.symbols import (
    ITERATE,
    LOCAL,
    NEXT_ITERATE,
    NEXT_LOCAL,
    STEPS,
    define_by,
    square,
)
from fedtheory.language.quantities.quantity import Over, RunQuantity, per_round

SUM_INSIDE = Over("steps", "sum", begin=1)
"""The local steps except the first one, before which clients that start together have no drift."""
_LARGEST_OF_ALL = (Over("clients", "largest"), Over("steps", "largest"), Over("rounds", "largest"))
_MEAN_DRIFT = Average(square(LOCAL - ITERATE)) / STEPS
max_drift = RunQuantity(
    "max_drift",
    r"\max_{t,k,i}\mathbb E\|x_i^{(t,k)}-\bar x^{(t,k)}\|^2",
    "max over t, k, i of E|x_i^{t,k} - xbar^{t,k}|^2",
    lambda run: largest(require_common_steps(run, run.trajectory.drift)),
    term=define_by(sp.Max(square(LOCAL - ITERATE), square(NEXT_LOCAL - NEXT_ITERATE)), *_LARGEST_OF_ALL),
)


def _round_drift(run: Run, drift: Array) -> Array:
    """Return (1/tau) sum_{k=1..tau-1} sum_i p_i of the drift, (N,) from (N, K+1, M)."""
    inside = require_common_steps(run, drift)[:, 1:-1]
    averaged = inside @ run.problem.weights if inside.size else inside.sum(axis=2)
    total = averaged.sum(axis=1) + run.arithmetic.zeros(len(averaged))
    shares: Array = total / run.algorithm.work.steps[0]
    return shares


round_drift = per_round(
    "round_drift",
    r"\frac{1}{M\tau}\sum_{i=1}^M\sum_{k=1}^{\tau-1}\mathbb E\|x_i^{(t,k)}-\bar x^{(t,k)}\|^2",
    "for each round t: (1/tau) sum_{k=1..tau-1} sum_i p_i E|x_i^{t,k} - xbar^{t,k}|^2",
    lambda run: place_on_rounds(_round_drift(run, run.trajectory.drift)),
    term=define_by(_MEAN_DRIFT, SUM_INSIDE),
)
average_round_drift = RunQuantity(
    "average_round_drift",
    r"\frac{1}{T}\sum_t\frac{1}{M\tau}\sum_{i=1}^M\sum_{k=1}^{\tau-1}\mathbb E\|x_i^{(t,k)}-\bar x^{(t,k)}\|^2",
    "mean over t of round_drift",
    lambda run: _round_drift(run, run.trajectory.mean_drift[None])[0],
    term=define_by(_MEAN_DRIFT, SUM_INSIDE, MEAN_OVER_ROUNDS),
)
