"""Checks an inequality by a certificate: every sign, then the identity."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from fedtheory.kernel.admitted import require_admitted, require_finite
from fedtheory.kernel.context import Context
from fedtheory.kernel.expressions import ONE, Average, Expr, LocalSum
from fedtheory.kernel.forms import Form, difference, scalar
from fedtheory.kernel.inequalities import Inequality, InequalityRef
from fedtheory.kernel.messages import LazyText, add_left_over
from fedtheory.kernel.numbers import Numbers
from fedtheory.kernel.quotients import quotient, vanishes
from fedtheory.kernel.signs import is_nonnegative

_PLAIN = Numbers()
_IDENTITY = "the identity: right side - left side = sum of the terms"


@dataclass(frozen=True)
class Term:
    """One term ``c * N`` of a certificate, possibly `summed` over local steps and `averaged` over clients."""

    kind: ClassVar[str] = "term"
    coefficient: Expr
    reason: InequalityRef
    averaged: bool = False
    summed: bool = False

    def whole(self, reason: Inequality) -> Expr:
        """Return the term as an expression."""
        product = self.coefficient * reason.expression
        product = LocalSum(product) if self.summed else product
        return Average(product) if self.averaged else product


@dataclass(frozen=True)
class Step:
    """One assertion that the kernel has checked."""

    label: str | LazyText
    holds: bool

    @property
    def text(self) -> str:
        """Return the label as text."""
        return str(self.label)


def check(lhs: Expr, rhs: Expr, terms: Sequence[Term], context: Context, conditions: Sequence[Expr]) -> list[Step]:
    """Check that ``lhs <= rhs`` follows from the terms: every sign, then the identity."""
    residual, steps = difference(scalar(rhs, context), scalar(lhs, context)), []
    for term in terms:
        coefficient = context.numbers.known(term.coefficient)
        reason = term.reason.instantiate(context)
        whole = term.whole(reason)
        require_admitted(whole)
        context.numbers.require_integer_exponents(whole)
        require_finite((coefficient, whole, reason.requires), context.numbers, conditions)
        residual = difference(residual, scalar(whole, context))
        is_positive = is_nonnegative(coefficient, context.numbers, conditions)
        steps.append(Step(LazyText("coefficient (", coefficient, ") >= 0: ", reason.name), is_positive))
        if reason.requires != 0:
            steps.append(check_nonnegative(context.numbers.known(reason.requires), context.numbers, conditions))
    return [*steps, check_zero_form(_IDENTITY, residual, context.numbers)]


def check_nonnegative(number: Expr, numbers: Numbers, conditions: Sequence[Expr]) -> Step:
    """Check that a number is non-negative."""
    return Step(LazyText("(", number, ") >= 0"), is_nonnegative(number, numbers, conditions))


def check_equal(what: str, one: Expr, other: Expr, context: Context) -> Step:
    """Check that two scalars have the same normal form."""
    return check_zero_form(what, difference(scalar(one, context), scalar(other, context)), context.numbers)


def is_same(one: Expr, other: Expr, context: Context) -> bool:
    """Return whether two scalars have the same normal form."""
    return check_equal("", one, other, context).holds


def check_zero_form(what: str, form: Form, numbers: Numbers = _PLAIN) -> Step:
    """Check that a normal form is zero."""
    left = remainder(form, numbers)
    return Step(add_left_over(what, left, is_short=bool(numbers.roots)), not left)


def check_zero(what: str, number: Expr, numbers: Numbers = _PLAIN) -> Step:
    """Check that a number is zero."""
    return check_zero_form(what, {ONE: quotient(number)}, numbers)


def remainder(form: Form, numbers: Numbers = _PLAIN) -> Form:
    """Return the part of a normal form that does not cancel, after substituting the squares of roots."""
    return {monomial: c for monomial, c in form.items() if not vanishes(c, numbers.roots)}
