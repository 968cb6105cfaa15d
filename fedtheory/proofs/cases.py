"""Proofs by cases of a bound with a maximum: in each case another argument is the largest, which is a condition."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import sympy as sp

from fedtheory.kernel import Rejected
from fedtheory.kernel.expressions import Expr
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.proofs.numbers import numbers_of, symbols_of
from fedtheory.proofs.restatements import PlainCertificate, Squares
from fedtheory.proofs.run_terms import with_relations

CaseCertificate = PlainCertificate | Squares
"""Kinds of certificates of a single case."""


@dataclass(frozen=True)
class Case:
    """A proof for the case that one argument of a claim's maximum is the largest."""

    kind: ClassVar[str] = "case"
    largest: Expr
    why: CaseCertificate


@dataclass(frozen=True, kw_only=True)
class Cases:
    """A proof of a claim by a case for each argument of its maximum."""

    kind: ClassVar[str] = "cases"
    claim: str
    """Id of the claim."""
    cases: Sequence[Case]

    @property
    def relaxed(self) -> None:
        """None, because each case has its own conditions."""
        return None


def claims_of(claim: Claim, certificate: Cases) -> list[Claim]:
    """Return the claim in each case; raise `Rejected` unless the cases are those of its only maximum."""
    maxima = list_maxima(claim)
    if len(maxima) != 1:
        raise Rejected(f"expected a claim with one maximum in it, got {len(maxima)}")
    (maximum,) = maxima
    for argument in maximum.args:
        # If the arguments depend on the client, the largest one may be another for each client.
        if any(map(partial(_varies, claim), numbers_of(claim).plain(argument).free_symbols)):
            raise Rejected(f"{argument} differs between steps or updates, and so may the largest argument")
    if {case.largest for case in certificate.cases} != set(maximum.args):
        raise Rejected(f"expected a case for each argument of {maximum}")
    return [restrict_to_largest(claim, maximum, case.largest) for case in certificate.cases]


def _varies(claim: Claim, symbol: sp.Symbol) -> bool:
    """Return whether a number differs from local step to local step, or from update to update."""
    quantity = symbols_of(claim).quantity(symbol)
    return quantity is q.local_step_index or (isinstance(quantity, q.RunQuantity) and quantity.place != "run")


def list_maxima(claim: Claim) -> set[Expr]:
    """Return the maxima in the relations of a claim."""
    return set().union(*(relation.atoms(sp.Max) for relation in claim.relations))


def restrict_to_largest(claim: Claim, maximum: Expr, largest: Expr) -> Claim:
    """Restrict a claim to the case in which one argument of a maximum is the largest."""
    chosen = {maximum: largest}
    relations = [relation.transform(lambda side: side.xreplace(chosen)) for relation in claim.relations]
    smaller: list[Expr] = [other <= largest for other in maximum.args if other != largest]
    conditions = (*claim.conditions, *smaller)
    # The symbol of a quantity that is a whole side.
    return with_relations(claim, relations, conditions=conditions, where={**claim.where, **claim.notation})
