"""Exact limits that decide an O(.) statement, by the power of the variable to which each side is asymptotic.

On a rational run in the small-step-size limit, or as rounds tend to infinity, both sides are rational functions of an
infinitesimal, or of the order of a power of it. If the measured side divided by a power of the variable tends to a
positive number, and the order divided by the same power to zero, then no constant suffices for all values.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction

import sympy as sp
from flint import fmpq

from fedtheory.arithmetic import RATIONAL, Number
from fedtheory.arithmetic.germs import Germ
from fedtheory.engine.run import Run
from fedtheory.kernel.expressions import Expr
from fedtheory.language.claim import Claim
from fedtheory.language.claim_places import list_stacked_sites
from fedtheory.language.numbers import format_decimal
from fedtheory.language.premises import list_failed_premises
from verify.check.applicability import check_conditions
from verify.check.ladders import Ladder, list_ladders
from verify.check.links import compile_side
from verify.check.orders import BEYOND_GERMS, compute_germ, convert_to_germ, find_order
from verify.check.stationary_orders import find_leading_term

_MOST = 10**7
"""Largest number of products of coefficients for which a limit is computed."""
_SHORT = 22
"""Number of characters up to which a fraction is printed in full."""


@dataclass(frozen=True)
class Growth:
    """Limit of the measured side over a power of a variable, which is positive, and the behaviour of the order."""

    variable: sp.Symbol
    limit: Expr
    """Limit of the variable: infinity or zero."""
    power: Fraction | None
    """The power; None where the measured side tends to zero faster than every power."""
    coefficient: Number | None
    """The limit; None where it is not rational, or does not exist."""
    exceeds: bool = True
    """Whether the order over the same power tends to zero; otherwise measured / order stays bounded."""

    @property
    def goes_to_infinity(self) -> bool:
        """Return whether the variable tends to infinity; step sizes tend to zero."""
        return self.limit is sp.oo

    def words(self, in_words: Callable[[Expr], str]) -> str:
        """Return the result as a sentence with the claim's name of the variable."""
        name = in_words(self.variable)
        goes = f"as {name} {'grows' if self.goes_to_infinity else 'tends to 0'}"
        if not self.exceeds:
            return f"measured / order stays bounded {goes}, by an exact limit"
        number = "a positive number" if self.coefficient is None else _format_number(self.coefficient)
        times = _format_power(name, -(self.power or Fraction(0)))
        return f"measured{times} tends to {number} {goes}, and order{times} to 0: no constant serves for all {name}"


def _format_number(number: Number) -> str:
    """Format a rational: in full if it is short, else as a decimal."""
    return str(number) if isinstance(number, fmpq) and len(str(number)) <= _SHORT else format_decimal(number, 6)


def _format_power(name: str, power: Fraction) -> str:
    """Format a power of a variable as a factor."""
    if power == 0:
        return ""
    size = abs(power)
    raised = name if size == 1 else f"{name}^{size}" if size.denominator == 1 else f"{name}^({size})"
    return f" * {raised}" if power > 0 else f" / {raised}"


def find_growth(claim: Claim, run: Run) -> Growth | None:
    """Return the growth on a rational run that refutes a rate in one variable, or bounds it in its only one.

    The other variables keep their values. Rates that set step sizes or local steps, or state a constant, are checked on
    ladders only.
    """
    rate = claim.rate
    assert rate is not None
    if run.arithmetic is not RATIONAL or not (rate.step_size is rate.local_steps is rate.constant is None):
        return None
    ladders = list_ladders(claim)
    found = (_find_growth(claim, run, symbol, ladder) for symbol, ladder in ladders.items())
    return next((growth for growth in found if growth is not None and (growth.exceeds or len(ladders) == 1)), None)


def _find_growth(claim: Claim, run: Run, symbol: sp.Symbol, ladder: Ladder) -> Growth | None:
    if ladder.at_limit is None or _count_products(run) > _MOST:
        return None
    with suppress(*BEYOND_GERMS):
        at = ladder.at_limit(run)
        variable = compute_germ(claim, symbol, at)
        if variable.is_monomial and check_conditions(claim, at) and _check_premises(claim, run, at, ladder):
            return _compare(claim, run, at, symbol, variable)
    return None


def _count_products(run: Run) -> int:
    """Count the products of coefficients for polynomials in the step size."""
    steps = run.algorithm.rounds * max(run.algorithm.work.steps)
    return int(run.problem.clients * (run.problem.dimension + 1) ** 3 * steps**2)


def _check_premises(claim: Claim, run: Run, at: Run, ladder: Ladder) -> bool:
    """Check whether the assumptions hold at the limit, or on the ladder where rational functions do not suffice."""
    try:
        return not list_failed_premises(claim, at)
    except BEYOND_GERMS:
        return not any(list_failed_premises(claim, ladder.at(run, level)) for level in ladder.levels)


def _compare(claim: Claim, run: Run, at: Run, symbol: sp.Symbol, variable: Germ) -> Growth | None:
    """Return the growth in one variable if it refutes the rate or bounds it; None where neither is known."""
    assert claim.rate is not None
    measured, order = _find_leading_term(claim, at), find_order(claim, claim.rate.order, at)
    if measured is None and variable.power > 0:
        # Stationary errors solve equations without germs; in a vanishing variable they are series in the step size.
        measured = find_leading_term(claim, run)
    if measured is None or order is None:
        return None
    leading, power = measured
    if not (power < order.power or order.is_exact):
        return None
    # The variable is v h or v / h. With h as a power of it, c h^p is c v^-sp times its power sp.
    sign = variable.power
    coefficient = None if leading is None else leading * variable.leading ** int(-sign * power)
    own_power = None if power == math.inf else Fraction(sign * power)
    return Growth(symbol, sp.oo if sign < 0 else sp.S.Zero, own_power, coefficient, power < order.power)


def _find_leading_term(claim: Claim, at: Run) -> tuple[fmpq | None, Fraction | float] | None:
    """Find c > 0 and p such that the measured side behaves like c h^p; the largest of several places counts."""
    assert claim.rate is not None
    try:
        compiled = compile_side(claim, claim.rate.measured, claim.place)
        values = [
            abs(convert_to_germ(value)) for site in list_stacked_sites(claim, at) for value in compiled(site).ravel()
        ]
    except BEYOND_GERMS:
        found = find_order(claim, claim.rate.measured, at) if claim.place == "run" else None
        return (None, found.power) if found is not None and found.is_exact else None
    largest = max(values)
    return (largest.leading, Fraction(largest.power)) if largest else (None, math.inf)
