"""Sums of polynomials over an index, as polynomials in their ends."""

from __future__ import annotations

from math import comb

from fedtheory.kernel.expressions import ONE, Expr, Symbol
from fedtheory.kernel.quotients import ZERO, Quotient, Rejected, quotient
from fedtheory.kernel.work import cache_with_work

_HIGHEST_POWER = 12


def sum_over_range(number: Quotient, index: Symbol, first: Expr, end: Expr) -> Quotient:
    """Return the sum of a number over an index from `first` up to, but without, `end`.

    No other symbol depends on the index.
    Raises `Rejected` if the number is no polynomial in the index.
    """
    if not number.expression.has(index):
        return number * quotient(end - first)
    up_to_end = _sum_up_to(number, index, end)
    return up_to_end if first == 0 else up_to_end + quotient(-ONE) * _sum_up_to(number, index, first)


def _sum_up_to(number: Quotient, index: Symbol, end: Expr) -> Quotient:
    """Return the sum over 0, 1, .. end - 1."""
    denominator = number.written(number.denominator)
    hidden = denominator.free_symbols.union(*(one.free_symbols for one in number.symbols if one != index))
    if index in hidden:
        raise Rejected(f"{number.expression} is not a polynomial in {index}, over which it is summed")
    place, total = number.symbols.index(index), ZERO
    for powers, factor in number.numerator.terms():
        without = number.monomial((*powers[:place], 0, *powers[place + 1 :]), factor)
        total = total + quotient(without) * _sum_powers(int(powers[place]), end)
    return total * quotient(1 / denominator)


@cache_with_work(2**8)
def _sum_powers(power: int, steps: Expr) -> Quotient:
    """Return ``0^p + 1^p + .. + (n-1)^p``, by the binomial theorem from the sums of lower powers."""
    if power > _HIGHEST_POWER:
        raise Rejected(f"expected powers of an index up to {_HIGHEST_POWER} under a sum, got {power}")
    others = (quotient(-comb(power + 1, lower) * ONE) * _sum_powers(lower, steps) for lower in range(power))
    return quotient(ONE / (power + 1)) * sum(others, quotient(steps ** (power + 1)))
