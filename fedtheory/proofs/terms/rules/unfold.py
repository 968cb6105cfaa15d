"""Quantities of updates as what they measure in vectors."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import sympy as sp

from fedtheory.kernel import Rejected
from fedtheory.language.claim import Relation
from fedtheory.proofs.numbers import list_known_conditions
from fedtheory.proofs.paper_contexts import build_run_context, paper_step_conditions, write_in_vectors
from fedtheory.proofs.terms.context import TermContext
from fedtheory.proofs.terms.proved import Proved
from fedtheory.proofs.terms.term import Formula, ProofTerm


@dataclass(frozen=True)
class Unfold(ProofTerm):
    """A relation between quantities of a run, proved between inner products and values."""

    rule: ClassVar[str] = "unfold"
    goal: Formula
    """The larger side minus the smaller one, in quantities of the run."""
    body: ProofTerm
    """Proves what the goal is in vectors."""

    def check(self, context: TermContext) -> Proved:
        """Check the body in the context of the vectors, and that it proves what the quantities measure."""
        if context.place != "run":
            raise Rejected("quantities of a run are unfolded on the whole run")
        context.require_expression(self.goal)
        relation = Relation(sp.S.Zero, "<=", self.goal)
        vectors = build_run_context(context.claim, relation)
        claim = context.claim
        known = (*claim.conditions, *list_known_conditions(claim), *paper_step_conditions(claim))
        inside = replace(context, place="updates", numbers=vectors.numbers, conditions=known, vectors=vectors)
        proved = self.body.check(inside)
        measured = write_in_vectors(context.claim, relation).slack
        sides = [(sp.S.One, proved.expression), (sp.S.NegativeOne, measured)]
        inside.require_zero(sides, "what the quantities measure")
        return Proved(self.goal, proved.comparison)

    def explain(self) -> str:
        """State the goal."""
        return f"{self.goal} is, in vectors"
