"""The limit of runs for small step sizes: it minimises the clients' objectives weighted by their total steps.

The facts in this module are trusted like the kernel.
"""

from __future__ import annotations

from dataclasses import replace

from fedtheory.kernel import Context
from fedtheory.kernel.expressions import Expr, Gradient, norm_sq
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.proofs.numbers import SymbolTable, symbols_of
from fedtheory.proofs.paper_contexts import PaperRules


def with_small_step_limit(context: Context, claim: Claim) -> Context:
    """Return a context with the limit for small step sizes, if a claim names it or its distance from the optimum."""
    symbol, used = symbols_of(claim), claim.notation.values()
    if q.small_step_optimum not in used and q.small_step_bias not in used:
        return context
    return replace(
        context,
        weighted_minimisers=_weight_gradients(claim, symbol),
        assumed={**context.assumed, **_bound_bias(symbol)},
    )


def _weight_gradients(claim: Claim, symbol: SymbolTable) -> frozenset[Expr]:
    """Return vectors with average zero at the limit: gradients weighted by local steps and by step sizes.

    The weights of the server do not matter if clients with equal weights are sampled uniformly.
    """
    if a.uniform_shares not in claim.assumptions or a.uniform_sampling not in claim.assumptions:
        return frozenset()
    steps = symbol(q.client_local_steps) * Gradient(symbol(q.client_objective), symbol(q.small_step_optimum))
    sized = frozenset({symbol(q.client_step_size) * steps})
    return sized | {steps} if a.same_step_size in claim.assumptions else sized


def _bound_bias(symbol: SymbolTable) -> dict[str, Expr]:
    """Return an upper and a lower bound on the small-step bias."""
    if not symbol.has(q.small_step_bias):
        return {}
    slack = symbol(q.small_step_bias) ** 2 - norm_sq(symbol(q.small_step_optimum) - symbol(q.optimum))
    return {"small-step bias": slack, "small-step bias, from below": -slack}


CONTEXT = PaperRules(extend=with_small_step_limit)
