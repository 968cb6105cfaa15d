"""Facts on the comparator y at a local step: the noise of the step's samples there, and the clients' dissimilarity.

The gradients with one sample at a client's iterate and at y have two noises, which are not independent of each
other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import sympy as sp

from fedtheory.kernel import Context
from fedtheory.kernel.expressions import Average, Expr, Gradient, Inner, Value, norm_sq
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.proofs.numbers import SymbolTable, symbols_of

noise_at_y = sp.Dummy("m_i", real=True)
"""g_i(y) - grad F_i(y), with the sample of the present local step."""

SMOOTH_NOISE = "smooth noise"
NOISE_AT_Y = "noise at the comparator"
DISSIMILARITY_AT_Y = "dissimilarity at the comparator"
CURVED_NOISE_AT_Y = "noise at the comparator, with the clients' curvatures"
CURVED_DISSIMILARITY_AT_Y = "dissimilarity at the comparator, with the clients' curvatures"


def with_comparator(context: Context, claim: Claim) -> Context:
    """Return the context of a claim about local steps in expectation with the facts on its comparator, if it has one.

    At points, where nothing is random, only the dissimilarity there is known.
    """
    symbol = symbols_of(claim)
    point = next((point for point in _POINTS if any(symbol.has(known) for known in (point, *_POINTS[point]))), None)
    if claim.place not in ("step", "points") or point is None:
        return context
    if claim.place == "points":
        return replace(context, assumed={**context.assumed, DISSIMILARITY_AT_Y: _bound_dissimilarity(symbol, point)})
    noise = symbol(q.gradient_noise)
    is_quiet = noise not in context.noise
    return replace(
        context,
        client_vectors=context.client_vectors | (set() if is_quiet else {noise_at_y}),
        noise=context.noise | (set() if is_quiet else {noise_at_y}),
        common_random_numbers=context.common_random_numbers | (set() if is_quiet else {frozenset({noise, noise_at_y})}),
        definitions={**context.definitions, **({noise_at_y: sp.S.Zero} if is_quiet else {})},
        assumed={**context.assumed, **dict(_list_known_slacks(claim, symbol, point))},
    )


_POINTS: Mapping[q.VectorQuantity, tuple[q.RunQuantity, q.RunQuantity]] = {
    q.comparator: (q.comparator_noise, q.comparator_dissimilarity),
    q.optimum: (q.noise_at_optimum, q.dissimilarity_at_optimum),
}
"""Comparators, and the quantities of noise and dissimilarity there."""


def _list_known_slacks(claim: Claim, symbol: SymbolTable, point: q.VectorQuantity) -> Iterator[tuple[str, Expr]]:
    """Yield slacks that are non-negative in expectation: an assumption, and the definitions of two quantities."""
    objective, client_objective = symbol(q.objective), symbol(q.client_objective)
    y, local = symbol(point), symbol(q.local_iterate)
    noise, _ = _POINTS[point]
    is_quiet = a.full_gradients in claim.assumptions
    deviation = Gradient(client_objective, y) - Gradient(objective, y)
    yield DISSIMILARITY_AT_Y, _bound_dissimilarity(symbol, point)
    # Full gradients have no noise, so that its constants are zero where the claim names none.
    largest = sp.S.Zero if is_quiet and not symbol.has(noise) else symbol(noise)
    yield NOISE_AT_Y, largest**2 - Average(norm_sq(noise_at_y))
    if point is q.comparator and symbol.has(q.client_smoothness):
        curvature = symbol(q.client_smoothness)
        curved = symbol(q.comparator_curved_noise), symbol(q.comparator_curved_dissimilarity)
        yield CURVED_NOISE_AT_Y, curved[0] ** 2 - Average(curvature * norm_sq(noise_at_y))
        yield CURVED_DISSIMILARITY_AT_Y, curved[1] ** 2 - Average(curvature * norm_sq(deviation))
    if a.smooth_noise in claim.assumptions or is_quiet:
        gap = Value(client_objective, y) - Value(client_objective, local)
        gap = gap - Inner(Gradient(client_objective, local), y - local)
        changed = norm_sq(symbol(q.gradient_noise) - noise_at_y)
        factor = symbol(q.noise_smoothness) if a.smooth_noise in claim.assumptions else sp.S.Zero
        yield SMOOTH_NOISE, 2 * factor * gap - changed


def _bound_dissimilarity(symbol: SymbolTable, point: q.VectorQuantity) -> Expr:
    """Return the slack of the client average of |grad f_i(y) - grad F(y)|^2 <= zeta_y^2."""
    _, dissimilarity = _POINTS[point]
    deviation = Gradient(symbol(q.client_objective), symbol(point)) - Gradient(symbol(q.objective), symbol(point))
    return symbol(dissimilarity) ** 2 - Average(norm_sq(deviation))
