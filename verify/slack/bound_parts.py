"""Parts of a bound: the whole right side, and each of its terms.

The part needed of a term is a bound as well: the left side minus all other terms is at most that term. Its ratio on a
run is the attained ratio of the term.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import sympy as sp

from fedtheory.kernel.expressions import Expr
from fedtheory.language.claim import Claim

WHOLE = "whole"


@dataclass(frozen=True, eq=False)
class Part:
    """The right side of a bound, or one of its terms."""

    name: str
    """`WHOLE`, or the index of the term, counted from 1."""
    expression: Expr
    claim: Claim
    """The left side minus the other terms is at most this part."""
    bound: Claim

    @property
    def constant(self) -> Expr:
        """Return the number in front of the part."""
        return self.expression.as_coeff_Mul()[0]

    def scaled(self, factor: Expr) -> Claim:
        """Return the bound with this part multiplied by a factor."""
        main = self.bound.relations[0]
        return _build_claim(self.bound, main.left, main.right - self.expression + factor * self.expression)


def has_parts(claim: Claim) -> bool:
    """Return whether a claim is a single upper bound, which has parts."""
    links = claim.relations
    return claim.rate is None and not claim.for_all and len(links) == 1 and links[0].operator == "<="


def bound_of(claim: Claim) -> Part:
    """Return the right side of a claim, the first one if it has several."""
    return Part(WHOLE, claim.relations[0].right, claim, claim)


def list_parts(claim: Claim) -> list[Part]:
    """Return the right side of an upper bound, and its terms if it has several; subtracted terms are no parts."""
    left, right = claim.relations[0].left, claim.relations[0].right
    whole = bound_of(claim)
    terms = list(_list_terms(right))
    if len(terms) == 1:
        return [whole]
    numbered = ((n, term) for n, term in enumerate(terms, start=1) if not term.could_extract_minus_sign())
    return [whole, *(Part(str(n), t, _build_claim(claim, left - right + t, t), claim) for n, t in numbered)]


def select_lowerable_parts(claim: Claim) -> list[Part]:
    """Select the parts with a constant to lower: the terms, or the right side if it is one term."""
    return list_parts(claim)[1:] or list_parts(claim)


def with_constants(claim: Claim, constants: Mapping[str, Expr]) -> Claim:
    """Return a bound as the sum of its terms, with other numbers in front of the named parts."""
    left, right = claim.relations[0].sides
    terms = list(_list_terms(right))
    names = (WHOLE,) if len(terms) == 1 else map(str, range(1, len(terms) + 1))
    numbered = ((term, *term.as_coeff_Mul(), constants.get(name)) for name, term in zip(names, terms, strict=False))
    return _build_claim(claim, left, sp.Add(*(t if new is None else new * rest for t, _, rest, new in numbered)))


def _build_claim(claim: Claim, left: Expr, right: Expr) -> Claim:
    """Return a claim with other sides under the same assumptions and conditions."""
    sides = {"lhs": sp.expand_mul(left, deep=False), "rhs": right, "where": {**claim.where, **claim.notation}}
    return replace(claim, chain=(), also=(), printed=None, verdict=None, **sides)


def _list_terms(right: Expr) -> Iterator[Expr]:
    """Yield the summands; a product is expanded over a factor whose summands all have their own symbol."""
    for addend in sp.Add.make_args(right):
        split = next((factor for factor in sp.Mul.make_args(addend) if _is_of_parts(factor)), None)
        yield from (addend,) if split is None else (addend / split * part for part in split.args)


def _is_of_parts(factor: Expr) -> bool:
    if not isinstance(factor, sp.Add):
        return False
    symbols = [addend.free_symbols for addend in factor.args]
    return all(own.difference(*symbols[:n], *symbols[n + 1 :]) for n, own in enumerate(symbols))
