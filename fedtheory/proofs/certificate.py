"""Certificates of relations between vectors: for each relation of a claim, terms whose sum is its slack."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import sympy as sp

from fedtheory.kernel import Context, Rejected, Term
from fedtheory.kernel.expressions import Expr, norm_sq
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim, Relation
from fedtheory.proofs.link_context import build_link_context, write_out
from fedtheory.proofs.links import Induction, Positive, PrefixSum, Products, Squared
from fedtheory.proofs.numbers import symbols_of
from fedtheory.proofs.prefix_sum import has_prefix_sum
from fedtheory.proofs.roots import Root, add_root_symbols
from fedtheory.proofs.rounds import is_in_expectation


@dataclass(frozen=True)
class BothWays:
    """A proof of an equation by two inequalities."""

    kind: ClassVar[str] = "both ways"
    at_most: Sequence[Term]
    """The terms whose sum is the right side minus the left side."""
    at_least: Sequence[Term]
    """The terms whose sum is the left side minus the right side."""


InContext = Sequence[Term] | BothWays | Induction | Squared | Products | Positive
"""A function that proves a relation in a context."""
Link = InContext | PrefixSum
"""A proof of a relation."""


@dataclass(frozen=True, kw_only=True)
class Certificate:
    """A proof of a claim, relation by relation."""

    kind: ClassVar[str] = "identities"
    claim: str
    """Id of the claim."""
    links: Sequence[Link]
    """For every relation, its proof: terms whose sum is its slack (none for an identity), or another link."""
    relaxed: Sequence[sp.Rel] | None = None
    """Weaker conditions than the claim's, under which the terms suffice; None for the claim's own."""
    lemmas: Sequence[str] = ()
    """Ids of proved claims whose slacks a term may use: at the same place, or on the largest drift."""
    roots: Sequence[Root] = ()
    """Symbols for the square roots in the claim, for use in coefficients and vectors of terms."""


def build_known_context(claim: Claim, relation: Relation, roots: Sequence[Root], lemmas: Sequence[Claim]) -> Context:
    """Return the context of one link for reports, with symbols for roots, and with the slacks of lemmas."""
    context = build_link_context(claim, relation)
    if claim.place == "run" or has_prefix_sum(relation):
        return context
    slacks = dict(context.assumed)
    for lemma in lemmas:
        same_place = lemma.place == claim.place
        slacks |= _list_slacks(lemma, claim, relation) if same_place else {lemma.id: _bound_drift(lemma, claim)}
    return replace(context, numbers=add_root_symbols(roots, context.numbers), assumed=slacks)


def _list_slacks(lemma: Claim, claim: Claim, relation: Relation) -> dict[str, Expr]:
    """Return the slack of each relation of a lemma that holds at the place of the relation."""
    known = {f"{lemma.id}, relation {number}": one for number, one in enumerate(lemma.relations, start=1)}
    if claim.place == "round":
        # A relation in expectation need not hold for every outcome, and sums over the past belong to their own round.
        reading = is_in_expectation(claim, relation)
        known = {
            name: one
            for name, one in known.items()
            if not has_prefix_sum(one) and is_in_expectation(lemma, one) == reading
        }
    return {name: write_out(lemma, one).slack for name, one in known.items()}


def _bound_drift(lemma: Claim, claim: Claim) -> Expr:
    """Return the slack of a bound on the largest drift of a run, which holds for every client at every step."""
    symbol, relation = symbols_of(lemma), lemma.relations[0] if len(lemma.relations) == 1 else None
    drift, places = symbol(q.max_drift), (lemma.place, claim.place)
    if relation is None or places != ("run", "step") or relation.operator != "<=" or relation.left != drift:
        raise Rejected(f"{lemma.id} does not bound the drift at a local step")
    distance_sq = norm_sq(symbol(q.local_iterate) - symbol(q.average_iterate))
    return relation.right - distance_sq
