"""The check of an inequality: every sign, then the identity."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fedtheory.kernel.admitted import require_admitted, require_finite
from fedtheory.kernel.expressions import Average, Expr, LocalSum
from fedtheory.kernel.forms import Form, composed, difference, scalar
from fedtheory.kernel.numbers import Numbers
from fedtheory.kernel.quotients import vanishes
from fedtheory.kernel.reasons import Because, Reason
from fedtheory.kernel.signs import is_nonnegative
from fedtheory.kernel.theory import Theory

_PLAIN = Numbers()


@dataclass(frozen=True)
class Term:
    """One term ``c * N`` of a certificate; `averaged` over clients, and before that `summed` over their steps."""

    coefficient: Expr
    reason: Because
    averaged: bool = False
    summed: bool = False

    def whole(self, reason: Reason) -> Expr:
        """The term as an expression."""
        product = self.coefficient * reason.expression
        product = LocalSum(product) if self.summed else product
        return Average(product) if self.averaged else product


@dataclass(frozen=True)
class Step:
    """One thing that the kernel has checked."""

    text: str
    holds: bool


def check(lhs: Expr, rhs: Expr, terms: Sequence[Term], theory: Theory, conditions: Sequence[Expr]) -> list[Step]:
    """Check that ``lhs <= rhs`` follows: every sign, then the identity."""
    residual, steps = difference(scalar(rhs, theory), scalar(lhs, theory)), []
    for term in terms:
        coefficient = theory.numbers.known(term.coefficient)
        reason = term.reason.in_theory(theory)
        whole = term.whole(reason)
        require_admitted(whole)
        theory.numbers.require_whole_exponents(whole)
        require_finite((coefficient, whole, reason.requires), theory.numbers, conditions)
        residual = difference(residual, scalar(whole, theory))
        is_positive = is_nonnegative(coefficient, theory.numbers, conditions)
        steps.append(Step(f"({coefficient}) >= 0, for: {reason.name}", is_positive))
        if reason.requires != 0:
            required = theory.numbers.known(reason.requires)
            steps.append(Step(f"({required}) >= 0", is_nonnegative(required, theory.numbers, conditions)))
    left = remainder(residual, theory.numbers)
    return [*steps, Step("the identity" + (f"; what is left over is {_shown(left, theory)}" if left else ""), not left)]


def _shown(left: Form, theory: Theory) -> str:
    """What is left over; roots in its coefficients can be large, and are not written out."""
    return "a sum of multiples of " + ", ".join(map(str, left)) if theory.numbers.roots else str(composed(left))


def remainder(form: Form, numbers: Numbers = _PLAIN) -> Form:
    """What does not cancel in a normal form, not even because of what letters are the square roots of."""
    return {monomial: c for monomial, c in form.items() if not vanishes(c, numbers.roots)}
