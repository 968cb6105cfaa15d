"""The inequalities that a context has at the points of a statement."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations

import sympy as sp

from fedtheory.kernel import (
    Context,
    InequalityRef,
    Rejected,
    Term,
    assumption,
    cocoercivity,
    composed,
    convexity,
    lipschitz_gradient,
    one,
    optimality,
    scalar,
    smoothness,
    strong_convexity,
    vector,
)
from fedtheory.kernel.expressions import Expr, Gradient, Value, parts_of
from fedtheory.kernel.indices import differs
from fedtheory.kernel.quotients import Quotient
from fedtheory.kernel.work import spend
from fedtheory.language.claim import Relation
from fedtheory.search.blocks import Blocks, split_form, with_means


@dataclass(frozen=True)
class Candidate:
    """A named inequality, and its blocks."""

    reason: InequalityRef
    averaged: bool
    blocks: Blocks

    def term(self, coefficient: Quotient) -> Term:
        """The candidate times a coefficient, as a term of a certificate."""
        return Term(coefficient.expression, self.reason, averaged=self.averaged)


def find_candidates(context: Context, monomials: Sequence[Expr], relation: Relation) -> Iterator[Candidate]:
    """The inequalities that a context has at the points of a statement."""
    about = [part for each in (*monomials, *relation.sides) for part in parts_of(each, Gradient, Value)]
    named = {part.args[0] for part in about}
    named |= {mean for mean, of in context.means.items() if of in named}
    if (
        not any(differs(part.args[1], context) for part in about)
        and not relation.free_symbols & context.client_objectives
    ):
        named -= context.client_objectives
    objectives = sorted(named, key=str)
    points = {part.args[1] for part in about}
    points |= {at for f, at in context.minimisers.items() if f in context.objectives & named}
    points |= {symbol for symbol in relation.free_symbols & context.visited if symbol not in context.definitions}
    forms = {with_means(composed(vector(point, context)), context) for point in points}
    ordered = sorted(forms, key=sp.default_sort_key)
    reasons = [one(), *(assumption(name) for name in context.assumed)]
    for f in objectives:
        # What holds of each client's objective, averaged, says at least as much of their mean.
        is_implied = context.means.get(f) in named and context.smooth.get(f) == context.smooth.get(context.means[f])
        reasons += [] if is_implied else _reasons(context, f, ordered)
        reasons += _optimality(context, f, ordered)
    for reason in reasons:
        spend(5000)
        try:
            expression = reason.instantiate(context).expression
            averaged = differs(expression, context)
            term = Term(sp.S.One, reason, averaged=averaged)
            yield Candidate(
                reason, averaged, split_form(scalar(term.whole(reason.instantiate(context)), context), context)
            )
        except Rejected:
            continue


def _reasons(context: Context, f: sp.Symbol, points: Sequence[Expr]) -> Iterator[InequalityRef]:
    for at, around in permutations(points, 2):
        if f in context.strongly_convex:
            yield strong_convexity(f, at, around)
        if f in context.smooth and f in context.convex:
            yield cocoercivity(f, at, around)
        elif f in context.convex:
            yield convexity(f, at, around)
        if f in context.smooth:
            yield smoothness(f, at, around)
        if f in context.smooth and f not in context.convex:
            yield lipschitz_gradient(f, at, around)


def _optimality(context: Context, f: sp.Symbol, points: Sequence[Expr]) -> Iterator[InequalityRef]:
    if f in context.minimisers and f in context.objectives:
        shared = (at for at in points if at != context.minimisers[f] and not differs(at, context))
        yield from (optimality(f, at) for at in shared)
