"""Rule: a bound on a squared distance after any number of local steps of a round, by induction over the steps."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import sympy as sp

from fedtheory.kernel import Context, Rejected
from fedtheory.kernel.expressions import Expr
from fedtheory.proofs.induction import (
    POWER,
    StepIndex,
    advance_distance,
    conditions_at_step,
    count_from,
    require_constant,
    require_round,
    restrict_to_start,
)
from fedtheory.proofs.terms.context import TermContext
from fedtheory.proofs.terms.proved import Proved
from fedtheory.proofs.terms.rules.induct import Goals, check_induction
from fedtheory.proofs.terms.term import Formula, ProofTerm


@dataclass(frozen=True)
class InductSteps(ProofTerm):
    """A bound on a distance of iterates at a step, or after it."""

    rule: ClassVar[str] = "induct on the steps"
    measured: Formula
    """The squared distance at the present step."""
    bound: Formula
    """The bound, as a function of the step index."""
    right: Formula
    """The bound in the notation of the conclusion."""
    is_next: bool
    """Whether the conclusion is about the iterates after the step."""
    base: ProofTerm
    """The proof at the start of the round."""
    step: ProofTerm
    """The proof after a step, from the hypothesis before it."""
    first: ProofTerm | None = None
    """The proof after the first step, if the hypothesis is used from then on only."""
    power_of: Formula | None = None
    """A number of at least one, whose power with the step index as exponent occurs in the bound."""

    def check(self, context: TermContext) -> Proved:
        """Check base and step, and that the conclusion is about the bounded distance."""
        if context.vectors is None or context.place not in ("step", "path", "round"):
            raise Rejected("an induction over the steps of a round is about vectors at each of them")
        counter = StepIndex(context.claim, self.power_of)
        require_round(context.claim)
        require_constant(self.bound, counter, context.vectors)
        if self.bound.has(POWER):
            raise Rejected("the bound has the power itself")
        if self.power_of is not None:
            context.require_nonnegative(self.power_of - 1)
        moved = advance_distance(context.claim, self.measured)
        goals = Goals(
            start=counter.evaluate_at_start(self.bound) - self.measured,
            first=counter.evaluate_at_start(self.bound.xreplace({counter.index: counter.index + 1})) - moved,
            now=counter.write_powers(self.bound) - self.measured,
            later=counter.advance(self.bound) - moved,
        )
        stepping = _enter_step(context, counter, 0 if self.first is None else 1)
        check_induction(self, _enter_start(context, counter), stepping, goals)
        return Proved(self._conclude(context, counter, moved))

    def _conclude(self, context: TermContext, counter: StepIndex, moved: Expr) -> Expr:
        """Return the slack of the bound that the induction shows."""
        ended = _enter_step(context, counter, 0)
        bound = counter.advance(self.bound) if self.is_next else counter.write_powers(self.bound)
        ended.require_expression(self.right)
        sides = [(sp.S.One, counter.write_powers(self.right)), (sp.S.NegativeOne, bound)]
        ended.require_zero(sides, "the bound of the conclusion")
        return self.right - (moved if self.is_next else self.measured)


def _enter_start(context: TermContext, counter: StepIndex) -> TermContext:
    """Return the context where all clients have the server's model."""
    assert context.vectors is not None
    vectors = restrict_to_start(context.claim, context.vectors, counter)
    return replace(
        context, place="start", numbers=vectors.numbers, vectors=vectors, write_powers=counter.evaluate_at_start
    )


def _enter_step(context: TermContext, counter: StepIndex, start: int) -> TermContext:
    """Return the context of a step after at least `start` others."""
    assert context.vectors is not None
    vectors: Context = count_from(counter, context.vectors, start)
    conditions = (*context.conditions, *conditions_at_step(counter, start))
    return replace(
        context,
        place="induction",
        numbers=vectors.numbers,
        conditions=conditions,
        vectors=vectors,
        write_powers=counter.write_powers,
    )
