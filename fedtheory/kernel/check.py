"""The check of an inequality: every sign, then the identity."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import sympy as sp

from fedtheory.expressions import Average, Expr
from fedtheory.kernel.forms import Form, added, composed, scalar, scaled
from fedtheory.kernel.reasons import Reason
from fedtheory.kernel.signs import is_nonnegative
from fedtheory.kernel.theory import Theory


@dataclass(frozen=True)
class Term:
    """One term ``c * N`` of a certificate; with `averaged`, N is a mean over clients."""

    coefficient: Expr
    reason: Callable[[Theory], Reason]
    averaged: bool = False


@dataclass(frozen=True)
class Step:
    """One thing that the kernel has checked."""

    text: str
    holds: bool


def check(lhs: Expr, rhs: Expr, terms: Sequence[Term], theory: Theory, conditions: Sequence[Expr]) -> list[Step]:
    """Check that ``lhs <= rhs`` follows: every sign, then the identity."""
    residual, steps = added([scalar(rhs, theory), scaled(scalar(lhs, theory), sp.S.NegativeOne)]), []
    for term in terms:
        coefficient = theory.numbers.plain(term.coefficient)
        reason = term.reason(theory)
        not_negative = Average(reason.expression) if term.averaged else reason.expression
        residual = added([residual, scaled(scalar(not_negative, theory), -coefficient)])
        is_positive = is_nonnegative(coefficient, theory.numbers, conditions)
        steps.append(Step(f"({coefficient}) >= 0, for: {reason.name}", is_positive))
    left = remainder(residual)
    text = "the identity" if not left else f"the identity; what is left over is {composed(left)}"
    return [*steps, Step(text, not left)]


def remainder(form: Form) -> Form:
    """What does not cancel in a normal form."""
    return {monomial: simple for monomial, c in form.items() if (simple := sp.cancel(c)) != 0}
