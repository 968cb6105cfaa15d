"""Orders in an infinitesimal h of the expressions of a claim, on a run at the limit of a variable."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import sympy as sp
from flint import fmpq

from fedtheory.arithmetic.germs import INFINITESIMAL, Germ
from fedtheory.engine.run import Run
from fedtheory.errors import FedtheoryError
from fedtheory.kernel.expressions import Expr
from fedtheory.language.claim import Claim
from fedtheory.language.evaluation import whole_run
from fedtheory.language.quantities import RunQuantity
from verify.check.links import compile_side

BEYOND_GERMS = (FedtheoryError, ArithmeticError, LookupError, ValueError, TypeError, AttributeError)
"""Errors of computations that rational functions of h do not cover, such as those that need a float."""


@dataclass(frozen=True)
class Order:
    """Order h^power of an expression: an upper bound, or the exact order where `is_exact`."""

    power: Fraction | float
    """The exponent, which is infinite for zero."""
    is_exact: bool = True


def compute_germ(claim: Claim, expression: Expr, run: Run) -> Germ:
    """Return the value of an expression on a run at a limit; raises one of `BEYOND_GERMS` if it has none."""
    return convert_to_germ(compile_side(claim, expression, "run")(whole_run(run)).item())


def convert_to_germ(value: object) -> Germ:
    """Convert a rational or a germ to a germ; raises `TypeError` for anything else."""
    if isinstance(value, Germ):
        return value
    if not isinstance(value, fmpq):
        raise TypeError(f"expected a rational function, got {value!r}")
    return INFINITESIMAL * 0 + value


def find_order(claim: Claim, expression: Expr, run: Run) -> Order | None:
    """Return the order of an expression on a run at a limit; None where it is not known."""
    try:
        germ = compute_germ(claim, expression, run)
    except BEYOND_GERMS:
        return _find_order_of_parts(claim, expression, run)
    return Order(Fraction(germ.power) if germ else math.inf)


def _find_order_of_parts(claim: Claim, expression: Expr, run: Run) -> Order | None:
    """Return the order of an expression with roots, which is not a rational function."""
    if expression.is_Symbol:
        return _find_order_of_root(claim, expression, run)
    parts = [find_order(claim, part, run) for part in expression.args]
    known = [part for part in parts if part is not None]
    if isinstance(expression, sp.Pow) and expression.exp.is_Rational and parts[0] is not None:
        return _find_order_of_power(parts[0], Fraction(int(expression.exp.p), int(expression.exp.q)))
    if len(known) < len(parts) or not isinstance(expression, sp.Mul | sp.Add):
        return None
    powers, are_exact = [part.power for part in known], all(part.is_exact for part in known)
    if isinstance(expression, sp.Mul):
        return Order(sum(powers), are_exact)
    # Terms of equal sign do not cancel; others may.
    return Order(min(powers), are_exact and all(part.is_nonnegative for part in expression.args))


def _find_order_of_power(base: Order, exponent: Fraction) -> Order | None:
    """Return the order of a power; an upper bound on a denominator gives none."""
    is_known = exponent > 0 or (base.is_exact and base.power < math.inf)
    return Order(base.power * exponent, base.is_exact) if is_known else None


def _find_order_of_root(claim: Claim, symbol: sp.Symbol, run: Run) -> Order | None:
    """Return the order of a quantity whose square has a value."""
    quantity = claim.notation.get(symbol)
    if not isinstance(quantity, RunQuantity) or not quantity.root:
        return None
    try:
        square = compute_germ(claim, symbol**2, run)
    except BEYOND_GERMS:
        return None
    return Order(Fraction(square.power, 2) if square else math.inf)
