"""Brent's search: the same places as SciPy's, and the lowest point of what has one valley."""

from __future__ import annotations

import math

import pytest
from scipy.optimize import minimize_scalar

from fedtheory.planner.valley import lowest_between

FUNCTIONS = {
    "parabola": lambda x: (x - 0.3) ** 2,
    "far from a parabola": lambda x: math.exp(3 * x) + math.exp(-x),
    "kink": lambda x: abs(x - 0.7),
    "flat": lambda _: 1.0,
    "falling": lambda x: -x,
    "two valleys": lambda x: math.sin(5 * x) + 0.1 * x,
    "ceiling": lambda x: min(1 / max(x, 1e-9), 1e300) if x < 0.5 else 1e300,
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize(("low", "high"), [(-1.0, 1.0), (0.2, 3.0), (-5.0, -4.0)])
@pytest.mark.parametrize(("tolerance", "evaluations"), [(1e-12, 500), (0.02, 7)])
def test_looks_where_scipy_looks(name: str, low: float, high: float, tolerance: float, evaluations: int) -> None:
    function, ours, theirs = FUNCTIONS[name], list[float](), list[float]()
    place, value = lowest_between(
        lambda x: (ours.append(x), function(x))[1], low, high, tolerance=tolerance, evaluations=evaluations
    )
    found = minimize_scalar(
        lambda x: (theirs.append(float(x)), function(x))[1],
        bounds=(low, high),
        method="bounded",
        options={"xatol": tolerance, "maxiter": evaluations},
    )
    assert ours == theirs
    assert (place, value) == (found.x, found.fun)


def test_finds_the_lowest_point() -> None:
    place, _ = lowest_between(lambda x: x + 4 / x, 0.1, 10.0, tolerance=1e-9)
    assert place == pytest.approx(2, rel=1e-7)
