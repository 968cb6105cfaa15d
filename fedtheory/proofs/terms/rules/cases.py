"""Rule: a number of the local step is non-negative by two cases, the first step and all later ones."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import sympy as sp

from fedtheory.kernel import Rejected
from fedtheory.proofs.terms.context import TermContext
from fedtheory.proofs.terms.proved import Proved
from fedtheory.proofs.terms.term import ProofTerm


@dataclass(frozen=True)
class FirstAndLater(ProofTerm):
    """Two proofs that a number is non-negative: before the first local step, and after at least one."""

    rule: ClassVar[str] = "first and later"
    first: ProofTerm
    later: ProofTerm

    def check(self, context: TermContext) -> Proved:
        """Check both, and that both are about the same number."""
        if context.place not in ("step", "models", "loop"):
            raise Rejected("the first step is distinguished only in relations about each local step")
        first, later = self.first.check(context), self.later.check(_enter_later_step(context))
        number = context.numbers.known(later.expression)
        at_start = number.xreplace({context.index: sp.S.Zero})
        context.require_zero([(sp.S.One, at_start), (sp.S.NegativeOne, first.expression)], "the number without a step")
        return Proved(number, ">=")


def _enter_later_step(context: TermContext) -> TermContext:
    """Return the context in which the step index is at least 1."""
    numbers = replace(context.numbers, at_least={**context.numbers.at_least, context.index: 1})
    vectors = None if context.vectors is None else replace(context.vectors, numbers=numbers)
    return replace(context, numbers=numbers, vectors=vectors)
