"""The inequalities that a theory has at the points of a statement."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations

import sympy as sp

from fedtheory.kernel import (
    Because,
    Rejected,
    Term,
    Theory,
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

    reason: Because
    averaged: bool
    blocks: Blocks

    def term(self, coefficient: Quotient) -> Term:
        """A multiple of it."""
        return Term(coefficient.expression, self.reason, averaged=self.averaged)


def find_candidates(theory: Theory, monomials: Sequence[Expr], relation: Relation) -> Iterator[Candidate]:
    """The inequalities that a theory has at the points of a statement."""
    about = [part for each in (*monomials, *relation.sides) for part in parts_of(each, Gradient, Value)]
    named = {part.args[0] for part in about}
    named |= {mean for mean, of in theory.means.items() if of in named}
    if (
        not any(differs(part.args[1], theory) for part in about)
        and not relation.free_symbols & theory.client_objectives
    ):
        named -= theory.client_objectives
    objectives = sorted(named, key=str)
    points = {part.args[1] for part in about}
    points |= {at for f, at in theory.minimisers.items() if f in theory.objectives & named}
    points |= {letter for letter in relation.free_symbols & theory.visited if letter not in theory.definitions}
    forms = {with_means(composed(vector(point, theory)), theory) for point in points}
    ordered = sorted(forms, key=sp.default_sort_key)
    reasons = [one(), *(assumption(name) for name in theory.assumed)]
    for f in objectives:
        # What holds of each client's objective, averaged, says at least as much of their mean.
        is_implied = theory.means.get(f) in named and theory.smooth.get(f) == theory.smooth.get(theory.means[f])
        reasons += [] if is_implied else _reasons(theory, f, ordered)
        reasons += _optimality(theory, f, ordered)
    for reason in reasons:
        spend(5000)
        try:
            expression = reason.in_theory(theory).expression
            averaged = differs(expression, theory)
            term = Term(sp.S.One, reason, averaged=averaged)
            yield Candidate(reason, averaged, split_form(scalar(term.whole(reason.in_theory(theory)), theory), theory))
        except Rejected:
            continue


def _reasons(theory: Theory, f: sp.Symbol, points: Sequence[Expr]) -> Iterator[Because]:
    for at, around in permutations(points, 2):
        if f in theory.strongly_convex:
            yield strong_convexity(f, at, around)
        if f in theory.smooth and f in theory.convex:
            yield cocoercivity(f, at, around)
        elif f in theory.convex:
            yield convexity(f, at, around)
        if f in theory.smooth:
            yield smoothness(f, at, around)
        if f in theory.smooth and f not in theory.convex:
            yield lipschitz_gradient(f, at, around)


def _optimality(theory: Theory, f: sp.Symbol, points: Sequence[Expr]) -> Iterator[Because]:
    if f in theory.minimisers and f in theory.objectives:
        shared = (at for at in points if at != theory.minimisers[f] and not differs(at, theory))
        yield from (optimality(f, at) for at in shared)
