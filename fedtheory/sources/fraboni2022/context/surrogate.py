"""Contexts of the surrogate problem: changes of its losses in a local step, and its gradient at virtual iterates."""

from __future__ import annotations

from dataclasses import replace

import sympy as sp

from fedtheory.kernel import Context, Rejected
from fedtheory.kernel.expressions import Average, Gradient, norm_sq
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.proofs.claim_context import with_common_shape
from fedtheory.proofs.numbers import numbers_of, symbols_of
from fedtheory.sources.fraboni2022.context.updates import (
    add_numbers,
    at_local,
    build_weights_context,
    client_objective,
    client_optimum,
    objective,
    pull,
    surrogate_optimum,
    virtual,
    write_next_virtual,
)

BOUNDED_SAMPLES = "bounded stochastic gradients, at the local iterate"
BOUNDED_BEFORE = "bounded gradients, at the virtual iterate"
BOUNDED_AFTER = "bounded gradients, at the next virtual iterate"


def build_loss_changes_context(claim: Claim) -> Context:
    """Return the context with fixed weights, and gradients that are bounded at the points of the run."""
    symbol = symbols_of(claim)
    if a.given_weights not in claim.assumptions:
        raise Rejected("changes of a loss are bounded for weights that are not random: assume `given_weights`")
    largest = symbol(q.gradient_bound) ** 2
    points = {BOUNDED_BEFORE: virtual, BOUNDED_AFTER: write_next_virtual(symbol)}
    bounded = {name: largest - norm_sq(Gradient(client_objective, point)) for name, point in points.items()}
    known = build_weights_context(claim)
    return replace(known, assumed={**known.assumed, **bounded, BOUNDED_SAMPLES: largest - norm_sq(at_local)})


def build_surrogate_context(claim: Claim) -> Context:
    """Return the context of the federated problem at the virtual iterate, with weights over all updates.

    No type is missing: `Rejected` is raised unless a condition says that every client has a positive mean weight.
    """
    symbol = symbols_of(claim)
    if sp.Gt(symbol(q.mean_weight), 0, evaluate=False) not in claim.conditions:
        raise Rejected(
            "a type may be missing in all updates: the claim has no condition that its mean weight is positive"
        )
    context = Context(
        numbers=add_numbers(numbers_of(claim), frozenset({pull}), {symbol(q.mean_chi_sq): Average(pull**2)}),
        vectors=frozenset({virtual, surrogate_optimum}),
        client_vectors=frozenset({client_optimum}),
        objectives=frozenset({objective}),
        client_objectives=frozenset({client_objective}),
        means={objective: client_objective},
        minimisers={objective: surrogate_optimum, client_objective: client_optimum},
    )
    return with_common_shape(context, claim)
