"""The distances of the clients' minimisers from that of F; trusted like the kernel."""

from __future__ import annotations

from dataclasses import replace

from fedtheory.kernel import Context
from fedtheory.kernel.expressions import norm_sq
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.proofs.numbers import symbols_of
from fedtheory.proofs.paper_contexts import PaperRules


def with_distances(context: Context, claim: Claim) -> Context:
    """Return a context with the minimisers of the clients and their distances, if a claim names a distance.

    Such a claim does not apply to runs whose clients have no minimiser.
    """
    if q.client_optimum_distance not in claim.notation.values():
        return context
    symbol = symbols_of(claim)
    client_optimum = symbol(q.client_optimum)
    distance_sq = norm_sq(client_optimum - symbol(q.optimum))
    known = {"distance of the minimisers": symbol(q.client_optimum_distance) ** 2 - distance_sq}
    minimisers = {**context.minimisers, symbol(q.client_objective): client_optimum}
    return replace(context, minimisers=minimisers, assumed={**context.assumed, **known})


CONTEXT = PaperRules(extend=with_distances)
