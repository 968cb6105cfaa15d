"""Inequalities between numbers that are shown first, by which signs are decided later."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import sympy as sp

from fedtheory.kernel import Rejected
from fedtheory.kernel.expressions import Expr
from fedtheory.proofs.terms.context import TermContext
from fedtheory.proofs.terms.proved import Proved
from fedtheory.proofs.terms.term import ProofTerm


@dataclass(frozen=True)
class Know(ProofTerm):
    """A proof with further conditions, each of which is shown."""

    rule: ClassVar[str] = "know"
    inequalities: tuple[ProofTerm, ...]
    body: ProofTerm

    def check(self, context: TermContext) -> Proved:
        """Check each inequality with those before it as conditions, then the body with all."""
        if context.place != "run":
            raise Rejected("inequalities between numbers are shown on the whole run")
        for one in self.inequalities:
            context = replace(context, conditions=(*context.conditions, *_conditions_of(one.check(context))))
        return self.body.check(context)

    def explain(self) -> str:
        """Say what is shown first."""
        return "first the numbers by which signs are decided, then the rest"


def _conditions_of(proved: Proved) -> tuple[Expr, ...]:
    """A proved relation as conditions: with each symbol that stands alone on the larger side, or against zero."""
    shown = proved.expression
    if proved.is_equation:
        return (sp.Eq(shown, 0, evaluate=False),)
    alone = [symbol for symbol in sorted(shown.free_symbols, key=str) if not (shown - symbol).has(symbol)]
    bounds = (sp.Le(symbol - shown, symbol, evaluate=False) for symbol in alone)
    return (*bounds, sp.Ge(shown, 0, evaluate=False))
