"""Quantities of updates as what they measure in vectors."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from fedtheory.kernel import Rejected
from fedtheory.language.claim import Relation
from fedtheory.proofs.numbers import list_known_conditions
from fedtheory.proofs.paper_contexts import build_run_context, paper_step_conditions, write_in_vectors
from fedtheory.proofs.proof import check_defined
from fedtheory.proofs.terms.context import TermContext
from fedtheory.proofs.terms.proved import Proved
from fedtheory.proofs.terms.term import Formula, ProofTerm


@dataclass(frozen=True)
class Unfold(ProofTerm):
    """A relation between quantities of a run, proved between inner products and values."""

    rule: ClassVar[str] = "unfold"
    smaller: Formula
    larger: Formula
    """Both sides in quantities of the run, with those that cancel."""
    body: ProofTerm
    """Proves what their difference is in vectors."""

    def check(self, context: TermContext) -> Proved:
        """Check the body in the context of the vectors, and that it proves what the quantities measure."""
        if context.place != "run":
            raise Rejected("quantities of a run are unfolded on the whole run")
        relation = Relation(self.smaller, "<=", self.larger)
        for side in relation.sides:
            context.require_expression(side)
        others = (relation.left.free_symbols | relation.right.free_symbols) - context.claim.notation.keys()
        # What the statement has exists where it says something; of other quantities the vectors need not exist.
        found = {context.process.quantity_of(symbol) for symbol in others}
        needed = frozenset(one for one in found if one is not None)
        context.require([check_defined(context.claim, needed, "the quantities of the relation")])
        vectors = build_run_context(context.claim, relation)
        claim = context.claim
        known = (*claim.conditions, *list_known_conditions(claim), *paper_step_conditions(claim))
        inside = replace(context, place="updates", numbers=vectors.numbers, conditions=known, vectors=vectors)
        measured = write_in_vectors(context.claim, relation).slack
        return Proved(self.larger - self.smaller, inside.require_proof(self.body, measured, "in vectors").comparison)

    def explain(self) -> str:
        """State the relation."""
        return f"{self.smaller} <= {self.larger}, in vectors"
