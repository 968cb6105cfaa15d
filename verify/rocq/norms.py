"""Norms of vectors in proofs: norms of multiples of one vector are multiples of one number."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import sympy as sp

from fedtheory.kernel import Context
from fedtheory.kernel.expressions import Expr
from fedtheory.kernel.forms import Form, vector
from fedtheory.language.claim import Claim
from fedtheory.proofs.claim_context import build_context
from verify.rocq.terms import Term, is_own, text
from verify.rocq.vocabulary import CLIENTS


@dataclass(frozen=True)
class Same:
    """Equality of a vector's norm with a positive multiple of another norm, by which both are written."""

    name: str
    of: Term
    factor: Expr
    written: Term

    @property
    def fact(self) -> str:
        """Return the name of the fact, for client i if each client has one."""
        return f"({self.name} i Hi)" if is_own(self.of) else self.name


@dataclass
class Lengths:
    """The norms in a proof."""

    claim: Claim
    same: dict[str, Same] = field(default_factory=dict)
    """Equalities of norms that are written by another norm, by the text of the vector."""
    _known: list[tuple[Form, Term]] = field(default_factory=list)

    def of(self, expression: Expr, term: Term) -> tuple[Expr, Term]:
        """Return the factor between the norms of two parallel vectors, and the other vector."""
        form = vector(expression, self._context)
        factor, written = next(self._multiples(form), (None, None))
        if factor is None or written is None:
            self._known.append((form, term))
            return sp.S.One, term
        name = text(term, CLIENTS)
        if name != text(written, CLIENTS) and name not in self.same:
            self.same[name] = Same(f"same{len(self.same) + 1}", term, factor, written)
        return factor, written

    def rewriting(self, term: Term) -> str:
        """Return a tactic that rewrites the norm of a vector by the fact `known`."""
        found = self.same.get(text(term, CLIENTS))
        return "" if found is None else f"rewrite {found.fact} in known; "

    @property
    def _context(self) -> Context:
        return build_context(self.claim)

    def _multiples(self, form: Form) -> Iterator[tuple[Expr, Term]]:
        for other, term in self._known:
            ratios = _ratios(form, other)
            if len(ratios) == 1:
                (ratio,) = ratios
                yield (-ratio if ratio.could_extract_minus_sign() else ratio), term


def _ratios(form: Form, other: Form) -> set[Expr]:
    """Return the ratios of two vectors' coefficients; empty if they combine different vectors."""
    if form.keys() != other.keys():
        return set()
    return {sp.cancel(form[basis].expression / other[basis].expression) for basis in form}
