"""Drift of the clients' iterates with the weights p_i L_i of their curvatures."""

from __future__ import annotations

from typing import Any

from fedtheory.arithmetic import Array
from fedtheory.engine.run import Run
from fedtheory.kernel.expressions import Average
from fedtheory.language.quantities import problem
from fedtheory.language.quantities.drift import SUM_INSIDE
from fedtheory.language.quantities.measuring.axes import require_common_steps
from fedtheory.language.quantities.measuring.reductions import MEAN_OVER_ROUNDS
from fedtheory.language.quantities.measuring.symbols import ITERATE, LOCAL, STEPS, define_by, square
from fedtheory.language.quantities.quantity import RunQuantity, get_symbol

_CURVATURE = get_symbol(problem.client_smoothness)


def _average_over_steps_inside(run: Run, values: Array) -> Any:
    """Return (1/tau) sum_{k=1..tau-1} of values (K+1,): before the first step there is no drift."""
    inside = require_common_steps(run, values)[1:-1]
    return inside.sum() / run.arithmetic.number(run.algorithm.work.steps[0], "tau")


def _measure_curvature_drift(run: Run) -> Any:
    """Return the client average of the drift with weights p_i L_i."""
    return _average_over_steps_inside(run, run.trajectory.mean_drift @ (run.problem.weights * run.client_smoothness))


def _measure_curvature_imbalance(run: Run) -> Any:
    """Return the squared norm of the sum of the differences, weighted by p_i L_i."""
    factors = run.problem.weights * run.client_smoothness
    return _average_over_steps_inside(run, run.trajectory.mean_difference_sq(factors))


curvature_drift = RunQuantity(
    "curvature_drift",
    r"\frac{1}{T\tau}\sum_{t,k}\sum_{i=1}^Mp_iL_i\mathbb E\|x_i^{(t,k)}-\bar x^{(t,k)}\|^2",
    "mean over t of (1/tau) sum_{k=1..tau-1} sum_i p_i L_i E|x_i^{t,k} - xbar^{t,k}|^2, L_i the curvature of F_i",
    _measure_curvature_drift,
    term=define_by(
        Average(_CURVATURE * square(LOCAL - ITERATE)) / STEPS,
        SUM_INSIDE,
        MEAN_OVER_ROUNDS,
        also=(problem.client_smoothness,),
    ),
)


curvature_imbalance = RunQuantity(
    "curvature_imbalance",
    r"\frac{1}{T\tau}\sum_{t,k}\mathbb E\left\|\sum_{i=1}^Mp_iL_i(x_i^{(t,k)}-\bar x^{(t,k)})\right\|^2",
    "mean over t of (1/tau) sum_{k=1..tau-1} E|sum_i p_i L_i (x_i^{t,k} - xbar^{t,k})|^2: zero for equal curvatures",
    _measure_curvature_imbalance,
    term=define_by(
        square(Average(_CURVATURE * (LOCAL - ITERATE))) / STEPS,
        SUM_INSIDE,
        MEAN_OVER_ROUNDS,
        also=(problem.client_smoothness,),
    ),
)
