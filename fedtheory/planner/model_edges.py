"""The edge of divergence of a run on linear models, whose slopes are bounded: far away only the ridge moves a model."""

from __future__ import annotations

import math

import numpy as np

from fedtheory.engine.linear_models import LinearModelRun

_LEAST, _MOST, _COUNT = 1e-3, 1e3, 601
"""Step sizes that are looked at, in units of one over the ridge, and how many."""
_HALVINGS = 40


def diverges_beyond(run: LinearModelRun) -> float:
    """The largest step size from which on expected models grow without bound; infinite where none does.

    A local step multiplies a distant model by ``1 - eta ridge``, and the server averages the clients' models.
    """
    run.algorithm.require_update_rule("plans of losses that are not quadratic are for settings of the update rule")
    ridge = run.problem.model.ridge
    if ridge == 0:
        return math.inf
    sizes = np.geomspace(_LEAST, _MOST, _COUNT) / ridge
    unstable = np.flatnonzero([_growth(run, size) > 1 for size in sizes])
    if not len(unstable):
        return math.inf
    first = int(unstable[0])
    low, high = (sizes[first - 1] if first else 0.0), sizes[first]
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if _growth(run, middle) > 1 else (middle, high)
    return float(high)


def _growth(run: LinearModelRun, size: float) -> float:
    """The factor by which a round multiplies a distant model, where the largest local step has this size."""
    work, aggregation = run.algorithm.work, run.algorithm.aggregation
    sizes = size * work.step_sizes / work.step_sizes.max()
    kept = (1 - sizes * run.problem.model.ridge) ** np.array(work.steps)
    if run.algorithm.clock.is_synchronous:
        change = float(aggregation.moments(run.problem.weights).mean @ (kept - 1))
    else:
        change = float(np.abs(kept).max()) - 1
    return abs(1 + float(aggregation.server_step_size) * change)
