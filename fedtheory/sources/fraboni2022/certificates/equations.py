"""Certificates of equations that are facts, up to a factor."""

from __future__ import annotations

import sympy as sp

from fedtheory.kernel.expressions import Expr
from fedtheory.proofs.combination import Combination
from fedtheory.proofs.facts import Fact
from fedtheory.proofs.parts import AnyPremise, Part


def subtract(premise: AnyPremise, factor: Expr = sp.S.One) -> list[Part]:
    """Return the parts of an equation whose left side, a multiple of an expression that is zero, is subtracted."""
    return [Part(-factor, premise)]


def prove_by_facts(claim: str, *facts: Fact | tuple[Fact, Expr]) -> Combination:
    """Return the certificate of equations whose left sides are expressions that facts say are zero, or multiples."""
    links = [subtract(*fact) if isinstance(fact, tuple) else subtract(fact) for fact in facts]
    return Combination(claim=f"fraboni2022:{claim}", links=links)
