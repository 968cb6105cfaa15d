"""A bound on what changes from local step to local step, by induction over the steps of a round."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import sympy as sp

from fedtheory.kernel import Rejected
from fedtheory.kernel.expressions import Average, Expr, norm_sq
from fedtheory.language import quantities as q
from fedtheory.proofs.distances import DISPLACEMENT, PAIR, SPREAD, Measure
from fedtheory.proofs.terms.context import TermContext
from fedtheory.proofs.terms.places import at_start, numbers_at_steps
from fedtheory.proofs.terms.proved import Proved
from fedtheory.proofs.terms.term import Formula, ProofTerm

Distance = Literal["pair", "spread", "displacement"]
"""Name of a squared distance of clients inside a round."""
MEASURES: Mapping[Distance, Measure] = {"pair": PAIR, "spread": SPREAD, "displacement": DISPLACEMENT}
"""These distances by their names."""
HYPOTHESIS = "induction"
"""The name of the hypothesis of an induction."""


@dataclass(frozen=True)
class InductDrift(ProofTerm):
    """A bound on the drift after any number of local steps, from one on a distance of clients."""

    rule: ClassVar[str] = "induct on the drift"
    measure: Distance
    drift: Literal["largest", "mean"]
    """Whether the drift of each client is bounded, or the average over the clients."""
    bound: Formula
    """The bound on the distance, by the number of steps taken."""
    base: ProofTerm
    """Shows it where all clients are at the server's model."""
    step: ProofTerm
    """Shows it after a step, from the hypothesis that it holds before."""
    first: ProofTerm | None = None
    """Shows it after the first step, if the hypothesis is used from then on only."""

    def check(self, context: TermContext) -> Proved:
        """Check base and step, and return the bound on the drift that they show."""
        if context.place not in ("step", "models") or context.reading != "expectation":
            raise Rejected("the drift is bounded at the steps of a run, in expectation")
        measure, claim, index = MEASURES[self.measure], context.claim, context.index
        context.process.require_steps()
        context.require_assumed(measure.needs, "the drift from the distance of two clients")
        self._require_bound(context)
        before, after = measure.before(claim), measure.after(claim)
        self._check_start(context, measure)
        stepping = _stepping(context, measure, 0 if self.first is None else 1, self.bound - before)
        shown = self.step.check(stepping)
        later = self.bound.xreplace({index: index + 1}) - after
        stepping.require_zero([(sp.S.One, shown.expression), (sp.S.NegativeOne, later)], "the bound after the step")
        return Proved(self._conclude(context, measure))

    def _require_bound(self, context: TermContext) -> None:
        """Raise `Rejected` where the bound is no number that all clients and rounds share."""
        numbers = numbers_at_steps(context)
        number = numbers.plain(self.bound)
        context.require_expression(self.bound)
        if not context.process.is_fixed(number.xreplace({context.index: sp.S.One})):
            raise Rejected(f"{self.bound} is not the same for all rounds")

    def _check_start(self, context: TermContext, measure: Measure) -> None:
        claim, index = context.claim, context.index
        begun = _starting(context, measure)
        base = self.base.check(begun)
        goal = at_start(self.bound, index) - measure.before(claim)
        begun.require_zero([(sp.S.One, base.expression), (sp.S.NegativeOne, goal)], "the bound at the start")
        if self.first is not None:
            once = self.first.check(begun)
            goal = self.bound.xreplace({index: sp.S.One}) - measure.after(claim)
            begun.require_zero([(sp.S.One, once.expression), (sp.S.NegativeOne, goal)], "the bound after one step")
        elif not measure.observes_together:
            raise Rejected("clients step from one point with gradients at other points: expected the first step")

    def _conclude(self, context: TermContext, measure: Measure) -> Expr:
        clients, symbol = context.symbols(q.clients), context.symbols
        each = norm_sq(symbol(q.local_iterate) - symbol(q.average_iterate))
        if self.drift == "mean":
            return measure.mean_drift(clients) * self.bound - Average(each)
        if measure.largest_drift is None:
            raise Rejected("a client average does not bound a single client")
        return measure.largest_drift(clients) * self.bound - each

    def explain(self) -> str:
        """State the bound."""
        words = {
            "pair": "two clients",
            "spread": "the clients from their average",
            "displacement": "the clients' moves",
        }
        return (
            f"by induction over the local steps, the squared distance of {words[self.measure]} is at most {self.bound}"
        )


def _context_of(context: TermContext, measure: Measure, first: int) -> TermContext:
    numbers = numbers_at_steps(context, first)
    vectors = measure.context(context.claim, numbers)
    conditions = tuple(context.claim.conditions)
    return replace(context, place="induction", numbers=numbers, conditions=conditions, vectors=vectors)


def _starting(context: TermContext, measure: Measure) -> TermContext:
    """The context where all clients are at the server's model."""
    here = _context_of(context, measure, 0)
    assert here.vectors is not None
    return replace(here, place="start", vectors=measure.together(context.claim, here.vectors))


def _stepping(context: TermContext, measure: Measure, first: int, hypothesis: Expr) -> TermContext:
    """The context of a step after a number of others, with the bound before it as hypothesis."""
    here = _context_of(context, measure, first)
    here = replace(here, conditions=(*here.conditions, context.index + 1 <= context.process.steps))
    return here.with_hypothesis(HYPOTHESIS, Proved(hypothesis))
