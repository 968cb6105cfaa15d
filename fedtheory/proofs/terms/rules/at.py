"""Rule: a relation about every round or step holds at one of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import sympy as sp

from fedtheory.kernel import Rejected
from fedtheory.proofs.terms.context import TermContext
from fedtheory.proofs.terms.indexed import ROUND, STEP
from fedtheory.proofs.terms.places import enter_end, enter_models, enter_step
from fedtheory.proofs.terms.proved import Proved
from fedtheory.proofs.terms.term import ProofTerm

Value = Literal["first step", "last step", "after the last step", "first round", "end of the run"]


@dataclass(frozen=True)
class At(ProofTerm):
    """An instance of a relation at a value of its index."""

    rule: ClassVar[str] = "at"
    value: Value
    body: ProofTerm

    def check(self, context: TermContext) -> Proved:
        """Check the body for any value of the index in its range, and substitute the value."""
        process = context.process
        if self.value == "first round":
            return self._at_first_round(context)
        if self.value == "end of the run":
            inside, index, value = enter_end(context), ROUND, process.rounds
        elif self.value == "after the last step":
            inside, index, value = enter_models(context), STEP, process.steps
        else:
            value = sp.S.Zero if self.value == "first step" else process.steps - 1
            inside, index = enter_step(context), STEP
        proved = self.body.check(inside)
        written = process.write_indexed(proved.expression, inside.index)
        return Proved(process.at(written, index, value), proved.comparison)

    def _at_first_round(self, context: TermContext) -> Proved:
        """Check the term at the first round of the run."""
        if context.place != "run":
            raise Rejected("the first round is one of a whole run")
        context.process.require_steps()
        proved = self.body.check(context)
        return Proved(
            context.process.at(context.process.unfold(proved.expression), ROUND, sp.S.Zero), proved.comparison
        )

    def explain(self) -> str:
        """State the value."""
        return f"at the {self.value}" if self.value != "after the last step" else self.value
