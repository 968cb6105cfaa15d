"""Rules: square roots of inequalities, and squares of inequalities between norms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import sympy as sp

from fedtheory.kernel import Rejected
from fedtheory.kernel.expressions import Inner, is_length
from fedtheory.proofs.terms.context import TermContext
from fedtheory.proofs.terms.proved import Proved
from fedtheory.proofs.terms.term import Formula, ProofTerm


@dataclass(frozen=True)
class Root(ProofTerm):
    """A bound on a norm, from one on its square."""

    rule: ClassVar[str] = "root"
    bound: Formula
    vector: Formula
    body: ProofTerm
    """The proof that the square of the bound is at least the squared norm."""

    def check(self, context: TermContext) -> Proved:
        """Check the squares, and that the bound is non-negative."""
        number = context.require_nonnegative(self.bound)
        length = sp.sqrt(Inner(self.vector, self.vector))
        context.require_expression(length)
        context.require_proof(self.body, number**2 - length**2, "the squares")
        return Proved(number - length)


@dataclass(frozen=True)
class Square(ProofTerm):
    """A bound on the square of a norm, from one on the norm."""

    rule: ClassVar[str] = "square"
    length: Formula
    bound: Formula
    body: ProofTerm
    """The proof that the norm is at most the bound."""

    def check(self, context: TermContext) -> Proved:
        """Check the inequality between the norm and its bound."""
        if not is_length(self.length):
            raise Rejected(f"{self.length} is not a length, and might be negative")
        if context.vectors is None:
            raise Rejected("a length is that of a vector: expected a claim about local steps, rounds or points")
        context.require_proof(self.body, self.bound - self.length, "before it is squared")
        found = sp.expand(self.bound**2 - self.length**2)
        context.require_expression(found)
        # Products of different norms have no normal form, and are outside the kernel's language.
        context.require_zero([(sp.S.One, found), (sp.S.NegativeOne, found)], "the difference of the squares")
        return Proved(found)
