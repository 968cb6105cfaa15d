"""Runs at which a statement about points or a step fails if named inequalities are all that is known of the objectives.

The dual of the search for a certificate proposes points and gradients in one dimension.  Sums of Huber losses with
these gradients realise convex objectives, quadratics with the same slopes all others; local iterates that differ are
reached from a common start.  The check of each run decides, as for every other start.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import chain, pairwise, permutations
from math import sqrt
from typing import Any

from flint import fmpq

from fedtheory.arithmetic import round_to_simplest
from fedtheory.kernel.work import limit_work
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.search import SampledGradient, WorstFunction, find_worst_functions
from verify.effort import spend_units
from verify.falsify.local_search import move_to_edge
from verify.falsify.run_tables import Table, change, count_clients

_EFFORT = 2 * 10**7
"""Limit on the work of the search for worst functions: one or two seconds."""
_PRECISION = 1e-4
"""Relative precision of points, gradients and step sizes, in units of the largest."""
_CURVATURES = (q.smoothness, q.objective_smoothness)
_STEPS = (1, 2, 3, 4, 6, 8, 12, 16)
"""Tried numbers of local steps from a common start."""
_HALVINGS = 30
_STEEPEST = fmpq(1)
"""Largest curvature: it is the unit."""
_NOISY = 1e-3
"""Weight of the number one relative to squares, above which runs with noise are built too."""
_MOST = 12
"""Largest number of runs."""


def list_worst_starts(claim: Claim) -> Sequence[Table]:
    """Return runs from worst functions of a claim; none for other places, or if the solver is not installed."""
    starts, units = _list_with_work(claim)
    spend_units(units)
    return starts


@cache
def _list_with_work(claim: Claim) -> tuple[Sequence[Table], int]:
    """Return the runs, and the units of work of the search for functions."""
    with limit_work(_EFFORT) as meter:
        found = find_worst_functions(claim)
    starts: list[Table] = []
    for table in chain.from_iterable(_build_runs(claim, function) for function in found):
        # A step size at the edge of the conditions is tried first.
        starts += [each for each in (move_to_edge(claim, table), table) if each is not None and each not in starts]
        if len(starts) >= _MOST:
            break
    return starts, meter.spent


@dataclass(frozen=True)
class _Line:
    """Points and gradients of one client along a line, by increasing point, in units of the largest curvature."""

    points: Sequence[fmpq]
    gradients: Sequence[fmpq]
    values: Sequence[float | None]


def _build_runs(claim: Claim, function: WorstFunction) -> Iterator[Table]:
    """Yield runs for one worst function."""
    # A function without curvature has no unit of its own.
    curvature = next((number for number in map(function.numbers.get, _CURVATURES) if number), 1.0)
    sampled = [_convert_units(each, curvature) for each in function.gradients]
    size = function.numbers.get(q.local_step_size, 0.0) * curvature
    noise = function.numbers.get(q.noise_deviation, 0.0) * sqrt(max(function.constant, 0.0)) / curvature
    if claim.place == "points":
        yield from _list_between_points(sampled)
        return
    runs = list(_list_from_start(sampled, q.centralised_model if claim.place == "path" else q.local_iterate, size))
    runs += _list_from_common_start(sampled, size) if claim.place == "step" else ()
    for table in runs:
        if noise > 0 and function.constant > _NOISY:
            yield change(table, {"problem.noise": [_round(noise)] * count_clients(table)})
        yield table


def _convert_units(each: SampledGradient, curvature: float) -> SampledGradient:
    one, other = each.gradients
    value = None if each.value is None else each.value / curvature
    return replace(each, gradients=(one / curvature, other / curvature), value=value)


def _list_between_points(sampled: Sequence[SampledGradient]) -> Iterator[Table]:
    """Yield runs that step from one point to another, and runs with one of two points as the stationary point."""
    for start, end in permutations(sampled, 2):
        gap, slope = start.points[0] - end.points[0], start.gradients[0]
        if gap * slope > 0:
            yield from _realise([sampled], start.points[0], gap / slope, 1)
    for start, end in permutations(sampled, 2):
        (one, other), (first, second) = start.gradients, end.gradients
        level = [replace(start, gradients=(one - first, other - second)), replace(end, gradients=(0.0, 0.0))]
        yield from _realise([level], start.points[0], 1.0, 1)


def _list_from_start(sampled: Sequence[SampledGradient], quantity: q.Quantity, size: float) -> Iterator[Table]:
    """Yield runs that start at a quantity, or at its client average."""
    start = next((each for each in sampled if each.name is quantity), None)
    if start is not None and size > 0:
        yield from _realise(_split_by_client(sampled), sum(start.points) / 2, size, 1)


def _split_by_client(sampled: Sequence[SampledGradient]) -> list[list[SampledGradient]]:
    """Return the points of each client; one client if they do not differ."""
    differ = any(abs(one - other) > _PRECISION for each in sampled for one, other in (each.points, each.gradients))
    return [[_select_client(each, n) for each in sampled] for n in ((0, 1) if differ else (0,))]


def _select_client(each: SampledGradient, client: int) -> SampledGradient:
    """Return the point of one client; values differ as if the deviation of its gradient were the same everywhere."""
    point, gradient = each.points[client], each.gradients[client]
    deviation = gradient - sum(each.gradients) / 2
    value = None if each.value is None else each.value + deviation * point
    return SampledGradient(each.name, each.is_average, (point, point), (gradient, gradient), value)


def _list_from_common_start(sampled: Sequence[SampledGradient], size: float) -> Iterator[Table]:
    """Yield runs whose clients reach different local iterates from a common start, in the least number of steps."""
    own = next((each for each in sampled if each.name is q.local_iterate and not each.is_average), None)
    if own is None or not 0 < size < 1 or abs(own.points[0] - own.points[1]) < _PRECISION:
        return
    for count in _STEPS:
        reach = [_find_starts(own.points[n], own.gradients[n], size, count) for n in (0, 1)]
        low, high = max(ends[0] for ends in reach), min(ends[1] for ends in reach)
        if low <= high:
            start = (low + high) / 2
            every = [
                [_start_before(own, n, start, size, count), *(_select_client(each, n) for each in sampled)]
                for n in (0, 1)
            ]
            yield from _realise(every, start, size, count + 1)
            return


def _find_starts(point: float, gradient: float, size: float, count: int) -> tuple[float, float]:
    """Return the smallest and the largest start from which local steps reach a point, by the curvature before it."""
    ends = point + count * size * gradient, point + gradient * ((1 - size) ** -count - 1)
    return min(ends), max(ends)


def _start_before(each: SampledGradient, client: int, start: float, size: float, count: int) -> SampledGradient:
    """Return the start, and the gradient there with which a client reaches its local iterate."""
    point, gradient = each.points[client], each.gradients[client]
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        reached = gradient * ((1 - size * middle) ** -count - 1) / middle
        low, high = (low, middle) if abs(reached) > abs(start - point) else (middle, high)
    first = gradient * (1 - size * low) ** -count
    return SampledGradient(None, False, (start, start), (first, first), None)


def _realise(sampled: Sequence[Sequence[SampledGradient]], start: float, size: float, steps: int) -> Iterator[Table]:
    """Yield the run with Huber losses and the run with quadratics that have the sampled gradients."""
    algorithm = {"name": "fedavg", "local_step_size": _round(size), "local_steps": steps, "rounds": 1}
    lines = [_build_line(each) for each in sampled]
    losses = [list(_list_terms(line)) for line in lines]
    if all(losses):
        yield {"problem": {"kind": "huber", "terms": losses, "start": [_round(start)]}, "algorithm": algorithm}
    yield {"problem": _build_quadratics(lines, _round(start)), "algorithm": algorithm}


def _round(number: float) -> fmpq:
    """Return a short rational near a number."""
    return fmpq(0) if abs(number) < _PRECISION else round_to_simplest(number, _PRECISION)


def _build_line(sampled: Sequence[SampledGradient]) -> _Line:
    """Return the first client's points in order, without repetitions."""
    found: dict[fmpq, tuple[fmpq, float | None]] = {}
    for each in sampled:
        found.setdefault(_round(each.points[0]), (_round(each.gradients[0]), each.value))
    points = sorted(found)
    return _Line(points, [found[point][0] for point in points], [found[point][1] for point in points])


def _list_terms(line: _Line) -> Iterator[dict[str, Any]]:
    """Yield Huber losses whose derivatives add up to the gradients at the points, where these increase slowly enough.

    Between two points with values the derivative increases at the largest curvature where it meets these, else evenly.
    """
    yielded = fmpq(0)
    places = list(zip(line.points, line.gradients, line.values, strict=True))
    for (one, first, value), (other, second, next_value) in pairwise(places):
        rise, length = second - first, other - one
        rise = max(fmpq(0), min(rise, length))
        if rise == 0:
            continue
        yielded += rise
        if value is not None and next_value is not None:
            flat = _find_flat_part(first, rise, length, next_value - value)
            yield _build_huber(_STEEPEST, one + flat + rise / 2, rise / 2)
        else:
            yield _build_huber(rise / length, one + length / 2, length / 2)
    middle = line.gradients[0] + yielded / 2
    if middle > 0:
        yield _build_huber(_STEEPEST, line.points[0] - middle, middle)
    elif middle < 0:
        yield _build_huber(_STEEPEST, line.points[-1] - middle, -middle)


def _find_flat_part(first: fmpq, rise: fmpq, length: fmpq, difference: float) -> fmpq:
    """Return the length before the derivative increases, with which the values at the ends have a difference."""
    flat = length - rise / 2 - (_round(difference) - first * length) / rise
    return max(fmpq(0), min(flat, length - rise))


def _build_huber(weight: fmpq, centre: fmpq, width: fmpq) -> dict[str, Any]:
    return {"coordinate": 0, "weight": weight, "centre": centre, "width": width}


def _build_quadratics(lines: Sequence[_Line], start: fmpq) -> dict[str, Any]:
    """Return quadratics with the slopes between the outer points, and a second coordinate with the largest curvature.

    The second coordinate keeps the largest curvature of the problem the unit.
    """
    hessians, linear = [], []
    for line in lines:
        length = line.points[-1] - line.points[0]
        slope = (line.gradients[-1] - line.gradients[0]) / length if length else _STEEPEST
        slope = max(-_STEEPEST, min(slope, _STEEPEST))
        offset = slope * line.points[0] - line.gradients[0]
        hessians.append([[slope, fmpq(0)], [fmpq(0), _STEEPEST]])
        linear.append([offset, fmpq(0)])
    return {"kind": "quadratic", "hessians": hessians, "linear": linear, "start": [start, fmpq(0)]}
