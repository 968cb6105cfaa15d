"""From a claim to what the kernel may use: its letters, their definitions, and the assumptions that it makes."""

from __future__ import annotations

import sympy as sp

from fedtheory import assumptions as a
from fedtheory import quantities as q
from fedtheory.claim import Claim
from fedtheory.expressions import Average, Expr, Gradient, norm_sq
from fedtheory.kernel import Theory
from fedtheory.quantities import Notion, PointNotion

_SHARED = (q.server_model, q.optimum, q.centralised_model, q.surrogate_optimum)
_OF_CLIENTS = (q.local_iterate, q.client_optimum, q.gradient_noise)
_CONVEX = (a.convex_and_smooth,)
_SMOOTH = (a.convex_and_smooth, a.smooth)
_NUMBERS = (
    q.clients,
    q.local_steps,
    q.local_step_size,
    q.server_step_size,
    q.smoothness,
    q.strong_convexity,
    q.noise_deviation,
    q.second_moment,
    q.gradient_dissimilarity,
    q.mean_dissimilarity,
)
"""Numbers that are the same for all clients and all rounds."""


class Letters:
    """The symbol of each notion in a claim; one of its own where the claim has none."""

    def __init__(self, claim: Claim) -> None:
        self.known: dict[str, sp.Symbol] = {}
        for symbol, notion in claim.where.items():
            self.known.setdefault(notion.name, symbol)

    def __call__(self, notion: Notion) -> sp.Symbol:
        return self.known.setdefault(notion.name, sp.Symbol(f"[{notion.name}]", real=True))


def theory_of(claim: Claim) -> Theory:
    """The theory in which a claim is to be proved."""
    letter = Letters(claim)
    objective, client_objective = letter(q.objective), letter(q.client_objective)
    is_smooth = any(assumption in claim.assumptions for assumption in _SMOOTH)
    is_convex = any(assumption in claim.assumptions for assumption in _CONVEX)
    both = frozenset({objective, client_objective})
    vectors = {letter(notion) for notion in _SHARED}
    vectors |= {symbol for symbol, notion in claim.where.items() if isinstance(notion, PointNotion)}
    return Theory(
        scalars=frozenset(_scalars(claim)),
        vectors=frozenset(vectors),
        client_vectors=frozenset(letter(notion) for notion in _OF_CLIENTS),
        # Along a path nothing is random: noise is a vector like any other.
        noise=frozenset({letter(q.gradient_noise)}) if claim.place == "step" else frozenset(),
        clients=letter(q.clients) if a.uniform_shares in claim.assumptions else None,
        means={objective: client_objective},
        client_objectives=frozenset({client_objective}),
        convex=both if is_convex else frozenset(),
        smooth=dict.fromkeys(both, letter(q.smoothness)) if is_smooth else {},
        minimisers={objective: letter(q.optimum), client_objective: letter(q.client_optimum)},
        definitions=_definitions(claim, letter),
        assumed=_assumed(claim, letter),
    )


def _scalars(claim: Claim) -> set[sp.Symbol]:
    """Numbers that are the same for all clients and rounds, and those under a universal quantifier."""
    return {symbol for symbol, notion in claim.where.items() if notion in _NUMBERS} | set(claim.for_all)


def _definitions(claim: Claim, letter: Letters) -> dict[sp.Symbol, Expr]:
    """What one notion is in terms of others: equal step sizes are assumed where a step is taken."""
    local, noise = letter(q.local_iterate), letter(q.gradient_noise)
    gradient = Gradient(letter(q.client_objective), local) + noise
    defined: dict[sp.Symbol, Expr] = {
        letter(q.stochastic_gradient): gradient,
        letter(q.gradient_deviation): -noise,
        letter(q.average_iterate): Average(local),
        # Gradient descent on F from a model of its own.
        letter(q.next_centralised_model): letter(q.centralised_model)
        - letter(q.local_step_size) * Gradient(letter(q.objective), letter(q.centralised_model)),
    }
    if a.same_local_work in claim.assumptions:
        moved = local - letter(q.local_step_size) * gradient
        defined |= {letter(q.next_local_iterate): moved, letter(q.next_average_iterate): Average(moved)}
    return defined


def _assumed(claim: Claim, letter: Letters) -> dict[str, Expr]:
    if a.unbiased_bounded_variance not in claim.assumptions:
        return {}
    return {"bounded variance": letter(q.noise_deviation) ** 2 - norm_sq(letter(q.gradient_noise))}
