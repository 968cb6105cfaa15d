"""Rule: a bound on the drift, by induction over the local steps of a round."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Literal, Protocol

import sympy as sp

from fedtheory.kernel import Rejected
from fedtheory.kernel.expressions import Average, Expr, norm_sq
from fedtheory.language import quantities as q
from fedtheory.proofs.decoding import MEASURES
from fedtheory.proofs.distances import PAIR, Measure
from fedtheory.proofs.terms.context import TermContext
from fedtheory.proofs.terms.places import numbers_at_steps
from fedtheory.proofs.terms.proved import Proved
from fedtheory.proofs.terms.term import Formula, ProofTerm

Distance = Literal["pair", "spread", "displacement", "loop pair"]
"""Name of a squared distance of clients inside a round."""
HYPOTHESIS = "induction"
"""The name of the hypothesis of an induction."""


@dataclass(frozen=True, kw_only=True)
class Goals:
    """The goals of an induction over steps, each a non-negative expression."""

    start: Expr
    first: Expr
    """The goal after the first step, from the start."""
    now: Expr
    """The hypothesis."""
    later: Expr
    """The goal after a further step."""


class Induction(Protocol):
    """A rule whose parts prove the goals of an induction."""

    @property
    def base(self) -> ProofTerm:
        """The proof of the goal at the start."""

    @property
    def step(self) -> ProofTerm:
        """The proof of the goal after a step, from the hypothesis before it."""

    @property
    def first(self) -> ProofTerm | None:
        """The proof of the goal after the first step, if the hypothesis is used from then on only."""


def check_induction(
    rule: Induction, at_start: TermContext, at_step: TermContext, goals: Goals, at_first_step: TermContext | None = None
) -> None:
    """Check the parts of an induction at the start, after the first step, and after later ones.

    The first step may start from another context than that of the goal at the start.
    """
    at_start.require_proof(rule.base, goals.start, "at the start")
    if rule.first is not None:
        (at_first_step or at_start).require_proof(rule.first, goals.first, "first step")
    at_step.with_hypothesis(HYPOTHESIS, Proved(goals.now)).require_proof(rule.step, goals.later, "one step")


@dataclass(frozen=True)
class InductDrift(ProofTerm):
    """A bound on the drift after any number of local steps, from one on a distance of clients."""

    rule: ClassVar[str] = "induct on the drift"
    measure: Distance
    drift: Literal["largest", "mean"]
    """Whether the drift of each client is bounded, or the average over the clients."""
    bound: Formula
    """The bound on the distance, as a function of the number of steps."""
    base: ProofTerm
    """The proof where all clients have the server's model."""
    step: ProofTerm
    """The proof after a step, from the hypothesis before it."""
    first: ProofTerm | None = None
    """The proof after the first step, if the hypothesis is used from then on only."""

    def check(self, context: TermContext) -> Proved:
        """Check base and step, and return the bound on the drift that they imply."""
        measure, claim, index = MEASURES[self.measure], context.claim, context.index
        places = measure.places
        if context.place not in places or context.reading != "expectation":
            raise Rejected(f"this drift is bounded in expectation, for {', '.join(places)}, not for {context.place}")
        context.process.require_steps()
        context.require_assumed(measure.needs, "the drift from the distance of two clients")
        self._require_bound(context)
        if self.first is None and not measure.observes_together:
            raise Rejected("clients step from one point with gradients at other points: expected the first step")
        before, after = measure.before(claim), measure.after(claim)
        goals = Goals(
            start=self.bound.xreplace({index: sp.S.Zero}) - before,
            first=self.bound.xreplace({index: sp.S.One}) - after,
            now=self.bound - before,
            later=self.bound.xreplace({index: index + 1}) - after,
        )
        at_step = _enter_step(context, measure, 0 if self.first is None else 1)
        # Clients of the loop have a common start before they evaluate gradients at other points.
        at_start = _enter_start(context, measure if measure.observes_together else PAIR)
        check_induction(self, at_start, at_step, goals, _enter_start(context, measure))
        return Proved(self._conclude(context, measure))

    def _require_bound(self, context: TermContext) -> None:
        """Raise `Rejected` if the bound depends on the client or the round."""
        numbers = numbers_at_steps(context)
        number = numbers.plain(self.bound)
        context.require_expression(self.bound)
        if not context.process.is_fixed(number.xreplace({context.index: sp.S.One})):
            raise Rejected(f"{self.bound} is not the same for all rounds")

    def _conclude(self, context: TermContext, measure: Measure) -> Expr:
        """Return the slack of the bound that the induction shows."""
        clients, symbol = context.symbols(q.clients), context.symbols
        each = norm_sq(symbol(q.local_iterate) - symbol(q.average_iterate))
        if self.drift == "mean":
            return measure.mean_drift(clients) * self.bound - Average(each)
        if measure.largest_drift is None:
            raise Rejected("a client average does not bound a single client")
        return measure.largest_drift(clients) * self.bound - each


def _enter_induction(context: TermContext, measure: Measure, first: int) -> TermContext:
    """Return the context of an induction over local steps."""
    numbers = numbers_at_steps(context, first)
    vectors = measure.context(context.claim, numbers)
    conditions = tuple(context.claim.conditions)
    return replace(context, place="induction", numbers=numbers, conditions=conditions, vectors=vectors)


def _enter_start(context: TermContext, measure: Measure) -> TermContext:
    """Return the context where all clients have the server's model."""
    here = _enter_induction(context, measure, 0)
    assert here.vectors is not None
    return replace(here, place="start", vectors=measure.together(context.claim, here.vectors))


def _enter_step(context: TermContext, measure: Measure, first: int) -> TermContext:
    """Return the context of a step after at least `first` others."""
    here = _enter_induction(context, measure, first)
    return replace(here, conditions=(*here.conditions, context.index + 1 <= context.process.steps))
