"""Rule: a relation about the models after any number of steps of a round holds after its last step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from fedtheory.proofs.terms.context import TermContext
from fedtheory.proofs.terms.indexed import STEP
from fedtheory.proofs.terms.places import enter_models
from fedtheory.proofs.terms.proved import Proved
from fedtheory.proofs.terms.term import ProofTerm


@dataclass(frozen=True)
class AfterSteps(ProofTerm):
    """An instance of a relation after the last step of a round."""

    rule: ClassVar[str] = "after the last step"
    body: ProofTerm

    def check(self, context: TermContext) -> Proved:
        """Check the body for any number of steps, and substitute the number of all."""
        inside, process = enter_models(context), context.process
        proved = self.body.check(inside)
        written = process.write_indexed(proved.expression, inside.index)
        return Proved(process.substitute(written, STEP, process.steps), proved.comparison)
