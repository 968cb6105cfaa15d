"""The largest admissible value of a step size or a number of local steps under the conditions of a bound."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache, cached_property

import sympy as sp
from sympy.polys.polyroots import roots_linear, roots_quadratic

from fedtheory.arithmetic import NEAR_TIE
from fedtheory.kernel.expressions import Expr
from fedtheory.planner.bound import NumericBound, Slack, compute_slack, get_free_symbols

_DOUBLINGS = 60
_START = 2.0**-30
"""Start of a search, as a fraction of the present value."""
_LAST_DIGITS = 16
"""Limit on the floats below a closed form that are tried as an edge."""
_NEAR = 1e-6
"""Relative tolerance at an edge, larger than that of near ties."""


@dataclass(frozen=True)
class Edge:
    """The largest value of a number for which no condition fails."""

    value: float
    """The value; infinite without a limit, zero if a condition fails for all positive numbers."""
    condition: Expr | None = None
    """The condition that fails first; None without a limit."""
    of: tuple[NumericBound, str] | None = field(default=None, compare=False)
    """The bound, and the name of the number."""

    @cached_property
    def formula(self) -> Expr | None:
        """The value in the symbols of the bound, if the condition can be solved for it.

        SymPy solves it if the number is alone on one side or occurs as a polynomial of degree two at most.
        """
        if self.of is None or self.condition is None:
            return None
        return _solve(self.of[0], self.condition, self.of[1])


UNLIMITED = Edge(math.inf)


def largest(bound: NumericBound, name: str) -> Edge:
    """Return the largest value of the named number for which all conditions hold, all other numbers unchanged.

    A condition is solved by bisection, unless the number is alone on one side.
    """
    concerned = [condition for condition in bound.conditions if bound.depends_on(condition, name)]
    edges = [_find_edge(bound, condition, name) for condition in concerned]
    return min(edges, key=lambda edge: edge.value, default=UNLIMITED)


def find_largest_whole(bound: NumericBound, name: str) -> Edge:
    """Return the largest whole number for which all conditions hold, at least zero."""
    edge = largest(bound, name)
    if math.isinf(edge.value):
        return edge
    return replace(edge, value=float(math.floor(edge.value * (1 + NEAR_TIE))))


def _find_edge(bound: NumericBound, condition: Expr, name: str) -> Edge:
    """Return the limit that a condition sets to the variable, with a formula if there is one."""
    sides = ((condition.lhs, condition.rhs), (condition.rhs, condition.lhs))
    symbols = [symbol for symbol in bound.symbols(name) if symbol in get_free_symbols(condition)]
    alone = [other for side, other in sides if [side] == symbols and side not in get_free_symbols(other)]
    if alone and bound.names[symbols[0]] == name and (formula := _solve(bound, condition, name)) is not None:
        return Edge(_round_down(bound, condition, name, bound.number(formula)), condition, (bound, name))
    return Edge(_search(bound, condition, name), condition, (bound, name))


def _round_down(bound: NumericBound, condition: Expr, name: str, value: float) -> float:
    """Return the largest float up to `value`, within rounding of it, at which the condition holds without tolerance.

    The edge itself is not admissible under a strict inequality, and rounding may put it beyond.
    """
    strict = condition.rel_op in ("<", ">")
    below = value
    for _ in range(_LAST_DIGITS):
        slack = bound.slack(condition, {name: below}).slack
        if slack > 0 if strict else slack >= 0:
            return below
        below = math.nextafter(below, 0.0)
    return value


def _solve(bound: NumericBound, condition: Expr, name: str) -> Expr | None:
    """Return the largest allowed number in closed form, if it has one symbol and the condition holds below it."""
    symbols = [symbol for symbol in bound.symbols(name) if symbol in get_free_symbols(condition)]
    if len(symbols) != 1 or bound.names[symbols[0]] != name:
        return None
    known = [(bound.number(formula), formula) for formula in _list_candidates(condition, symbols[0])]
    positive = sorted((pair for pair in known if pair[0] > 0), key=lambda pair: pair[0])
    if not positive:
        return None
    value, formula = positive[0]
    inside, outside = (bound.slack(condition, {name: value * factor}).holds for factor in (0.5, 1 + 1e-6))
    return formula if inside and not outside else None


@cache
def _list_candidates(condition: Expr, symbol: sp.Symbol) -> list[Expr]:
    """Return real values of a symbol at which the sides of a condition are equal."""
    return [formula for formula in _find_roots(condition, symbol) if formula.is_real is not False]


def _find_roots(condition: Expr, symbol: sp.Symbol) -> list[Expr]:
    """Return the values of the symbol at which the condition holds with equality."""
    for side, other in ((condition.lhs, condition.rhs), (condition.rhs, condition.lhs)):
        if side == symbol and symbol not in other.free_symbols:
            return [other]
    numerator = sp.numer(sp.together(condition.lhs - condition.rhs))
    polynomial = sp.Poly(numerator, symbol) if numerator.is_polynomial(symbol) else None
    if polynomial is None or not 1 <= polynomial.degree() <= 2:
        return []
    # The last method that SymPy's `roots` would try, without the others.
    roots = roots_linear if polynomial.degree() == 1 else roots_quadratic
    return [sp.factor_terms(root) for root in roots(polynomial)]


def _search(bound: NumericBound, condition: Expr, name: str) -> float:
    """Return the limit of the variable by numerical search."""
    left, right = (bound.along(name, side) for side in (condition.lhs, condition.rhs))

    def slack(value: float) -> Slack:
        return compute_slack(condition, left(value), right(value))

    found = find_interval_end(lambda value: slack(value).holds, _START * bound.values.get(name, 1.0))
    # Near ties hold as well: at the edge, both sides are equal.
    before = found * (1 - _NEAR)
    is_beyond = 0 < found < math.inf and slack(found).slack < 0 <= slack(before).slack
    return find_interval_end(lambda value: slack(value).slack >= 0, before) if is_beyond else found


def find_interval_end(holds: Callable[[float], bool], start: float) -> float:
    """Return the end of the interval from `start` on in which `holds` is true, by doubling and bisection.

    Returns zero if it is false at the start, infinity if the interval is unbounded.
    """
    if not holds(start):
        return 0.0
    low, high = start, 2 * start
    for _ in range(2 * _DOUBLINGS):
        if not holds(high):
            break
        low, high = high, 2 * high
    else:
        return math.inf
    while high - low > 1e-14 * high:
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low
