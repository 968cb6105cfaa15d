"""Rule: a relation follows from a proved claim by a law of the process, from the kernel's table of derivations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from fedtheory.kernel import Rejected
from fedtheory.kernel.admitted import require_finite
from fedtheory.proofs.decoding import DERIVED
from fedtheory.proofs.derived_relation import Derived
from fedtheory.proofs.numbers import symbols_of
from fedtheory.proofs.proof import use_lemma
from fedtheory.proofs.terms.context import TermContext
from fedtheory.proofs.terms.proved import Proved
from fedtheory.proofs.terms.rules.use import require_relation, write_in_symbols
from fedtheory.proofs.terms.term import ProofTerm

LAWS: Mapping[str, type[Derived]] = {law.kind: law for law in DERIVED if law is not Derived}
"""Laws by their names: sums over updates, windows and rounds, and relations at the ends of a round."""


@dataclass(frozen=True)
class Consequence(ProofTerm):
    """One relation of a proved claim, transformed by a law."""

    rule: ClassVar[str] = "consequence"
    law: str
    claim: str
    link: int = 0

    def check(self, context: TermContext) -> Proved:
        """Check that the claim is proved and the law applies, and return the transformed slack."""
        if self.law not in LAWS:
            raise Rejected(f"there is no law called {self.law!r}")
        if context.place != "run":
            raise Rejected("a law of the process gives relations about whole runs")
        law = LAWS[self.law](self.claim, self.link)
        proof = context.prove(self.claim).rename_for(context.claim)
        premise, relation = proof.statement, require_relation(proof, self.link)
        context.require(use_lemma(context.claim, proof, context.conditions, relation))
        if premise.place != law.place:
            raise Rejected(f"the law is about the place {law.place!r}, and {premise.id} about {premise.place!r}")
        context.require_assumed(law.needs, f"the law of {law.label}")
        symbol = symbols_of(premise)
        found = law.derive(symbol, premise.relations)
        for required in law.requires(symbol, relation.slack):
            context.require_nonnegative(write_in_symbols(context, premise, required))
        require_finite([found], context.numbers, context.conditions)
        is_equation = relation.operator == "==" and law.keeps_equations
        return Proved(write_in_symbols(context, premise, found), "==" if is_equation else ">=")
