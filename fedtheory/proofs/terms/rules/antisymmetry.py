"""Rule: two reverse inequalities prove an equation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from fedtheory.proofs.terms.context import TermContext
from fedtheory.proofs.terms.proved import Proved
from fedtheory.proofs.terms.term import ProofTerm


@dataclass(frozen=True)
class Antisymmetry(ProofTerm):
    """An equation from two reverse inequalities."""

    rule: ClassVar[str] = "antisymmetry"
    at_most: ProofTerm
    at_least: ProofTerm

    def check(self, context: TermContext) -> Proved:
        """Check that the two expressions add up to zero."""
        one = self.at_most.check(context)
        context.require_proof(self.at_least, -one.expression, "at least")
        return Proved(one.expression, "==")
