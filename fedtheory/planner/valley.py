"""Brent's search for the lowest point between two others (Brent 1973, Algorithms for Minimization, chapter 5).

Step by step that of SciPy's ``minimize_scalar(method="bounded")``, whose package takes longer to load than a plan's
searches take.
"""

from __future__ import annotations

import math
from collections.abc import Callable

_GOLDEN = (3 - math.sqrt(5)) / 2
_ROUNDING = math.sqrt(2.2e-16)
"""Relative distance of points whose values floats cannot tell apart."""

Point = tuple[float, float]
"""A place, and the value there."""


def lowest_between(
    function: Callable[[float], float], low: float, high: float, *, tolerance: float, evaluations: int = 500
) -> Point:
    """Where a function is smallest between two places, up to a tolerance, after at most so many evaluations."""
    start = low + _GOLDEN * (high - low)
    best = second = third = (start, function(start))
    move = before = 0.0
    for _ in range(evaluations - 1):
        at, middle = best[0], (low + high) / 2
        least = _ROUNDING * abs(at) + tolerance / 3
        if abs(at - middle) <= 2 * least - (high - low) / 2:
            break
        parabola = _to_vertex(best, second, third) if abs(before) > least else None
        if parabola is not None and _is_trusted(parabola, (low - at, high - at), before):
            before, move = move, parabola[0] / parabola[1]
            if at + move - low < 2 * least or high - (at + move) < 2 * least:
                move = math.copysign(least, middle - at)
        else:
            before = (low if at >= middle else high) - at
            move = _GOLDEN * before
        place = at + (max(move, least) if move >= 0 else min(move, -least))
        found = (place, function(place))
        low, high = _narrowed(low, high, best, found)
        best, second, third = _ranked(best, second, third, found)
    return best


def _to_vertex(best: Point, second: Point, third: Point) -> tuple[float, float]:
    """The way from the best point to the vertex of the parabola through all three, as a quotient."""
    (x, fx), (w, fw), (v, fv) = best, second, third
    r, q = (x - w) * (fx - fv), (x - v) * (fx - fw)
    top, bottom = (x - v) * q - (x - w) * r, 2 * (q - r)
    return (-top if bottom > 0 else top), abs(bottom)


def _is_trusted(parabola: tuple[float, float], room: tuple[float, float], before: float) -> bool:
    """Whether the vertex is inside, and the way to it less than half of the last but one."""
    top, bottom = parabola
    return abs(top) < abs(0.5 * bottom * before) and bottom * room[0] < top < bottom * room[1]


def _narrowed(low: float, high: float, best: Point, found: Point) -> tuple[float, float]:
    """The interval that holds the lowest of all points."""
    lower, upper = (best, found) if found[1] <= best[1] else (found, best)
    return (lower[0], high) if upper[0] >= lower[0] else (low, lower[0])


def _ranked(best: Point, second: Point, third: Point, found: Point) -> tuple[Point, Point, Point]:
    """The three lowest points with another one; where two were the same, the new one takes its place."""
    if found[1] <= best[1]:
        return found, best, second
    if found[1] <= second[1] or second[0] == best[0]:
        return best, found, second
    if found[1] <= third[1] or third[0] in (best[0], second[0]):
        return best, second, found
    return best, second, third
