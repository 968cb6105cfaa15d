"""Squares of inequalities between lengths."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import sympy as sp

from fedtheory.kernel import Context, Rejected, Step, Term, check, check_equal
from fedtheory.kernel.expressions import Expr, is_length
from fedtheory.language.claim import Relation
from fedtheory.proofs.proof import prefixed, require_ordering


@dataclass(frozen=True, kw_only=True)
class Squared:
    """Why a relation holds: it says that the square of a length is not larger than that of a bound on it."""

    length: Expr
    bound: Expr
    terms: Sequence[Term]
    """Terms whose sum is the slack of ``length <= bound``."""


def check_square(relation: Relation, squared: Squared, context: Context, conditions: Sequence[Expr]) -> Iterator[Step]:
    """Check that a length is bounded, and that the relation is between the squares."""
    require_ordering(relation)
    if not is_length(squared.length):
        raise Rejected(f"{squared.length} is not a length, and might be negative")
    yield from prefixed(
        "before it is squared: ", check(squared.length, squared.bound, squared.terms, context, conditions)
    )
    between = sp.expand(squared.bound**2 - squared.length**2)
    yield check_equal("the difference of the squares", sp.expand(relation.slack), between, context)
