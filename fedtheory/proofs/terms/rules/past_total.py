"""Rule: the value of a multiple of a prefix sum of numbers, by its start and its increments."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import sympy as sp

from fedtheory.kernel import Rejected, check_zero
from fedtheory.kernel.expressions import PastSum
from fedtheory.proofs.terms.context import TermContext
from fedtheory.proofs.terms.proved import Proved
from fedtheory.proofs.terms.term import Formula, ProofTerm


@dataclass(frozen=True)
class PastTotal(ProofTerm):
    """An equation between a multiple of the sum over the steps up to the present one, and a number of the step."""

    rule: ClassVar[str] = "total of the past"
    factor: Formula
    """A number that is the same at all steps."""
    member: Formula
    """A number of the step."""
    total: Formula

    def check(self, context: TermContext) -> Proved:
        """Check that the total is zero without steps, and increases by the factor times the summand."""
        if context.place != "past" or context.vectors is not None:
            raise Rejected("a total over the past steps is an equation between numbers of a step")
        for one in (self.factor, self.member, self.total):
            context.require_expression(one)
        index, numbers = context.index, context.numbers
        factor, member, total = (numbers.plain(one) for one in (self.factor, self.member, self.total))
        if factor.has(index):
            raise Rejected(f"{factor} changes from local step to local step")
        grown = total - total.xreplace({index: index - 1}) - factor * member
        context.require([check_zero("the sum over no steps", total.xreplace({index: sp.S.NegativeOne}))])
        context.require([check_zero("what a step adds", grown)])
        return Proved(self.total - self.factor * PastSum(self.member), "==")
