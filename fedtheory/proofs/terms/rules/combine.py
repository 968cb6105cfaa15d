"""A stated expression as a sum of multiples of what is proved, by normal form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import sympy as sp

from fedtheory.kernel import Rejected
from fedtheory.proofs.terms.context import TermContext
from fedtheory.proofs.terms.proved import Comparison, Proved
from fedtheory.proofs.terms.term import Formula, ProofTerm, Weighted


@dataclass(frozen=True)
class Combine(ProofTerm):
    """The only rule that states what it proves."""

    rule: ClassVar[str] = "combine"
    goal: Formula
    comparison: Comparison
    parts: tuple[Weighted, ...] = ()

    def check(self, context: TermContext) -> Proved:
        """Check the sign of each coefficient, then that goal and sum have one normal form."""
        if self.comparison == ">":
            raise Rejected("a sum shows that a number is zero or not negative, not that it is positive")
        context.require_expression(self.goal)
        multiples = [(sp.S.NegativeOne, self.goal)]
        for part in self.parts:
            proved = part.term.check(context)
            if proved.is_equation:
                number = context.require_number(part.coefficient)
            elif self.comparison == "==":
                raise Rejected("an equation is a sum of equations")
            else:
                number = context.require_nonnegative(part.coefficient)
            multiples.append((number, proved.expression))
        context.require_zero(multiples, "the identity: goal = sum of the parts")
        return Proved(self.goal, self.comparison)

    def explain(self) -> str:
        """State the goal."""
        return f"{self.goal} {self.comparison} 0" + (", as the sum of" if self.parts else ", by definitions alone")
