"""Rule: quantities of updates are replaced by their definitions in vectors."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from fedtheory.kernel import Rejected
from fedtheory.language.claim import Relation
from fedtheory.proofs.numbers import list_known_conditions
from fedtheory.proofs.paper_contexts import build_run_context, list_paper_step_conditions, write_in_vectors
from fedtheory.proofs.terms.context import TermContext
from fedtheory.proofs.terms.proved import Proved
from fedtheory.proofs.terms.term import Formula, ProofTerm


@dataclass(frozen=True)
class Unfold(ProofTerm):
    """A relation between quantities of a run, proved between inner products and values."""

    rule: ClassVar[str] = "unfold"
    smaller: Formula
    larger: Formula
    """Both sides in quantities of the run, including terms that cancel."""
    body: ProofTerm
    """The proof that their difference is non-negative, in vectors."""

    def check(self, context: TermContext) -> Proved:
        """Check the body in the context of the vectors, and that it proves the relation between the quantities."""
        if context.place != "run":
            raise Rejected("quantities of a run are unfolded on the whole run")
        relation = Relation(self.smaller, "<=", self.larger)
        for side in relation.sides:
            context.require_expression(side)
        vectors = build_run_context(context.claim, relation)
        claim = context.claim
        known = (*claim.conditions, *list_known_conditions(claim), *list_paper_step_conditions(claim))
        inside = replace(context, place="updates", numbers=vectors.numbers, conditions=known, vectors=vectors)
        measured = write_in_vectors(context.claim, relation).slack
        return Proved(self.larger - self.smaller, inside.require_proof(self.body, measured, "in vectors").comparison)
