"""Rule: an instance of a named inequality, of an assumption of the claim, or of a fact about quantities of a run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import sympy as sp

from fedtheory.kernel import InequalityRef, Rejected
from fedtheory.kernel.inequalities import subjects
from fedtheory.kernel.quotients import is_zero
from fedtheory.proofs.decoding import FACTS
from fedtheory.proofs.proof import check_assumed, check_defined
from fedtheory.proofs.terms.context import TermContext
from fedtheory.proofs.terms.proved import Proved
from fedtheory.proofs.terms.term import Formula, ProofTerm

FACT = "fact"
"""The kind of axiom that is a named fact about quantities of a run."""


@dataclass(frozen=True)
class Axiom(ProofTerm):
    """An inequality by its name, with its arguments: vectors, objectives, numbers and names."""

    rule: ClassVar[str] = "axiom"
    kind: str
    about: tuple[Formula | str, ...] = ()

    def check(self, context: TermContext) -> Proved:
        """Instantiate the inequality in the context."""
        if self.kind == FACT:
            return _check_fact(self, context)
        if context.vectors is None:
            raise Rejected(
                f"the inequality {self.kind!r} is about vectors: expected a claim about local steps, rounds or points"
            )
        _require_subjects(self)
        for one in self.about:
            if not isinstance(one, str):
                context.require_expression(one)
        found = InequalityRef(self.kind, self.about).instantiate(context.vectors)
        context.require_expression(found.expression)
        if found.requires != 0:
            context.require_nonnegative(found.requires)
        return Proved(found.expression)


def _require_subjects(axiom: Axiom) -> None:
    """Raise `Rejected` if an inequality has a wrong number or kind of arguments."""
    expected = subjects(axiom.kind)
    is_open = any(one.kind is one.VAR_POSITIONAL for one in expected)
    if not is_open and len(expected) != len(axiom.about):
        raise Rejected(f"{axiom.kind} takes {len(expected)} arguments, got {len(axiom.about)}")
    for one, given in zip(expected * len(axiom.about) if is_open else expected, axiom.about, strict=False):
        if isinstance(given, str) != (one.annotation == "str"):
            raise Rejected(f"{axiom.kind} expects {'a name' if one.annotation == 'str' else 'a formula'} as {one.name}")


def _check_fact(axiom: Axiom, context: TermContext) -> Proved:
    (name,) = axiom.about if len(axiom.about) == 1 else (None,)
    fact = FACTS.get(name) if isinstance(name, str) else None
    if fact is None:
        raise Rejected(f"there is no fact called {name!r}")
    if context.place != "run":
        raise Rejected("facts are about quantities of a run")
    context.require([check_assumed(context.claim, fact.needs, fact.name)])
    context.require([check_defined(context.claim, fact.quantities, fact.name)])
    where = fact.zero_condition(context.symbols)
    if where != 0 and not _is_known_zero(where, context):
        raise Rejected(f"{where} = 0 is not known")
    return Proved(fact.slack(context.symbols), "==" if fact.is_zero else ">=")


def _is_known_zero(number: sp.Expr, context: TermContext) -> bool:
    known = [one.lhs - one.rhs for one in context.conditions if isinstance(one, sp.Eq)]
    return any(is_zero(number - sign * one) for one in known for sign in (1, -1))
