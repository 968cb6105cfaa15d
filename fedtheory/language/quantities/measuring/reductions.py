"""Reductions of values at all local steps: averages, sums and extremes over steps, rounds and clients."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from fedtheory.arithmetic import Array
from fedtheory.arithmetic.enclosures import maximum, minimum
from fedtheory.engine.run import Run
from fedtheory.errors import NotApplicable
from fedtheory.language.quantities.quantity import Over, RunQuantity, Weights

_AXES = {"rounds": 0, "iterations": 0, "steps": 1, "clients": 2, "types": 2}
MEAN_OVER_STEPS, MEAN_OVER_ROUNDS = Over("steps", "mean"), Over("rounds", "mean")
SUM_OVER_STEPS, SUM_OVER_ROUNDS = Over("steps", "sum"), Over("rounds", "sum")
FIRST_STEP, LAST_STEP = Over("steps", "first"), Over("steps", "last")
FIRST_ROUND, LAST_ROUND = Over("rounds", "first"), Over("rounds", "last")
SUM_OVER_WINDOWS = Over("windows", "sum")
SUM_BEFORE_STEP = Over("steps", "before")
LARGEST_CLIENT, SMALLEST_CLIENT = Over("clients", "largest"), Over("clients", "smallest")
EACH_TYPE, OWN_TYPE, SUM_OVER_TYPES = Over("types", "each"), Over("types", "own"), Over("types", "sum")
LARGEST_STEP, LARGEST_ROUND = Over("steps", "largest"), Over("rounds", "largest")


def reduce_steps(every: Iterable[Over], run: Run, values: Array) -> Any:
    """Reduce values (N, K, 1 or M) one reduction after the other; return a number if one entry is left."""
    is_whole = False
    for over in every:
        values = _reduce(over, run, values)
        is_whole = is_whole or over.index in ("rounds", "iterations")
    return values[0, 0, 0] if is_whole and values.size == 1 else values


def _reduce(over: Over, run: Run, values: Array) -> Array:
    """Reduce values along one axis, which keeps length one; iterations are rounds and steps together."""
    if over.weights is not None:
        return _weigh(over, over.weights, run, values)
    if over.by in ("each", "own"):
        return _sum_types(over, run, values)
    if over.index == "windows":
        return _sum_windows(run, values)
    if over.index == "iterations":
        values = values.reshape(-1, 1, values.shape[2])
    axis = _AXES[over.index]
    counted = np.moveaxis(values, axis, 0)[over.begin :]
    if over.by == "mean":
        counted = _sum_entries(run, counted) / run.arithmetic.number(len(counted), over.index)
    else:
        counted = _REDUCTIONS[over.by](run, counted)
    return np.moveaxis(counted, 0, axis)


def _sum_types(over: Over, run: Run, values: Array) -> Array:
    """Return sums over the clients of each type, at its first client or at each of its clients."""
    surrogate = run.surrogate
    values = np.broadcast_to(values, (*values.shape[:2], len(surrogate.types)))
    sums = surrogate.sum_by_type(values * run.multiplicities)
    return sums if over.by == "each" else sums[..., surrogate.types]


def _sum_windows(run: Run, values: Array) -> Array:
    """Return sums over the blocks of W updates, (N/W, K, M) from (N, K, M)."""
    run.require_single_clients("windows are computed from the weights of single clients")
    window = run.algorithm.schedule.smallest_window(run.surrogate.weights)
    sums: Array = values.reshape(-1, window, *values.shape[1:]).sum(axis=1)
    return sums


def _weigh(over: Over, weights: Weights, run: Run, values: Array) -> Array:
    """Return weighted averages or sums of values along an axis."""
    axes = (0, 1) if over.index == "iterations" else (_AXES[over.index],)
    lengths = tuple(length if axis in axes else 1 for axis, length in enumerate(values.shape))
    factors = _evaluate(weights, run, run.arithmetic.array(list(range(int(np.prod(lengths))))).reshape(lengths))
    total = np.asarray((factors * values).sum(axis=axes, keepdims=True))
    if over.by == "sum":
        return total
    amount = factors.sum(axis=axes, keepdims=True)
    if not (factors >= 0).all() or not (amount > 0).all():
        expected = "expected weights that are not negative, and not all zero"
        raise NotApplicable(f"{expected}, of {weights.expression}")
    return np.asarray(total / amount)


def _evaluate(weights: Weights, run: Run, numbers: Array) -> Array:
    """Return the weights of numbered entries, on their axes."""
    # Evaluation imports all quantities, so it is imported when the first run is measured.
    from fedtheory.language.evaluation import compile_expression, whole_run

    meaning = "number of the round or local step, from 0 on"
    counter = RunQuantity("entry", str(weights.index), meaning, lambda _run: numbers)
    notation = {**dict(weights.where), weights.index: counter}
    return np.asarray(compile_expression(weights.expression, notation)(whole_run(run)) + 0 * numbers)


def _sum_entries(run: Run, counted: Array) -> Array:
    """Return the sum of entries, zero if there are none."""
    nothing = run.arithmetic.zeros(1, *counted.shape[1:])
    return np.asarray(counted.sum(axis=0, keepdims=True)) if len(counted) else nothing


def _reduce_to_extreme(choose: Callable[[Any, Any], Any]) -> Callable[[Run, Array], Array]:
    """Return a reduction to the largest or smallest entry by halving, in few comparisons for any arithmetic."""

    def chosen(_run: Run, counted: Array) -> Array:
        while len(counted) > 1:
            half = len(counted) // 2
            counted = np.concatenate([choose(counted[:half], counted[half : 2 * half]), counted[2 * half :]])
        return np.asarray(counted)

    return chosen


_REDUCTIONS: dict[str, Callable[[Run, Array], Array]] = {
    "sum": _sum_entries,
    "largest": _reduce_to_extreme(maximum),
    "smallest": _reduce_to_extreme(minimum),
    "first": lambda _run, counted: counted[:1],
    "last": lambda _run, counted: counted[-1:],
    "before": lambda _run, counted: np.asarray(counted.cumsum(axis=0) - counted),
}
