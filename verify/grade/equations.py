"""Conditions that are equations, such as one local step: each is solved for a symbol, which leaves the formulas."""

from __future__ import annotations

from collections.abc import Sequence

import sympy as sp

from fedtheory.kernel.expressions import Expr

Solved = tuple[list[Expr], tuple[Expr, ...]]
"""Inequalities without the solved symbols, and the formulas without them."""


def eliminate_equations(conditions: Sequence[Expr], formulas: Sequence[Expr]) -> Solved | None:
    """The inequalities among some conditions, and formulas, with every equation inserted.

    None where an equation is linear in none of its symbols, or a condition is no relation of two sides.
    """
    rest, sides = list(conditions), tuple(formulas)
    while (equation := next((one for one in rest if isinstance(one, sp.Eq)), None)) is not None:
        solution = _solve(equation)
        if solution is None:
            return None
        inserted = (one.subs(solution) for one in rest if one is not equation)
        rest = [one for one in inserted if one is not sp.true]
        sides = tuple(side.subs(solution) for side in sides)
    # What is only excluded, as by x != y, changes no supremum.
    inequalities = [one for one in rest if not isinstance(one, sp.Ne)]
    return (inequalities, sides) if all(hasattr(one, "gts") for one in inequalities) else None


def _solve(equation: sp.Eq) -> dict[sp.Symbol, Expr] | None:
    """One symbol of an equation by the others, the one that stands alone first."""
    numerator = sp.fraction(sp.together(equation.lhs - equation.rhs))[0]
    for symbol in sorted(equation.free_symbols, key=lambda one: (one not in equation.args, str(one))):
        polynomial = numerator.as_poly(symbol)
        if polynomial is not None and polynomial.degree() == 1:
            slope, constant = polynomial.all_coeffs()
            return {symbol: sp.cancel(-constant / slope)}
    return None
