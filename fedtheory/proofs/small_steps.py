"""The point to which runs tend for small steps: it minimises the clients' objectives weighted by their total steps.

What is written down here is as much trusted as the kernel is.
"""

from __future__ import annotations

from dataclasses import replace

from fedtheory.kernel import Theory
from fedtheory.kernel.expressions import Expr, Gradient, norm_sq
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.proofs.numbers import Letters, letters_of


def with_small_step_limit(theory: Theory, claim: Claim) -> Theory:
    """A theory with that point, where a claim names it or its distance from the optimum."""
    letter, used = letters_of(claim), claim.notation.values()
    if q.small_step_optimum not in used and q.small_step_bias not in used:
        return theory
    return replace(
        theory,
        vectors=theory.vectors | {letter(q.small_step_optimum)},
        weighted_minimisers=_weighted_gradients(claim, letter),
        assumed={**theory.assumed, **_bias(letter)},
    )


def _weighted_gradients(claim: Claim, letter: Letters) -> frozenset[Expr]:
    """Return the vectors of average zero there: gradients times local steps and step sizes, or without a common size.

    The weights of the server do not matter where clients with equal shares are drawn uniformly.
    """
    if a.uniform_shares not in claim.assumptions or a.uniform_sampling not in claim.assumptions:
        return frozenset()
    steps = letter(q.client_local_steps) * Gradient(letter(q.client_objective), letter(q.small_step_optimum))
    sized = frozenset({letter(q.client_step_size) * steps})
    return sized | {steps} if a.same_step_size in claim.assumptions else sized


def _bias(letter: Letters) -> dict[str, Expr]:
    """Bound the small-step bias from above and below."""
    if not letter.has(q.small_step_bias):
        return {}
    slack = letter(q.small_step_bias) ** 2 - norm_sq(letter(q.small_step_optimum) - letter(q.optimum))
    return {"small-step bias": slack, "small-step bias, from below": -slack}
