"""The edge of divergence of a run on linear models.

Their losses have bounded derivatives, so that it depends on the ridge and the algorithm alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from fedtheory.arithmetic import Array
from fedtheory.engine.joint import JointTrajectory
from fedtheory.engine.linear_models import LinearModelRun
from fedtheory.federation import Algorithm
from fedtheory.federation.problem import Problem, quadratic

_LEAST, _MOST = 1e-3, 1e3
"""Range of tried step sizes: this fraction of the first possible edge up to this multiple of the last."""
_COUNT, _FEW = 601, 61
"""Number of tried step sizes: in general, and if each needs the map of a definition."""
_HALVINGS = 40
_SLACK = 1e-6
"""Growth above one that may be rounding error if a map has no basis of eigenvectors."""


def find_model_edge(run: LinearModelRun) -> float:
    """Return the largest step size for which expected models stay bounded; infinite if no edge is known.

    A local step multiplies a distant model by ``1 - eta ridge``, and the server averages the clients' models.  For an
    algorithm given as a definition, the map of the ridge alone is linear.
    """
    if run.algorithm.defined is not None:
        return _compute_edge_of_definition(run)
    ridge = run.problem.model.ridge
    if ridge == 0:
        return math.inf
    sizes = np.geomspace(_LEAST, _MOST, _COUNT) / ridge
    return _find_first_growing(lambda size: _compute_growth(run, size), sizes)


def _compute_edge_of_definition(run: LinearModelRun) -> float:
    """Compute the edge from the map of a round; infinite if step sizes change from round to round."""
    if not run.algorithm.has_one_size_a_step:
        return math.inf
    curvatures = {run.problem.model.strength, run.problem.model.ridge}
    distant = [_build_ridge_problem(run, curvature) for curvature in curvatures]
    planned = float(run.algorithm.work.step_sizes.max())

    def growth(size: float) -> float:
        work = run.algorithm.work
        algorithm = replace(run.algorithm, work=replace(work, step_sizes=work.step_sizes * (size / planned)))
        return max(_compute_radius(problem, algorithm) for problem in distant) - _SLACK

    # A definition may have a curvature of its own, such as the proximal term of FedProx.
    least, most = _LEAST / run.smoothness, _MOST / min((one for one in curvatures if one > 0), default=run.smoothness)
    return _find_first_growing(growth, np.geomspace(least, most, _FEW))


def _build_ridge_problem(run: LinearModelRun, curvature: float) -> Problem:
    """Return the problem ``F_i(x) = curvature/2 x^2`` for every client."""
    clients, weights = run.problem.clients, run.problem.weights
    return quadratic(np.full((clients, 1, 1), curvature), np.zeros((clients, 1)), np.ones(1), weights=weights)


def _compute_radius(problem: Problem, algorithm: Algorithm) -> float:
    """Return the asymptotic factor by which a round multiplies vectors of the server and of the clients."""
    return JointTrajectory(problem, algorithm).spectral_radius


def _find_first_growing(growth: Callable[[float], float], sizes: Array) -> float:
    """Return the step size from which a growth exceeds one; infinite if it does not at any of the sizes."""
    first = next((n for n, size in enumerate(sizes) if growth(size) > 1), None)
    if first is None:
        return math.inf
    low, high = (sizes[first - 1] if first else 0.0), sizes[first]
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if growth(middle) > 1 else (middle, high)
    return float(high)


def _compute_growth(run: LinearModelRun, size: float) -> float:
    """Return the factor by which a round multiplies a distant model, if the largest local step has this size."""
    work, aggregation = run.algorithm.work, run.algorithm.aggregation
    sizes = size * work.step_sizes / work.step_sizes.max()
    kept = (1 - sizes * run.problem.model.ridge) ** np.array(work.steps)
    if run.algorithm.clock.is_synchronous:
        change = float(aggregation.moments(run.problem.weights).mean @ (kept - 1))
    else:
        change = float(np.abs(kept).max()) - 1
    return abs(1 + float(aggregation.server_step_size) * change)
