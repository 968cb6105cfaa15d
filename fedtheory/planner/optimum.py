"""The step size that minimises a bound.

The bounds of this field are sums of powers of the step size eta, most of them
``a/eta + b eta + c eta^2 + d``.  Such a sum with non-negative coefficients
is convex in log eta, so that it decreases up to one minimiser and increases
above it; on an admissible interval the minimiser is that one or the end.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import sympy as sp

from fedtheory.arithmetic import NEAR_TIE
from fedtheory.kernel.expressions import Expr
from fedtheory.planner.admissible import Edge, largest
from fedtheory.planner.bound import STEP, NumericBound, get_compiler

_WIDTH = 60.0
"""The numeric search goes down to exp(-60) times the largest step size."""
_GRID = 121
_NEGLIGIBLE = 1e30
"""Value of `_compute_discriminant` above which b changes the minimiser by less than a rounding error."""


@dataclass(frozen=True)
class Powers:
    """A bound as a sum of powers of the step size, over a range of settings."""

    symbol: sp.Symbol
    coefficients: Mapping[int, Expr]
    """Coefficients by exponent, independent of the step size."""


@dataclass(frozen=True)
class Optimum:
    """The admissible step size that minimises a bound."""

    step_size: float
    value: float
    """The bound at the step size."""
    at_edge: bool
    """Whether the largest admissible step size is the best."""
    of: tuple[NumericBound, Edge] | None = field(default=None, compare=False)
    """The bound and its edge; None if step sizes are compared by measurements."""

    @cached_property
    def formula(self) -> Expr | None:
        """The step size in the symbols of the bound, if there is a closed form."""
        if self.of is None:
            return None
        bound, edge = self.of
        return edge.formula if self.at_edge else StepSizes(bound).formula()

    @cached_property
    def numeric(self) -> float:
        """The step size by numeric minimisation, to compare with the closed form."""
        if self.of is None:
            return self.step_size
        bound, edge = self.of
        return StepSizes(bound).numeric(bound, edge)


def expand_powers(bound: NumericBound) -> Powers | None:
    """Return the bound as a sum of whole powers of the step size; None if it is not of this form."""
    symbols = bound.symbols(STEP)
    if len(symbols) != 1 or bound.names[symbols[0]] != STEP:
        return None
    step = symbols[0]
    found: dict[int, list[Expr]] = {}
    for term in bound.terms:
        # Most terms are products already; sums in others are expanded.
        for part in [term] if _is_monomial(term, step) else sp.Add.make_args(sp.expand(term)):
            coefficient, power = part.as_independent(step, as_Add=False)
            exponent = _find_exponent(power, step)
            if exponent is None:
                return None
            found.setdefault(exponent, []).append(coefficient)
    return Powers(step, {power: sp.Add(*found[power]) for power in sorted(found)})


def _is_monomial(term: Expr, step: sp.Symbol) -> bool:
    """Return whether a term is a power of the step size times a factor without it."""
    return _find_exponent(term.as_independent(step, as_Add=False)[1], step) is not None


def _find_exponent(power: Expr, step: sp.Symbol) -> int | None:
    """Return the exponent of the step size in a power; None for other expressions."""
    base, exponent = sp.sympify(power).as_base_exp()
    if power == 1:
        return 0
    return int(exponent) if base == step and exponent.is_Integer else None


def find_closed_form(coefficients: Mapping[int, Expr], values: Mapping[int, float]) -> Expr | None:
    """Return the positive zero of the derivative of ``sum_p coefficient_p eta^p``; None if no formula is known.

    `values` are the values of the coefficients: terms with value zero are ignored.
    For ``a/eta + b eta^p`` it is ``(a / (p b))^(1/(p+1))``.  For ``a/eta + b eta
    + c eta^2`` it is the reciprocal of the positive root of ``a y^3 - b y - 2
    c``, by Viete's formula with cosines if all three roots are real, and
    with hyperbolic ones if one is.
    """
    present = _select_present(values)
    if present is None:
        return None
    a, rest = coefficients[-1], sorted(present.keys() - {-1})
    if len(rest) == 1:
        return sp.simplify(a / (rest[0] * coefficients[rest[0]])) ** sp.Rational(1, rest[0] + 1)
    if rest != [1, 2]:
        return None
    b, c = coefficients[1], coefficients[2]
    h = c * sp.sqrt(27 * a / b**3)
    trisected = sp.cos(sp.acos(h) / 3) if _compute_discriminant(present) <= 1 else sp.cosh(sp.acosh(h) / 3)
    return sp.sqrt(3 * a / b) / (2 * trisected)


def find_minimiser(coefficients: Mapping[int, float]) -> float | None:
    """Return the value of `find_closed_form`, accurate also for small coefficients; None if there is none."""
    present = _select_present(coefficients)
    if present is None:
        return None
    a, rest = present[-1], sorted(present.keys() - {-1})
    if len(rest) == 1:
        return float((a / rest[0] / present[rest[0]]) ** (1 / (rest[0] + 1)))
    if rest != [1, 2]:
        return None
    h = _compute_discriminant(present)
    cosine: float = math.cos(math.acos(h) / 3) if h <= 1 else math.cosh(math.acosh(h) / 3)
    return math.sqrt(3 * a / present[1]) / (2 * cosine)


def _select_present(coefficients: Mapping[int, float]) -> dict[int, float] | None:
    """Return the non-negligible coefficients, if they are non-negative with one decreasing power; else None.

    A power is negligible if the others exceed it beyond double precision.
    """
    present = {power: value for power, value in coefficients.items() if value != 0 and power != 0}
    growing = present.keys() - {-1}
    if -1 not in present or not growing or min(growing) < 0 or min(present.values()) < 0:
        return None
    if growing == {1, 2} and _compute_discriminant(present) > _NEGLIGIBLE:
        del present[1]
    return present


def _compute_discriminant(coefficients: Mapping[int, float]) -> float:
    """Return ``c sqrt(27 a / b^3)``: at most one if ``a y^3 - b y - 2 c`` has three real roots; infinite for tiny b."""
    a, b, c = (coefficients[power] for power in (-1, 1, 2))
    scale = b * math.sqrt(b)
    return c * math.sqrt(27 * a) / scale if scale > 0 else math.inf


def minimise_numerically(function: Callable[[float], float], largest: float, smallest: float) -> float:
    """Minimise a function on an interval of positive numbers: a grid, then Brent's method, both in logarithms."""
    from scipy.optimize import minimize_scalar

    grid = np.linspace(math.log(smallest), math.log(largest), _GRID)
    values = [_make_finite(function(math.exp(x))) for x in grid]
    best = int(np.argmin(values))
    low, high = grid[max(best - 1, 0)], grid[min(best + 1, _GRID - 1)]
    found = minimize_scalar(
        lambda x: _make_finite(function(math.exp(x))), bounds=(low, high), method="bounded", options={"xatol": 1e-12}
    )
    inside = (float(found.fun), math.exp(float(found.x)))
    return min(inside, (values[best], math.exp(float(grid[best]))))[1]


def _make_finite(value: float) -> float:
    """Return the value, or a large number if it is not finite."""
    return value if math.isfinite(value) else 1e300


class StepSizes:
    """The best step sizes of one bound, at its numbers and at changed ones."""

    def __reduce__(self) -> tuple[type[StepSizes], tuple[NumericBound]]:
        """Pickle the bound only: compiled functions cannot be pickled, and are compiled again."""
        return StepSizes, (self.bound,)

    def __init__(self, bound: NumericBound) -> None:
        self.bound = bound
        self.powers = expand_powers(bound)
        self._edges: dict[tuple[float | None, ...], Edge] = {}
        symbols = {symbol for condition in bound.conditions for symbol in condition.free_symbols}
        self._in_conditions = [name for symbol, name in bound.names.items() if symbol in symbols and name != STEP]
        self._coefficients = (
            {}
            if self.powers is None
            else {p: get_compiler(tuple(bound.names))(c) for p, c in self.powers.coefficients.items()}
        )

    @property
    def matters(self) -> bool:
        """Whether the bound depends on the step size."""
        return self.bound.depends_on(self.bound.expression, STEP)

    def coefficients(self, at: NumericBound) -> dict[int, float]:
        """Return the values of the coefficients."""
        arguments = [at.values.get(name, math.nan) for name in at.names.values()]
        return {power: function(arguments) for power, function in self._coefficients.items()}

    def minimiser(self, at: NumericBound, edge: Edge) -> float | None:
        """Return the best admissible step size; None if the bound is increasing or constant in it."""
        if not self.matters or edge.value <= 0:
            return None
        coefficients = self.coefficients(at)
        if coefficients and not any(power < 0 and value > 0 for power, value in coefficients.items()):
            return None
        free = find_minimiser(coefficients)
        if free is not None:
            return min(free, edge.value)
        if math.isinf(edge.value) and not any(power > 0 and value > 0 for power, value in coefficients.items()):
            return None
        best, smallest = self.numeric(at, edge), math.exp(-_WIDTH) * self._find_upper_end(at, edge)
        # If the smallest tried step is the best, the bound has no minimiser.
        falls = at.value({STEP: best}) < (1 - NEAR_TIE) * at.value({STEP: smallest})
        return best if falls else None

    def numeric(self, at: NumericBound, edge: Edge) -> float:
        """Minimise numerically on the admissible interval."""
        largest = self._find_upper_end(at, edge)
        return minimise_numerically(at.along(STEP), largest, largest * math.exp(-_WIDTH))

    def _find_upper_end(self, at: NumericBound, edge: Edge) -> float:
        """Return the upper end of the search for the best step size."""
        return edge.value if math.isfinite(edge.value) else _compute_minimiser_bound(self.coefficients(at))

    def best(self, at: NumericBound) -> tuple[float, float] | None:
        """Return the best admissible step size at changed numbers, and the bound there."""
        step = self.minimiser(at, self._find_edge(at))
        return None if step is None else (step, at.value({STEP: step}))

    def _find_edge(self, at: NumericBound) -> Edge:
        """Return the largest admissible step size, cached for all numbers that the conditions do not contain."""
        key = tuple(at.values.get(name) for name in self._in_conditions)
        if at.comparators is not None or key not in self._edges:
            self._edges[key] = largest(at, STEP)
        return self._edges[key]

    def optimum(self, edge: Edge) -> Optimum | None:
        """Return the best admissible step size."""
        step = self.minimiser(self.bound, edge)
        if step is None:
            return None
        value, at_edge = self.bound.value({STEP: step}), step >= edge.value * (1 - 1e-9)
        return Optimum(step, value, at_edge, (self.bound, edge))

    def formula(self) -> Expr | None:
        """Return the minimiser without an edge, in the symbols of the bound; None if no closed form is known."""
        if self.powers is None:
            return None
        coefficients = {power: sp.factor_terms(one) for power, one in self.powers.coefficients.items()}
        return find_closed_form(coefficients, self.coefficients(self.bound))


def _compute_minimiser_bound(coefficients: Mapping[int, float]) -> float:
    """Return an upper bound of the minimiser of a sum of powers: the largest step size at which two terms are equal."""
    falling = {power: value for power, value in coefficients.items() if power < 0 and value > 0}
    growing = {power: value for power, value in coefficients.items() if power > 0 and value > 0}
    crossings = ((a / b) ** (1 / (q - p)) for p, a in falling.items() for q, b in growing.items())
    return 2 * max(crossings, default=1.0)
