"""From a claim to what the kernel may use: the definitions of its letters, and the assumptions that it makes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import sympy as sp

from fedtheory.kernel import Theory
from fedtheory.kernel.expressions import Average, Expr, Gradient, norm_sq
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.language.quantities import PointNotion
from fedtheory.proofs.comparators import with_comparator
from fedtheory.proofs.existence import OPTIMUM, is_known
from fedtheory.proofs.numbers import SMOOTH, Letters, letters_of, numbers_of

_SHARED = (q.server_model, q.optimum, q.comparator, q.centralised_model, q.surrogate_optimum)
_OF_CLIENTS = (q.local_iterate, q.client_optimum, q.gradient_noise)
_VISITED = (
    q.server_model,
    q.optimum,
    q.local_iterate,
    q.average_iterate,
    q.next_local_iterate,
    q.next_average_iterate,
    q.centralised_model,
    q.next_centralised_model,
)
"""Models that are inside the ball that contains a run; gradient descent on F from one of them stays inside."""


def theory_of(claim: Claim) -> Theory:
    """The theory in which a claim is to be proved; raises `Rejected` where its letters are ambiguous."""
    letter = letters_of(claim)
    objective, client_objective = letter(q.objective), letter(q.client_objective)
    noise = letter(q.gradient_noise)
    # Along a path nothing is random: noise is a vector like any other.
    is_random, is_quiet = claim.place == "step", a.full_gradients in claim.assumptions
    points = {symbol for symbol, notion in claim.where.items() if isinstance(notion, PointNotion)}
    theory = Theory(
        numbers=numbers_of(claim),
        vectors=frozenset({letter(notion) for notion in _SHARED} | points),
        client_vectors=frozenset(letter(notion) for notion in _OF_CLIENTS) - ({noise} if is_quiet else set()),
        noise=frozenset({noise}) if is_random and not is_quiet else frozenset(),
        clients=letter(q.clients) if a.uniform_shares in claim.assumptions else None,
        share=_share(claim, letter),
        objectives=frozenset({objective}),
        client_objectives=frozenset({client_objective}),
        means={objective: client_objective},
        smooth=_own_constants(letter, "smooth"),
        strongly_convex=_common_curvature(letter) | _own_constants(letter, "strongly convex"),
        visited=frozenset({letter(notion) for notion in _VISITED} | points),
        minimisers=_minimiser(claim, letter) | _client_minimisers(claim, letter),
        definitions=_definitions(claim, letter) | ({noise: sp.S.Zero} if is_quiet else {}),
        assumed=_assumed(claim, letter) | _distances(letter) | _divergences(claim, letter) | _nearest(claim, letter),
    )
    return with_comparator(with_common_shape(theory, claim), claim)


def with_common_shape(theory: Theory, claim: Claim) -> Theory:
    """A theory with what a claim assumes of all objectives: that they are convex, smooth, or Lipschitz."""
    letter, every = letters_of(claim), theory.objectives | theory.client_objectives
    is_smooth = any(assumption in claim.assumptions for assumption in SMOOTH)
    # Where a claim names the clients' own constants they have these, and not the largest of them.
    # So does F, where the claim names no constant of all clients.
    named = theory.client_objectives if letter.has(q.smoothness) else every
    own = {objective: constant for objective, constant in theory.smooth.items() if objective in named}
    return replace(
        theory,
        convex=every if a.convex_and_smooth in claim.assumptions else frozenset(),
        smooth={**theory.smooth, **(dict.fromkeys(every, letter(q.smoothness)) if is_smooth else {}), **own},
        lipschitz=dict.fromkeys(every, letter(q.lipschitz)) if a.lipschitz_losses in claim.assumptions else {},
    )


def _share(claim: Claim, letter: Letters) -> Expr | None:
    """The weight of a client in means over clients."""
    if a.uniform_shares in claim.assumptions:
        return 1 / letter(q.clients)
    return letter(q.importance) if letter.has(q.importance) else None


def _minimiser(claim: Claim, letter: Letters) -> dict[sp.Symbol, sp.Symbol]:
    """The minimiser of F, where the claim is about what is measured from it, or by convexity."""
    return {letter(q.objective): letter(q.optimum)} if is_known(OPTIMUM, claim) else {}


_NAMING_MINIMISERS = (q.client_optimum, q.client_optimum_distance)


def _client_minimisers(claim: Claim, letter: Letters) -> dict[sp.Symbol, sp.Symbol]:
    """The minimiser of each client, where there is one: a run has it where the claim is about it, or by convexity."""
    is_there = any(notion in claim.notation.values() for notion in _NAMING_MINIMISERS)
    if not is_there and a.strongly_convex_clients not in claim.assumptions:
        return {}
    return {letter(q.client_objective): letter(q.client_optimum)}


def _own_constants(letter: Letters, kind: str) -> dict[sp.Symbol, Expr]:
    """Constants that are, by what they stand for, those of F and of each client's objective."""
    mean, own = _CURVATURES[kind]
    known = ((q.objective, mean), (q.client_objective, own))
    return {letter(objective): letter(constant) for objective, constant in known if letter.has(constant)}


def _common_curvature(letter: Letters) -> dict[sp.Symbol, Expr]:
    """The smallest curvature of all clients, which F and each of them have at least."""
    common = letter(q.strong_convexity) if letter.has(q.strong_convexity) else None
    return {} if common is None else {letter(f): common for f in (q.objective, q.client_objective)}


_CURVATURES = {
    "smooth": (q.objective_smoothness, q.client_smoothness),
    "strongly convex": (q.smallest_curvature, q.client_strong_convexity),
}


def _definitions(claim: Claim, letter: Letters) -> dict[sp.Symbol, Expr]:
    """Return the definition of one quantity by others; equal step sizes are assumed at a step."""
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
    """Slacks that are not negative in expectation; variances say nothing of a single path."""
    return dict(_assumed_in_expectation(claim, letter)) if claim.place == "step" else {}


def _distances(letter: Letters) -> dict[str, Expr]:
    """Return the definition of a distance of minimisers."""
    if not letter.has(q.client_optimum_distance):
        return {}
    apart = norm_sq(letter(q.client_optimum) - letter(q.optimum))
    return {"distance of the minimisers": letter(q.client_optimum_distance) ** 2 - apart}


NEAREST_START = "nearest start"
"""The name of what is known of the models that rounds start from."""


def _nearest(claim: Claim, letter: Letters) -> dict[str, Expr]:
    """Return the facts on the distance of rounds' starts from the optimum."""
    # It is a bound in expectation, or on the only path that there is.
    is_path = claim.place == "path" and a.full_gradients in claim.assumptions
    if not letter.has(q.nearest_start) or not (is_path or claim.place == "step"):
        return {}
    apart = norm_sq(letter(q.server_model) - letter(q.optimum))
    return {NEAREST_START: 1 / letter(q.nearest_start) - apart}


def _divergences(claim: Claim, letter: Letters) -> dict[str, Expr]:
    """Return the facts on gradient dissimilarity at the centralised model."""
    if a.bounded_dissimilarity not in claim.assumptions or not letter.has(q.client_dissimilarity):
        return {}
    model = letter(q.centralised_model)
    apart = norm_sq(Gradient(letter(q.client_objective), model) - Gradient(letter(q.objective), model))
    return {"divergence at the centralised model": letter(q.client_dissimilarity) ** 2 - apart}


def _assumed_in_expectation(claim: Claim, letter: Letters) -> Iterator[tuple[str, Expr]]:
    local, noise, average = letter(q.local_iterate), letter(q.gradient_noise), letter(q.average_iterate)
    objective, client_objective = letter(q.objective), letter(q.client_objective)
    yield from assumed_of_a_client(claim, Gradient(objective, local), Gradient(client_objective, local), noise)
    if a.bounded_mean_dissimilarity in claim.assumptions:
        mean = Average(norm_sq(Gradient(client_objective, average) - Gradient(objective, average)))
        yield "bounded mean dissimilarity", letter(q.mean_dissimilarity) ** 2 - mean


def assumed_of_a_client(claim: Claim, mean: Expr, slope: Expr, noise: Expr) -> Iterator[tuple[str, Expr]]:
    """Return the assumptions at a client's iterate: on gradients of F and its own objective, and on noise."""
    letter = letters_of(claim)
    if a.unbiased_bounded_variance in claim.assumptions:
        yield "bounded variance", letter(q.noise_deviation) ** 2 - norm_sq(noise)
    if a.bounded_dissimilarity in claim.assumptions:
        yield "bounded dissimilarity", letter(q.gradient_dissimilarity) ** 2 - norm_sq(slope - mean)
    if a.bounded_second_moment in claim.assumptions:
        yield "bounded second moment", letter(q.second_moment) ** 2 - norm_sq(slope + noise)
