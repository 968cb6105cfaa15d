"""Bounds and errors of a run at other step sizes than the planned one."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from fedtheory.arithmetic import NEAR_TIE, plain_float
from fedtheory.engine.run import Run
from fedtheory.errors import Diverging, InputError, NotApplicable, Unresolved
from fedtheory.language.claim import Claim
from fedtheory.language.premises import list_failed_premises
from fedtheory.language.quantities import RunQuantity
from fedtheory.planner.admissible import Edge
from fedtheory.planner.advice import Measurements, StepSizeComparison
from fedtheory.planner.bound import STEP, NumericBound, bound_of_run
from fedtheory.planner.coverage import find_bounded_error
from fedtheory.planner.exact_optimum import ExactErrors, ExactOptimum
from fedtheory.planner.optimum import Optimum, StepSizes

DRIFTS = ("average_round_drift", "max_drift")
"""Errors that are increasing in the step size."""


def require_bounded_error(claim: Claim) -> RunQuantity:
    """Return the error that a claim bounds; raise `InputError` if it bounds none."""
    error = find_bounded_error(claim)
    if error is None:
        raise InputError(claim.id, "expected a bound on the error of a whole run")
    return error


def list_failures(claim: Claim, run: Run) -> list[str]:
    """Return the assumptions that fail on a run, with the reasons."""
    try:
        return [str(failed) for failed in list_failed_premises(claim, run)]
    except (Diverging, Unresolved) as reason:
        return [str(reason)]


def measure_bound(claim: Claim, optimum: Optimum, bound: NumericBound, errors: ExactErrors, edge: Edge) -> Measurements:
    """Return the bound with constants of the run at its best step size, and the best step size with such constants.

    The candidates are a coarse grid, the given step size, the largest admissible one, `edge`, and, if runs are small,
    a few between those.
    """
    best = optimum.step_size
    there = _find_bound_at(claim, errors, best)
    if there is None:
        return Measurements((), None, best, None)
    expected, value = bound.with_numbers({STEP: best}).values, there.value()
    changed = compare_numbers(expected, there.values)
    if not changed:
        return Measurements((), value, best, value)
    # Above the edge no claim covers the run, and computing its constants is slow.
    steps = [step for step in errors.grid if step < edge.value] + ([edge.value] if math.isfinite(edge.value) else [])
    tried = {best: value, **_evaluate_at(steps, claim, errors)}
    tried |= _evaluate_at(() if errors.is_large else _refine_grid(tried, errors), claim, errors)
    smallest = min(tried, key=lambda step: tried[step])
    return Measurements(tuple(changed), value, smallest, tried[smallest])


def compare_numbers(expected: Mapping[str, float], found: Mapping[str, float]) -> list[str]:
    """Return the numbers of a bound that differ by more than rounding."""
    both = ((name, value, expected[name]) for name, value in found.items())
    return [name for name, value, other in both if abs(value - other) > NEAR_TIE * (abs(value) + abs(other))]


def _refine_grid(values: Mapping[float, float], errors: ExactErrors) -> list[float]:
    """Return step sizes of the fine grid between the neighbours of the best one: bounds share the runs there."""
    steps = sorted(values)
    best = min(range(len(steps)), key=lambda place: values[steps[place]])
    low, high = steps[max(best - 1, 0)], steps[min(best + 1, len(steps) - 1)]
    fine = map(errors.step, _FINE)
    return [step for step in fine if low < step < high and not any(math.isclose(step, known) for known in steps)]


_FINE = tuple(third / 3 for third in range(-36, 4))
"""Exponents of the fine grid: three steps of it are one of the coarse grid."""


def _evaluate_at(steps: Sequence[float], claim: Claim, errors: ExactErrors) -> dict[float, float]:
    """Return the bound at the step sizes at which the claim covers the run."""
    bounds = ((step, _find_bound_at(claim, errors, step)) for step in steps)
    known = ((step, bound) for step, bound in bounds if bound is not None)
    return {step: bound.value() for step, bound in known if all(slack.holds for slack in bound.slacks())}


def find_covered_edge(claim: Claim, edge: Edge, errors: ExactErrors) -> Edge:
    """Return the largest step size for which conditions and assumptions hold; `edge` is that of the conditions alone.

    Most assumptions on the step size require ``step size * curvature <= 2``, with the largest curvature
    of a sample's objective; others are checked by bisection, from the planned step size down.
    """

    def covered(step: float) -> bool:
        return not list_failures(claim, errors.run_with(step))

    largest = min(edge.value, _FAR * errors.planned)
    if largest <= 0 or covered(largest):
        return edge
    curvature = plain_float(errors.run.sample_smoothness)
    nonexpansive = 2 / curvature * (1 - NEAR_TIE) if curvature > 0 else math.inf
    if nonexpansive < largest and covered(nonexpansive):
        return Edge(nonexpansive)
    low = next((part * largest for part in _PARTS if covered(part * largest)), None)
    if low is None:
        return Edge(0.0)
    high = low * 2
    for _ in range(_BISECTIONS):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if covered(middle) else (low, middle)
    return Edge(low)


_FAR = 2.0**20
_PARTS = tuple(2.0**-power for power in range(1, 16))
_BISECTIONS = 8


def _find_bound_at(claim: Claim, errors: ExactErrors, step: float) -> NumericBound | None:
    """Return the bound with the constants of the run at a step size; None if the claim does not cover it."""
    return find_covering_bound(claim, errors.run_with(step))


def find_covering_bound(claim: Claim, run: Run) -> NumericBound | None:
    """Return the bound with the constants of a run; None if the claim does not cover it."""
    with np.errstate(all="ignore"):
        if list_failures(claim, run):
            return None
        try:
            return bound_of_run(claim, run)
        except (NotApplicable, Diverging):
            return None


def compare(claim: Claim, errors: ExactErrors) -> StepSizeComparison | None:
    """Compare the best step size of one bound with the exact optimum; return None if the claim does not cover the run.

    The constants are those of the run as planned.
    """
    bound = _find_bound_at(claim, errors, errors.planned)
    best = None if bound is None else StepSizes(bound).best(bound)
    error = require_bounded_error(claim)
    if best is None:
        return None
    step, _ = best
    return compare_with_optimum(step, errors.error(error, step), errors.best(error))


def compare_with_optimum(step: float, choice: float, exact: ExactOptimum | None) -> StepSizeComparison | None:
    """Compare the best step size of a bound, where the exact error is `choice`, with that of the exact error.

    Returns None if no step size is best for the exact error.
    """
    if exact is None:
        return None
    return StepSizeComparison(
        exact, choice, step / exact.step_size, choice / exact.error if exact.error > 0 else math.inf
    )
