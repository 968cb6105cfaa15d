"""Eliminate conditions that are equations, such as one local step, from formulas."""

from __future__ import annotations

from collections.abc import Sequence

import sympy as sp

from fedtheory.kernel.expressions import Expr

Solved = tuple[list[Expr], tuple[Expr, ...]]
"""Inequalities and formulas without the solved symbols."""


def eliminate_equations(conditions: Sequence[Expr], formulas: Sequence[Expr]) -> Solved | None:
    """Insert every equation among the conditions into the inequalities and formulas.

    Returns None if an equation is linear in none of its symbols, or a condition is not a relation of two sides.
    """
    rest, sides = list(conditions), tuple(formulas)
    while (equation := next((one for one in rest if isinstance(one, sp.Eq)), None)) is not None:
        solution = _solve(equation)
        if solution is None:
            return None
        inserted = (one.subs(solution) for one in rest if one is not equation)
        rest = [one for one in inserted if one is not sp.true]
        sides = tuple(side.subs(solution) for side in sides)
    # An exclusion such as x != y does not change a supremum.
    inequalities = [one for one in rest if not isinstance(one, sp.Ne)]
    return (inequalities, sides) if all(hasattr(one, "gts") for one in inequalities) else None


def _solve(equation: sp.Eq) -> dict[sp.Symbol, Expr] | None:
    """Solve an equation for one symbol, preferably one that stands alone on a side."""
    numerator = sp.fraction(sp.together(equation.lhs - equation.rhs))[0]
    for symbol in sorted(equation.free_symbols, key=lambda one: (one not in equation.args, str(one))):
        polynomial = numerator.as_poly(symbol)
        if polynomial is not None and polynomial.degree() == 1:
            slope, constant = polynomial.all_coeffs()
            return {symbol: sp.cancel(-constant / slope)}
    return None
