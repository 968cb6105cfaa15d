"""Rule: inequalities between numbers are proved first, and are then used to decide signs."""

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
    """A proof with further conditions, each of which is proved."""

    rule: ClassVar[str] = "know"
    inequalities: tuple[ProofTerm, ...]
    body: ProofTerm

    def check(self, context: TermContext) -> Proved:
        """Check each inequality with the previous ones as conditions, then the body with all of them."""
        if context.place != "run":
            raise Rejected("inequalities between numbers are shown on the whole run")
        for one in self.inequalities:
            context = replace(context, conditions=(*context.conditions, *_list_conditions(one.check(context))))
        return self.body.check(context)


def _list_conditions(proved: Proved) -> tuple[Expr, ...]:
    """Return a proved relation as conditions.

    Each symbol that is a single term is compared with the other terms, or the expression with zero.
    """
    shown = proved.expression
    if proved.is_equation:
        return (sp.Eq(shown, 0, evaluate=False),)
    alone = [symbol for symbol in sorted(shown.free_symbols, key=str) if not (shown - symbol).has(symbol)]
    bounds = (sp.Le(symbol - shown, symbol, evaluate=False) for symbol in alone)
    return (*bounds, sp.Ge(shown, 0, evaluate=False))
