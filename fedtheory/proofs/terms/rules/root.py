"""Rules: square roots of inequalities, and squares of inequalities between norms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import sympy as sp

from fedtheory.kernel import Rejected
from fedtheory.kernel.expressions import Expr, Inner, has_plain_vectors, is_length, parts_of
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
        bound = self._require_bound(context)
        length = sp.sqrt(Inner(self.vector, self.vector))
        context.require_expression(length)
        context.require_proof(self.body, bound**2 - length**2, "the squares")
        return Proved(bound - length)

    def _require_bound(self, context: TermContext) -> Expr:
        """Return the bound, which is a non-negative number or its product with the norm of a vector."""
        lengths = {part for part in parts_of(sp.sympify(self.bound), sp.Pow) if is_length(part)}
        if not lengths:
            return context.require_nonnegative(self.bound)
        if context.reading != "path" or not all(has_plain_vectors(one) for one in (self.bound, self.vector)):
            # From E|u|^2 <= c^2 E|v|^2 follows nothing about E|v|, which may be smaller than the root of E|v|^2.
            raise Rejected(f"{self.bound} has a norm in it, which may be random: expected vectors without draws")
        (length, *others) = lengths
        factor = self.bound.coeff(length)
        if others or sp.expand(self.bound - factor * length) != 0:
            raise Rejected(f"{self.bound} is neither a number nor a multiple of one norm")
        context.require_expression(length)
        return context.require_nonnegative(factor) * length


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
