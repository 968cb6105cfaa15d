"""Sums of polynomials over an index, as polynomials in their ends."""

from __future__ import annotations

from functools import reduce
from math import comb

import sympy as sp

from fedtheory.kernel import Rejected
from fedtheory.kernel.expressions import Expr
from fedtheory.kernel.quotients import ZERO, Quotient, quotient

_HIGHEST_POWER = 12


def sum_over_range(number: Quotient, index: sp.Symbol, first: Expr, end: Expr) -> Quotient:
    """Return the sum of a number over an index from `first` up to, but without, `end`.

    No other symbol depends on the index.
    Raises `Rejected` if the number is no polynomial in the index.
    """
    if not number.expression.has(index):
        return number * quotient(end - first)
    return _sum_up_to(number, index, end) + quotient(sp.S.NegativeOne) * _sum_up_to(number, index, first)


def powers_of(number: Quotient, index: sp.Symbol) -> dict[int, Quotient]:
    """Return the coefficients of the powers of an index in a number.

    Raises `Rejected` if it is no polynomial in the index.
    """
    if not number.expression.has(index):
        return {0: number}
    below = number.written(number.denominator)
    hidden = below.free_symbols.union(*(one.free_symbols for one in number.symbols if one != index))
    if index in hidden:
        raise Rejected(f"{number.expression} is not a polynomial in {index}, over which it is summed")
    place, found = number.symbols.index(index), dict[int, Quotient]()
    for powers, factor in number.numerator.terms():
        constant = quotient(number.monomial((*powers[:place], 0, *powers[place + 1 :]), factor) / below)
        found[powers[place]] = found[powers[place]] + constant if powers[place] in found else constant
    return found


def _sum_up_to(number: Quotient, index: sp.Symbol, end: Expr) -> Quotient:
    """Return the sum over 0, 1, .. end - 1."""
    parts = powers_of(number, index).items()
    return sum((constant * _sum_of_powers(power, quotient(end)) for power, constant in parts), ZERO)


def _sum_of_powers(power: int, steps: Quotient) -> Quotient:
    """Return ``0^p + 1^p + .. + (n-1)^p``, by the binomial theorem from the sums of lower powers."""
    if power > _HIGHEST_POWER:
        raise Rejected(f"expected powers of an index up to {_HIGHEST_POWER} under a sum, got {power}")
    whole = reduce(lambda one, other: one * other, [steps] * (power + 1))
    others = (quotient(-sp.Integer(comb(power + 1, lower))) * _sum_of_powers(lower, steps) for lower in range(power))
    return quotient(sp.Rational(1, power + 1)) * sum(others, whole)
