"""The edge of divergence: the smallest tried step size from which a run diverges."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from fedtheory.arithmetic import plain_float
from fedtheory.engine.linear_models import LinearModelRun
from fedtheory.engine.run import Run
from fedtheory.errors import Diverging, NotApplicable
from fedtheory.planner.closed_rounds import ClosedRounds
from fedtheory.planner.deterministic_runs import compute_path_errors, is_deterministic
from fedtheory.planner.exact_optimum import ExactErrors
from fedtheory.planner.model_edges import find_model_edge

_NARROW, _WIDE, _HALF = 1.05, 1.3, 2.0
"""Ratios of tried step sizes, if one costs a decomposition, and if one costs rounds."""
_MOST = 300
"""Limit on the number of tried step sizes."""
_EXACTLY, _ROUGHLY = 1e-6, 0.02
"""Relative width of the interval at which a bisection ends."""
_SLACK = 1e-9
_ITERATIONS, _FEW = 24, 6
"""Rounds of a power iteration on second moments; and those of a first test."""
_CLEARLY = 0.2
"""Distance of a growth factor from one at which the first test decides."""
_PATH = 200
"""Least number of rounds that are simulated if nothing is random."""
_GROWN = 1e6
"""Ratio of an error to its start that counts as divergence if no map decides."""


def find_divergence_edge(errors: ExactErrors, closed: ClosedRounds | None) -> float:
    """Return the step size from which the run diverges; infinite if no tried one diverges.

    With a closed form it is the first at which the spectral radius of the round map exceeds one. Random weights and
    mini-batch noise diverge earlier: second moments are then computed at a few smaller step sizes.
    """
    if isinstance(errors.run, LinearModelRun):
        return find_model_edge(errors.run)
    if closed is not None:
        return errors.planned * _find_unstable(
            lambda f: closed.scale_steps(f).is_stable, closed.safe_factor, _NARROW, _EXACTLY
        )
    start = 1 / (4 * plain_float(errors.run.smoothness)) if errors.run.smoothness > 0 else errors.planned
    if has_one_map(errors.run):
        edge_of_mean = find_divergence_edge(errors, ClosedRounds(errors.run))
        return _search_downwards(lambda step: _is_stable(errors.run_with(step)), edge_of_mean)
    return _find_unstable(lambda step: _is_stable(errors.run_with(step)), start, _WIDE, _ROUGHLY)


def has_one_map(run: Run) -> bool:
    """Return whether the expectation of the model follows the same symmetric map in every round."""
    return run.problem.is_quadratic and run.algorithm.defined is None and run.algorithm.clock.is_synchronous


def _find_unstable(is_stable: Callable[[float], bool], start: float, factor: float, width: float) -> float:
    """Return the upper end of an interval below `start` or beyond on which `is_stable` is true."""
    low = start
    while not is_stable(low):
        low /= 4
        if low < 1e-12 * start:
            return low
    for _ in range(_MOST):
        high = low * factor
        if not is_stable(high):
            return _bisect(is_stable, low, high, width)
        low = high
    return math.inf


def _search_downwards(is_stable: Callable[[float], bool], most: float) -> float:
    """Return the end of the stable interval, searched downwards from `most`, above which nothing is stable."""
    if math.isinf(most) or is_stable(most * (1 - _ROUGHLY)):
        return most
    high = most
    while not is_stable(high / _HALF):
        high /= _HALF
        if high < 1e-12 * most:
            return high
    return _bisect(is_stable, high / _HALF, high, _ROUGHLY)


def _bisect(is_stable: Callable[[float], bool], low: float, high: float, width: float) -> float:
    """Return an unstable value close to the limit of stability, by bisection."""
    while high > low * (1 + width):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if is_stable(middle) else (low, middle)
    return high


def _is_stable(run: Run) -> bool:
    """Return whether second moments of a run stay bounded, as far as its rounds show."""
    try:
        with np.errstate(all="ignore"):
            if not has_one_map(run):
                return _stays_bounded(run)
            recursion = run.with_rounds(1).attempted_trajectory.recursion
            if recursion.spectral_radius > 1 + _SLACK:
                return False
            start = np.eye(run.problem.dimension + 1)
            first = recursion.growth(start, _FEW)
            if abs(first - 1) > _CLEARLY:
                return first < 1
            return recursion.growth(start, _ITERATIONS) <= 1 + _SLACK
    except Diverging:
        return False


def _stays_bounded(run: Run) -> bool:
    """Return whether the errors of a run stay bounded over many rounds."""
    if is_deterministic(run):
        rounds = run.algorithm.rounds
        path = compute_path_errors(run, max(rounds, _PATH) if run.algorithm.rounds_are_alike else rounds)
        return bool(np.isfinite(path[-1]) and path[-1] <= _GROWN * max(path[0], 1e-300))
    trajectory = run.attempted_trajectory
    if trajectory.divergence is not None:
        return False
    try:
        errors = np.asarray(trajectory.server_suboptimality, dtype=float)
    except NotApplicable:
        return True
    return bool(np.isfinite(errors).all() and errors[-1] <= _GROWN * max(errors[0], 1e-300))
