"""Contexts of links: the vectors and numbers of one relation of a claim, and the relation in these."""

from __future__ import annotations

from fedtheory.kernel import Context
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim, Relation
from fedtheory.proofs.claim_context import build_step_context
from fedtheory.proofs.numbers import symbols_of
from fedtheory.proofs.paper_contexts import build_run_context, write_in_vectors
from fedtheory.proofs.prefix_sum import build_past_context, extend_sums, has_prefix_sum
from fedtheory.proofs.rounds import build_round_context, eliminate_indicators, step_size


def write_out(claim: Claim, relation: Relation) -> Relation:
    """Return a relation about a round with its step sizes and participants in terms of the round's numbers.

    A relation between quantities of a run becomes one between the expressions that define them.
    """
    if claim.place == "run":
        return write_in_vectors(claim, relation)
    if claim.place != "round":
        return relation
    if has_prefix_sum(relation):
        return extend_sums(relation)
    size = {symbols_of(claim)(q.client_step_size): step_size(claim)}
    return relation.transform(lambda side: eliminate_indicators(claim, side.xreplace(size)))


def build_link_context(claim: Claim, relation: Relation) -> Context:
    """Return the context in which one link is checked."""
    if has_prefix_sum(relation):
        return build_past_context(claim, relation)
    if claim.place == "run":
        return build_run_context(claim, relation)
    return build_round_context(claim, relation) if claim.place == "round" else build_step_context(claim)
