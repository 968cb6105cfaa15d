"""Rule: a number is non-negative, or positive, under the conditions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from fedtheory.kernel import Rejected, is_positive
from fedtheory.proofs.terms.context import TermContext
from fedtheory.proofs.terms.proved import Proved
from fedtheory.proofs.terms.term import Formula, ProofTerm


@dataclass(frozen=True)
class Sign(ProofTerm):
    """The sign of a rational function of the claim's numbers."""

    rule: ClassVar[str] = "sign"
    number: Formula
    is_strict: bool = False

    def check(self, context: TermContext) -> Proved:
        """Decide the sign under the conditions of the context."""
        if not self.is_strict:
            return Proved(context.require_nonnegative(self.number))
        number = context.numbers.plain(context.require_number(self.number))
        if not is_positive(number, context.numbers, context.conditions):
            raise Rejected(f"({number}) > 0 is not shown under the conditions")
        return Proved(number, ">")
