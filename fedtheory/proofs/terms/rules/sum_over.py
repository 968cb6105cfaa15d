"""Rule: a relation about each client, local step or round is multiplied by weights and added up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import sympy as sp

from fedtheory.kernel import Rejected
from fedtheory.kernel.expressions import Average, ClientSum, Expr, LocalSum
from fedtheory.language import quantities as q
from fedtheory.proofs.terms.context import TermContext
from fedtheory.proofs.terms.indexed import ROUND, STEP, RangeSum
from fedtheory.proofs.terms.places import enter_step
from fedtheory.proofs.terms.proved import Proved
from fedtheory.proofs.terms.term import Formula, ProofTerm

Over = Literal["clients", "numbers of clients", "steps of a client", "steps", "rounds"]
"""Index of a sum: clients, with their weights; clients, for numbers without weights; the local steps of a client, in
a statement about a round; the steps of any round of a run; the rounds of a run."""


@dataclass(frozen=True)
class SumOver(ProofTerm):
    """The sum over an index of a weight times the conclusion for each of its values."""

    rule: ClassVar[str] = "sum"
    over: Over
    weight: Formula
    body: ProofTerm

    def check(self, context: TermContext) -> Proved:
        """Check the body for any value of the index, and the sign of the weight."""
        if self.over in ("clients", "steps of a client", "numbers of clients"):
            return self._check_here(context)
        if self.weight != 1:
            raise Rejected(f"a sum over {self.over} has the weight one, got {self.weight}")
        if self.over == "rounds":
            return self._check_rounds(context)
        inside = enter_step(context)
        proved = self.body.check(inside)
        found = context.process.write_indexed(proved.expression, inside.index)
        return Proved(RangeSum(found, STEP, sp.S.Zero, context.process.steps), proved.comparison)

    def _check_here(self, context: TermContext) -> Proved:
        if self.over == "steps of a client":
            _require_any_step(context)
        proved = self.body.check(context)
        weigh = context.require_number if proved.is_equation else context.require_nonnegative
        found = self._sum(weigh(self.weight), proved.expression, context)
        if self.over != "numbers of clients":
            context.require_expression(found)
        return Proved(found, ">=" if proved.comparison == ">" else proved.comparison)

    def _sum(self, weight: Expr, expression: Expr, context: TermContext) -> Expr:
        if self.over == "numbers of clients":
            if context.vectors is not None:
                raise Rejected("numbers of clients are added up on the whole run")
            return context.numbers.sum_over_clients(weight * expression).xreplace(
                {ClientSum(sp.S.One): context.symbols(q.clients)}
            )
        if context.vectors is None:
            raise Rejected(f"vectors are summed over {self.over} at a local step or round, not on the whole run")
        return Average(weight * expression) if self.over == "clients" else LocalSum(weight * expression)

    def _check_rounds(self, context: TermContext) -> Proved:
        if context.place != "run":
            raise Rejected("rounds are summed over on the whole run")
        context.process.require_steps()
        proved = self.body.check(context)
        if context.process.depends_on(proved.expression, STEP):
            raise Rejected("the relation is about a local step, and is summed over rounds")
        return Proved(RangeSum(proved.expression, ROUND, sp.S.Zero, context.process.rounds), proved.comparison)


def _require_any_step(context: TermContext) -> None:
    """Raise `Rejected` if the context has facts on the present step that other steps of a client need not satisfy."""
    first = context.numbers.at_least.get(context.index, 0)
    if context.place in ("induction", "start") or context.hypotheses or first != 0:
        raise Rejected("expected a relation at every step of a client, got one at the present step alone")
