"""Translates sums of the kernel's terms, and links of certificates, into proof terms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import singledispatchmethod
from typing import Any

import sympy as sp

from fedtheory.kernel import Rejected, Term
from fedtheory.kernel.expressions import Expr, norm_sq
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim, Relation
from fedtheory.proofs.certificate import BothWays
from fedtheory.proofs.induction import StepIndex, advance_distance
from fedtheory.proofs.links import CauchySchwarz, Induction, Positive, Products, Squared
from fedtheory.proofs.numbers import symbols_of
from fedtheory.proofs.proof import Prover, require_ordering
from fedtheory.proofs.terms.proved import Comparison
from fedtheory.proofs.terms.rules.antisymmetry import Antisymmetry
from fedtheory.proofs.terms.rules.axiom import Axiom
from fedtheory.proofs.terms.rules.combine import Combine
from fedtheory.proofs.terms.rules.hypothesis import Hypothesis
from fedtheory.proofs.terms.rules.induct import HYPOTHESIS
from fedtheory.proofs.terms.rules.induct_steps import InductSteps
from fedtheory.proofs.terms.rules.maximum import BelowMaximum
from fedtheory.proofs.terms.rules.product import Factor, Multiply, ProductOfFactors, Scalar
from fedtheory.proofs.terms.rules.root import Root, Square
from fedtheory.proofs.terms.rules.sign import Sign
from fedtheory.proofs.terms.rules.sum_over import SumOver
from fedtheory.proofs.terms.rules.use import Use
from fedtheory.proofs.terms.term import ProofTerm, Weighted

ONE, ZERO = sp.S.One, sp.S.Zero


@dataclass(frozen=True)
class SumTactic:
    """Writes sums of the kernel's terms for a claim that may use lemmas."""

    claim: Claim
    prove: Prover
    lemmas: Sequence[str] = ()

    def combine(self, goal: Expr, terms: Sequence[Term], comparison: Comparison = ">=") -> Combine:
        """Write a goal as the sum of the kernel's terms."""
        return Combine(goal, comparison, self.weigh(terms))

    def weigh(self, terms: Sequence[Term]) -> tuple[Weighted, ...]:
        """Write the kernel's terms, each with its coefficient, or under its sums."""
        return tuple(self._weigh_term(term) for term in terms)

    def _weigh_term(self, term: Term) -> Weighted:
        """Return the term of a sum with its coefficient."""
        proof, number = self._prove_reason(term), term.coefficient
        if term.summed:
            proof, number = SumOver("steps of a client", number, proof), ONE
        if term.averaged:
            proof, number = SumOver("clients", number, proof), ONE
        return Weighted(number, proof)

    def _prove_reason(self, term: Term) -> ProofTerm:
        """Return the proof term of a reason."""
        kind, about = term.reason.kind, term.reason.about
        if kind == "one":
            return Sign(ONE)
        if kind == "assumption":
            return self._prove_assumption(str(about[0]))
        if kind == "root":
            return Root(about[1], about[2], self._prove_assumption(str(about[0])))
        return Axiom(kind, tuple(about))

    def _prove_assumption(self, name: str) -> ProofTerm:
        """Return an assumption of the claim, or the lemma of that name."""
        for lemma in self.lemmas:
            if name == lemma:
                return self._bound_drift(lemma)
            if name.startswith(f"{lemma}, relation "):
                return Use(lemma, int(name.rsplit(" ", 1)[1]) - 1)
        return Axiom("assumption", (name,))

    def _bound_drift(self, lemma: str) -> ProofTerm:
        """Return a bound on the largest drift of a run, for a client at a local step."""
        symbol = symbols_of(self.claim)
        found = self.prove(lemma).rename_for(self.claim).statement.relations[0]
        if self.claim.place != "step" or found.left != symbol(q.max_drift):
            raise Rejected(f"{lemma} does not bound the drift at a local step")
        bound = found.right
        drift = norm_sq(symbol(q.local_iterate) - symbol(q.average_iterate))
        parts = Weighted(ONE, Use(lemma)), Weighted(ONE, BelowMaximum(symbol(q.max_drift)))
        return Combine(bound - drift, ">=", parts)

    @singledispatchmethod
    def link(self, why: Any, relation: Relation) -> ProofTerm:
        """Write a link of a certificate as the term that proves a relation."""
        if not isinstance(why, tuple | list):
            raise Rejected(f"expected a list of terms, or a kind of link, for each relation, got {type(why).__name__}")
        if relation.operator == "==" and why:
            raise Rejected(f"an equation holds by definitions, without terms, or by BothWays: got {len(why)} terms")
        if relation.operator not in ("<=", "==", ">="):
            raise Rejected(f"a sum of terms shows <=, == or >=, but the claim states {relation.operator}")
        return self.combine(relation.slack, why, "==" if relation.operator == "==" else ">=")

    @link.register
    def _prove_both_ways(self, why: BothWays, relation: Relation) -> ProofTerm:
        if relation.operator != "==":
            raise Rejected(f"BothWays proves an equation, but the claim states {relation.operator}")
        slack = relation.slack
        return Antisymmetry(self.combine(slack, why.at_most), self.combine(-slack, why.at_least))

    @link.register
    def _prove_induction(self, why: Induction, relation: Relation) -> ProofTerm:
        if relation.operator != "<=":
            raise Rejected(f"an induction proves an upper bound (<=), but the claim states {relation.operator}")
        counter = StepIndex(self.claim, why.base)
        moved = advance_distance(self.claim, why.measured)
        later = counter.advance(why.bound) - moved
        factor = counter.write_powers(why.factor)
        moves = self.combine(factor * why.measured + counter.write_powers(why.offset) - moved, why.terms)
        parts = (Weighted(factor, Hypothesis(HYPOTHESIS)), Weighted(ONE, moves))
        base = self.combine(counter.evaluate_at_start(why.bound) - why.measured, why.start)
        first = None
        if why.first is not None:
            once = counter.evaluate_at_start(why.bound.xreplace({counter.index: counter.index + 1}))
            first = self.combine(once - moved, why.first)
        is_next = bool(relation.left.free_symbols & (moved.free_symbols - why.measured.free_symbols))
        step = Combine(later, ">=", parts)
        return InductSteps(why.measured, why.bound, relation.right, is_next, base, step, first, why.base)

    @link.register
    def _prove_positive(self, _why: Positive, relation: Relation) -> ProofTerm:
        if relation.operator not in ("<", ">"):
            raise Rejected(f"Positive proves a strict inequality, but the claim states {relation.operator}")
        return Sign(relation.slack, is_strict=True)

    @link.register
    def _prove_square(self, why: Squared, relation: Relation) -> ProofTerm:
        require_ordering(relation)
        return Square(why.length, why.bound, self.combine(why.bound - why.length, why.terms))

    @link.register
    def _prove_products(self, why: Products, relation: Relation) -> ProofTerm:
        require_ordering(relation)
        meanings = dict(why.scalars)
        factors = []
        for name, fact in why.facts.items():
            body = None
            if not isinstance(fact, CauchySchwarz):
                body = self.combine(sp.expand(fact.slack).xreplace(meanings), fact.terms)
            factors.append(Factor(name, fact.slack, body))
        scalars = tuple(Scalar(symbol, meaning) for symbol, meaning in meanings.items())
        products = tuple(ProductOfFactors(part.coefficient, tuple(part.facts)) for part in why.parts)
        return Multiply(relation.slack, scalars, tuple(factors), tuple(why.divided_by), products)
