"""Rule: a stated expression is a sum of multiples of proved ones, by normal form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import sympy as sp

from fedtheory.kernel import LazyText, Rejected, Step
from fedtheory.kernel.expressions import Expr
from fedtheory.proofs.terms.context import TermContext
from fedtheory.proofs.terms.proved import Comparison, Proved
from fedtheory.proofs.terms.term import Formula, ProofTerm, Weighted


@dataclass(frozen=True)
class Combine(ProofTerm):
    """A goal as a sum of multiples of conclusions; no other rule states its conclusion."""

    rule: ClassVar[str] = "combine"
    goal: Formula
    comparison: Comparison
    parts: tuple[Weighted, ...] = ()

    def check(self, context: TermContext) -> Proved:
        """Check the sign of each coefficient, then that goal and sum have the same normal form."""
        if self.comparison == ">":
            raise Rejected("a sum shows that a number is zero or not negative, not that it is positive")
        context.require_expression(self.goal)
        multiples = [(sp.S.One, self.goal), *(self._weigh(part, context) for part in self.parts)]
        context.require_zero(multiples, "the slack is the sum of the terms")
        return Proved(self.goal, self.comparison)

    def _weigh(self, part: Weighted, context: TermContext) -> tuple[Expr, Expr]:
        """Check a part and the sign of its coefficient, and return the multiple that is subtracted from the goal."""
        proved = part.term.check(context)
        number = context.require_number(part.coefficient)
        sign = ", of an equation: " if proved.is_equation else " >= 0: "
        step = Step(LazyText("coefficient (", number, ")", sign, part.term), True)
        if not proved.is_equation and self.comparison == "==":
            raise Rejected(f"expected equations only in a sum that proves an equation, got {part.term}")
        if not proved.is_equation and not context.is_nonnegative(number):
            raise Rejected(step.text)
        context.held.append(step)
        return -number, proved.expression
