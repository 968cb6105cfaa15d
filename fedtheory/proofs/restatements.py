"""Proofs of a bound from another one: with smaller powers, or between the squares of its sides."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import sympy as sp

from fedtheory.kernel import Numbers, Rejected, is_nonnegative
from fedtheory.kernel.admitted import list_denominator_factors, require_admitted, require_finite, require_nonzero
from fedtheory.kernel.expressions import Expr
from fedtheory.kernel.quotients import linear, reduce_fraction
from fedtheory.language.claim import Claim
from fedtheory.proofs.certificate import Certificate
from fedtheory.proofs.combination import Combination
from fedtheory.proofs.lyapunov import Lyapunov
from fedtheory.proofs.numbers import list_known_conditions, numbers_of
from fedtheory.proofs.proof import follows, require_ordering
from fedtheory.proofs.run_terms import with_relations

PlainCertificate = Lyapunov | Combination | Certificate
"""Kinds of certificates that may prove another claim."""


@dataclass(frozen=True, kw_only=True)
class _Restatement:
    """A proof of a claim from another claim, which its `restate` writes."""

    claim: str
    """Id of the claim."""
    why: PlainCertificate
    """The proof of the other claim."""
    given: Sequence[sp.Rel] = ()
    """Conditions that follow from the claim's, by which signs are decided, such as eta <= 1/L for L eta <= 1."""

    @property
    def relaxed(self) -> None:
        """None, because the proof of the other claim has its own conditions."""
        return None


@dataclass(frozen=True, kw_only=True)
class Powers(_Restatement):
    """A proof of a claim about a run with exponentials exp(-a n) or powers b^n, from one with smaller powers."""

    kind: ClassVar[str] = "powers"
    count: Expr
    """The number n, a product of counts such as local steps and rounds."""
    base: Expr | None = None
    """The base of the smaller powers; None for 1 - a in place of each exp(-a n)."""

    @property
    def label(self) -> str:
        """Statement that is proved in place of the claim."""
        return f"with ({'1 - a' if self.base is None else self.base})**({self.count}) for larger powers or exponentials"

    def restate(self, claim: Claim) -> Claim:
        """Return the claim with smaller powers; raise `Rejected` unless its slack increases with each of them."""
        bases = self._find_bases(claim)
        if claim.place != "run" or claim.rate is not None or not bases:
            raise Rejected("expected a bound on a run with exponentials or powers of the number of steps in it")
        found = {one: base if self.base is None else self.base for one, base in bases.items()}
        signs = SignsOfClaim.from_claim(claim, self.given)
        stated = _replace(claim, {one: base**self.count for one, base in found.items()}, signs)
        symbols = self.count.free_symbols
        if not symbols or sp.Mul(*symbols) != self.count or not symbols <= signs.numbers.integer:
            raise Rejected(f"expected a product of counts of the claim, got {self.count}")
        for one, base in found.items():
            signs.require_nonnegative(base, f"the base of a power for {one}")
            signs.require_nonnegative(bases[one] - base, f"the difference of the bases for {one}")
        slopes = (slope for relation in claim.relations for slope in find_slopes(relation.slack, list(bases)))
        for slope in slopes:
            signs.require_nonnegative(slope, "the factor of an exponential or power")
        return stated

    def _find_bases(self, claim: Claim) -> dict[Expr, Expr]:
        """Return the largest base whose power is at most each exponential, or each power if a base is given."""
        parts = sorted(list_exponentials(claim), key=sp.default_sort_key)
        bases = {one: 1 + reduce_fraction(one.args[0] / self.count) for one in parts}
        if self.base is not None:
            powers = set().union(*(relation.atoms(sp.Pow) for relation in claim.relations))
            bases |= {one: one.base for one in sorted(powers, key=sp.default_sort_key) if one.exp == self.count}
        return bases


@dataclass(frozen=True, kw_only=True)
class Squares(_Restatement):
    """A proof of a bound with square roots, from the bound between the squares of its sides."""

    kind: ClassVar[str] = "squares"
    label: ClassVar[str] = "between the squares of both sides"

    def restate(self, claim: Claim) -> Claim:
        """Return the claim between squares; raise `Rejected` unless each larger side is a product without a sign.

        Sides are numbers, also where they are norms of random vectors: an expectation has to be written.
        """
        squares = {side: sp.expand(side**2) for relation in claim.relations for side in relation.sides}
        signs = SignsOfClaim.from_claim(claim, self.given)
        stated = _replace(claim, squares, signs)
        for relation in claim.relations:
            _, larger = relation.ordered
            for factor in sp.Mul.make_args(larger):
                if not (factor.is_Pow and factor.exp == sp.Rational(1, 2)):
                    signs.require_nonnegative(factor, "a factor of the larger side")
        return stated


def list_exponentials(claim: Claim) -> set[Expr]:
    """Return the exponentials in the relations of a claim."""
    return set().union(*(relation.atoms(sp.exp) for relation in claim.relations))


def _replace(claim: Claim, other: Mapping[Expr, Expr], signs: SignsOfClaim) -> Claim:
    """Return a claim of non-strict bounds with other sides, or other parts of its sides.

    A quantity that a statement names is supposed to exist, and one that it divides by is supposed to be non-zero: the
    other claim may name and divide by nothing else.
    """
    for relation in claim.relations:
        require_ordering(relation)
    relations = [relation.transform(lambda side: side.xreplace(other)) for relation in claim.relations]
    sides = [side for relation in relations for side in relation.sides]
    unnamed = _list_unnamed(sides, claim)
    if unnamed:
        raise Rejected(f"{', '.join(unnamed)} is in the other claim, and not in the claim")
    require_nonzero(list_denominator_factors(sides), signs.numbers, signs.conditions)
    # The symbol of a quantity that is a whole side keeps its meaning.
    return with_relations(claim, relations, where={**claim.where, **claim.notation})


@dataclass(frozen=True)
class SignsOfClaim:
    """The numbers of a claim, and the conditions on them."""

    numbers: Numbers
    conditions: Sequence[Expr]

    @classmethod
    def from_claim(cls, claim: Claim, given: Sequence[Expr]) -> SignsOfClaim:
        """Return the numbers and conditions of a claim, with those given conditions that follow from its own."""
        derived = [one for one in given if not _list_unnamed([one], claim) and follows(one, claim)]
        return cls(numbers_of(claim), (*claim.conditions, *derived, *list_known_conditions(claim)))

    def require_nonnegative(self, number: Expr, what: str) -> None:
        """Raise `Rejected` for a number that is not shown to be finite and non-negative."""
        require_admitted(number)
        require_finite([number], self.numbers, self.conditions)
        if not is_nonnegative(self.numbers.plain(number), self.numbers, self.conditions):
            raise Rejected(f"({number}) >= 0, {what}, is not shown under the conditions")


def _list_unnamed(expressions: Iterable[Expr], claim: Claim) -> list[str]:
    """Return the symbols in expressions that a claim does not name."""
    used = set().union(*(one.free_symbols for one in expressions))
    return sorted(map(str, used - claim.notation.keys() - claim.for_all.keys()))


def find_slopes(slack: Expr, powers: Sequence[Expr]) -> Sequence[Expr]:
    """Return the factor of each exponential or power in a slack; raise `Rejected` if it is not linear in them."""
    symbols = {one: sp.Dummy(real=True) for one in powers}
    coefficients, _ = linear(slack.xreplace(symbols), symbols.values())
    return [coefficients[symbol] for symbol in symbols.values()]
