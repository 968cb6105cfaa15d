"""Proofs of bounds with exponentials exp(-a n), by the powers (1 - a)^n, which are at most as large."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import sympy as sp

from fedtheory.kernel import Numbers, Rejected, is_nonnegative
from fedtheory.kernel.admitted import require_admitted, require_finite
from fedtheory.kernel.expressions import Expr
from fedtheory.kernel.quotients import linear
from fedtheory.language.claim import Claim
from fedtheory.proofs.cases import CaseCertificate
from fedtheory.proofs.numbers import list_known_conditions, numbers_of
from fedtheory.proofs.proof import follows, require_ordering
from fedtheory.proofs.run_terms import with_relations


@dataclass(frozen=True, kw_only=True)
class Exponentials:
    """A proof of a claim about a run with exponentials, from the claim with powers in their place."""

    kind: ClassVar[str] = "exponentials"
    claim: str
    """Id of the claim."""
    count: Expr
    """The number n, a product of counts such as local steps and rounds."""
    why: CaseCertificate
    """The proof of the claim with powers."""
    given: Sequence[sp.Rel] = ()
    """Conditions that follow from the claim's, by which signs are decided, such as eta <= 1/L for L eta <= 1."""

    @property
    def relaxed(self) -> None:
        """None, because the proof of the claim with powers has its own conditions."""
        return None


def write_powers(claim: Claim, certificate: Exponentials) -> Claim:
    """Return a claim with (1 - a)^n for each exp(-a n); raise `Rejected` unless the claim follows from it.

    It follows if a <= 1 and if the slack does not decrease with the exponential.
    """
    count = certificate.count
    exponentials = sorted(list_exponentials(claim), key=sp.default_sort_key)
    if claim.place != "run" or claim.rate is not None or not exponentials:
        raise Rejected("expected a bound on a run with exponentials in it")
    bases = {one: 1 + sp.cancel(one.args[0] / count) for one in exponentials}
    powers = {one: base**count for one, base in bases.items()}
    relations = [one.transform(lambda side: side.xreplace(powers)) for one in claim.relations]
    # The symbol of a quantity that is a whole side keeps its meaning.
    stated = with_relations(claim, relations, where={**claim.where, **claim.notation})
    numbers = numbers_of(stated)
    derived = [one for one in certificate.given if follows(one, stated)]
    conditions = (*claim.conditions, *derived, *list_known_conditions(stated))
    if not count.free_symbols or sp.Mul(*count.free_symbols) != count or not count.free_symbols <= numbers.integer:
        raise Rejected(f"expected a product of counts of the claim, got {count}")
    for base in bases.values():
        require_admitted(base)
        require_finite([base], numbers, conditions)
        if not is_nonnegative(numbers.plain(base), numbers, conditions):
            raise Rejected(f"{base} may be negative, so that its power may be larger than the exponential")
    _require_increasing(claim, exponentials, numbers, conditions)
    return stated


def list_exponentials(claim: Claim) -> set[Expr]:
    """Return the exponentials in the relations of a claim."""
    return set().union(*(relation.atoms(sp.exp) for relation in claim.relations))


def _require_increasing(
    claim: Claim, exponentials: Sequence[Expr], numbers: Numbers, conditions: Sequence[Expr]
) -> None:
    """Raise `Rejected` unless each slack is linear in the exponentials, with non-negative coefficients."""
    symbols = {one: sp.Dummy(real=True) for one in exponentials}
    for relation in claim.relations:
        require_ordering(relation)
        coefficients, _ = linear(relation.slack.xreplace(symbols), symbols.values())
        for one, symbol in symbols.items():
            factor = numbers.plain(coefficients[symbol])
            require_finite([factor], numbers, conditions)
            if not is_nonnegative(factor, numbers, conditions):
                raise Rejected(f"({factor}) >= 0, by which {one} is multiplied, is not shown under the conditions")
