"""Rules: a hypothesis of the context, such as that of an induction, and a condition of the claim."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import sympy as sp

from fedtheory.kernel import Rejected, slack
from fedtheory.kernel.admitted import require_admitted_condition
from fedtheory.proofs.proof import follows
from fedtheory.proofs.terms.context import TermContext
from fedtheory.proofs.terms.proved import Proved
from fedtheory.proofs.terms.term import Condition, ProofTerm


@dataclass(frozen=True)
class Hypothesis(ProofTerm):
    """A hypothesis that an enclosing rule has named."""

    rule: ClassVar[str] = "hypothesis"
    name: str

    def check(self, context: TermContext) -> Proved:
        """Look up the hypothesis."""
        if self.name not in context.hypotheses:
            known = ", ".join(map(repr, context.hypotheses)) or "none"
            raise Rejected(f"there is no hypothesis {self.name!r} here; there is {known}")
        return context.hypotheses[self.name]


@dataclass(frozen=True)
class Given(ProofTerm):
    """A condition that follows from those of the claim."""

    rule: ClassVar[str] = "given"
    condition: Condition

    def check(self, context: TermContext) -> Proved:
        """Check that the condition follows from the known ones."""
        require_admitted_condition(self.condition)
        if not follows(self.condition, context.claim, context.conditions):
            raise Rejected(f"{self.condition} does not follow from the conditions")
        if isinstance(self.condition, sp.Eq):
            return Proved(self.condition.lhs - self.condition.rhs, "==")
        return Proved(slack(self.condition))
