"""Builds the kernel's context of a claim: the definitions of its symbols, and its assumptions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import sympy as sp

from fedtheory.kernel import Context, is_nonnegative
from fedtheory.kernel.expressions import Average, Expr, Gradient, norm_sq, parts_of
from fedtheory.kernel.quotients import is_zero
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.language.paper_parts import import_parts
from fedtheory.language.quantities import PointQuantity, VectorQuantity
from fedtheory.proofs.comparators import with_comparator
from fedtheory.proofs.existence import OPTIMUM, is_known
from fedtheory.proofs.numbers import ROUNDS, SAMPLED_ROUNDS, SMOOTH, SymbolTable, numbers_of, sides_of, symbols_of
from fedtheory.proofs.paper_contexts import extend_by_papers
from fedtheory.proofs.proof import is_assumed
from fedtheory.proofs.run_terms import with_relations

GIVEN_BY_PAPERS: tuple[VectorQuantity, ...] = tuple(one for part in import_parts("signs") for one in part.SIGNS.given)
"""Vectors of papers that the start of a round determines."""
_SHARED = (q.server_model, q.optimum, q.comparator, q.centralised_model, *GIVEN_BY_PAPERS)
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
"""Iterates inside the ball that contains a run; gradient descent on F from one of them stays inside."""


def build_context(claim: Claim) -> Context:
    """Return the context in which a claim is to be proved; raise `Rejected` if its symbols are ambiguous."""
    symbol = symbols_of(claim)
    objective, client_objective = symbol(q.objective), symbol(q.client_objective)
    noise = symbol(q.gradient_noise)
    # Along a path nothing is random: noise is an ordinary vector.
    is_random, is_quiet = claim.place == "step", a.full_gradients in claim.assumptions
    points = {each for each, quantity in claim.where.items() if isinstance(quantity, PointQuantity)}
    context = Context(
        numbers=numbers_of(claim),
        vectors=frozenset({symbol(quantity) for quantity in _SHARED} | points),
        client_vectors=frozenset(symbol(quantity) for quantity in _OF_CLIENTS) - ({noise} if is_quiet else set()),
        noise=frozenset({noise}) if is_random and not is_quiet else frozenset(),
        clients=symbol(q.clients) if a.uniform_shares in claim.assumptions else None,
        share=_find_weight(claim, symbol),
        objectives=frozenset({objective}),
        client_objectives=frozenset({client_objective}),
        means={objective: client_objective},
        smooth=_list_constants(symbol, _SMOOTHNESS),
        strongly_convex=_list_constants(symbol, _CURVATURES),
        visited=frozenset({symbol(quantity) for quantity in _VISITED} | points),
        minimisers=_find_minimisers(claim, symbol),
        definitions=_define_quantities(claim, symbol) | ({noise: sp.S.Zero} if is_quiet else {}),
        assumed=_list_assumed(claim, symbol),
    )
    return with_comparator(with_common_shape(extend_by_papers(context, claim), claim), claim)


def build_step_context(claim: Claim) -> Context:
    """Return the context of a local step or a path of FedAvg; clients' models that must be equal are one symbol.

    A single client is its own average, and before the only local step of a round every client has the server's
    model.  The loop with restarts evaluates gradients at other points.
    """
    context = build_context(claim)
    if not are_together(claim):
        return context
    local, average = (symbols_of(claim)(quantity) for quantity in (q.local_iterate, q.average_iterate))
    others = {vector: what for vector, what in context.definitions.items() if vector != average}
    is_alone = a.one_client in claim.assumptions and not symbols_of(claim).has(q.clients)
    return replace(
        context,
        share=sp.S.One if is_alone else context.share,
        vectors=context.vectors | {average},
        client_vectors=context.client_vectors - {local},
        definitions={**others, local: average},
    )


def are_together(claim: Claim) -> bool:
    """Return whether all clients agree before each local step."""
    if a.one_client in claim.assumptions:
        return True
    return _has_one_local_step(claim) and any(
        all(one in claim.assumptions for one in rounds) for rounds in (ROUNDS, SAMPLED_ROUNDS)
    )


def _has_one_local_step(claim: Claim) -> bool:
    """Return whether the conditions of a claim imply one local step per round."""
    later = symbols_of(claim)(q.local_steps) - 1
    equal = [one.lhs - one.rhs for one in claim.conditions if isinstance(one, sp.Eq)]
    return any(is_zero(later - sign * one) for one in equal for sign in (1, -1)) or is_nonnegative(
        -later, numbers_of(claim), claim.conditions
    )


def count_steps(claim: Claim) -> Expr:
    """Return the number of local steps of a run in the claim's symbols: K, T if rounds are single steps, or tau T."""
    symbol = symbols_of(claim)
    if symbol.has(q.iterations):
        return symbol(q.iterations)
    return symbol(q.rounds) * (sp.S.One if _has_one_local_step(claim) else symbol(q.local_steps))


def with_iterations_in_powers(claim: Claim, conditions: Sequence[Expr]) -> Claim:
    """Return a claim with K in exponents in place of tau T, and of T if its conditions imply one step per round."""
    symbol = symbols_of(claim)
    rounds, steps, iterations = (symbol(quantity) for quantity in (q.rounds, q.local_steps, q.iterations))
    powers = {power for side in sides_of(claim) for power in parts_of(side, sp.Pow) if power.exp.has(rounds)}
    if not powers or a.same_local_work not in claim.assumptions or not symbol.has(q.iterations):
        return claim
    counted = _count(powers, rounds * steps, iterations)
    if not any(power.exp.has(steps) for power in powers) and _has_one_local_step(replace(claim, conditions=conditions)):
        counted |= _count(powers, rounds, iterations)
    return with_relations(claim, (one.transform(lambda side: side.xreplace(counted)) for one in claim.relations))


def _count(powers: Iterable[sp.Pow], count: Expr, iterations: Expr) -> dict[Expr, Expr]:
    """Replace a count by the number of iterations in exponents that are its multiples."""
    multiples = {power: power.exp / count for power in powers}
    return {power: power.base ** (one * iterations) for power, one in multiples.items() if one.is_Rational}


def with_common_shape(context: Context, claim: Claim) -> Context:
    """Return a context with a claim's assumptions on all objectives: convex, smooth, or Lipschitz."""
    symbol, every = symbols_of(claim), context.objectives | context.client_objectives
    is_smooth = any(assumption in claim.assumptions for assumption in SMOOTH)
    # If a claim names the clients' own constants, these are used instead of the largest of them.
    # F has its own constants, if the claim names no constant of all clients.
    named = context.client_objectives if symbol.has(q.smoothness) else every
    own = {objective: constant for objective, constant in context.smooth.items() if objective in named}
    return replace(
        context,
        convex=every if a.convex_and_smooth in claim.assumptions else frozenset(),
        smooth={**context.smooth, **(dict.fromkeys(every, symbol(q.smoothness)) if is_smooth else {}), **own},
        lipschitz=dict.fromkeys(every, symbol(q.lipschitz)) if a.lipschitz_losses in claim.assumptions else {},
    )


def _find_weight(claim: Claim, symbol: SymbolTable) -> Expr | None:
    """Return the weight of a client in averages over clients."""
    if a.uniform_shares in claim.assumptions:
        return 1 / symbol(q.clients)
    return symbol(q.importance) if symbol.has(q.importance) else None


def _find_minimisers(claim: Claim, symbol: SymbolTable) -> dict[sp.Symbol, sp.Symbol]:
    """Return the minimisers of F and of each client, if the claim refers to them, or assumes strong convexity."""
    found = {symbol(q.objective): symbol(q.optimum)} if is_known(OPTIMUM, claim) else {}
    if q.client_optimum in claim.notation.values() or a.strongly_convex_clients in claim.assumptions:
        found[symbol(q.client_objective)] = symbol(q.client_optimum)
    return found


_SMOOTHNESS = ((q.objective, q.objective_smoothness), (q.client_objective, q.client_smoothness))
"""F and each client's objective, with their constants of smoothness."""
_CURVATURES = (
    *((objective, q.strong_convexity) for objective in (q.objective, q.client_objective)),
    (q.objective, q.smallest_curvature),
    (q.client_objective, q.client_strong_convexity),
)
"""F and each client's objective, with their constants of strong convexity; own constants replace the common one."""


def _list_constants(
    symbol: SymbolTable, known: Iterable[tuple[q.ObjectiveQuantity, q.Quantity]]
) -> dict[sp.Symbol, Expr]:
    """Return the constants of objectives that the claim names."""
    return {symbol(objective): symbol(constant) for objective, constant in known if symbol.has(constant)}


def _define_quantities(claim: Claim, symbol: SymbolTable) -> dict[sp.Symbol, Expr]:
    """Return the definitions of quantities by others; step sizes are assumed equal at a step."""
    local, noise = symbol(q.local_iterate), symbol(q.gradient_noise)
    gradient = Gradient(symbol(q.client_objective), local) + noise
    defined: dict[sp.Symbol, Expr] = {
        symbol(q.stochastic_gradient): gradient,
        symbol(q.gradient_deviation): -noise,
        symbol(q.average_iterate): Average(local),
        # Gradient descent on F evaluates the gradient at its own iterate.
        symbol(q.next_centralised_model): symbol(q.centralised_model)
        - symbol(q.local_step_size) * Gradient(symbol(q.objective), symbol(q.centralised_model)),
    }
    if a.same_local_work in claim.assumptions:
        moved = local - symbol(q.local_step_size) * gradient
        defined |= {symbol(q.next_local_iterate): moved, symbol(q.next_average_iterate): Average(moved)}
    return defined


def _list_assumed(claim: Claim, symbol: SymbolTable) -> dict[str, Expr]:
    """Return slacks that are non-negative in expectation at a step, and those at free points.

    Bounds on variances do not hold on a single path.
    """
    if claim.place == "points":
        return dict(_assume_at_points(claim, symbol))
    return dict(_assume_in_expectation(claim, symbol)) if claim.place == "step" else {}


def _assume_at_points(claim: Claim, symbol: SymbolTable) -> Iterator[tuple[str, Expr]]:
    """Yield the slacks of the bounds on gradients that the claim assumes, at each of its free points.

    Free points are in the ball on which the constants are suprema.
    """
    objective, client_objective = symbol(q.objective), symbol(q.client_objective)
    for point, quantity in claim.where.items():
        if not isinstance(quantity, PointQuantity):
            continue
        deviation_sq = norm_sq(Gradient(client_objective, point) - Gradient(objective, point))
        if is_assumed(a.bounded_dissimilarity, claim):
            yield f"bounded dissimilarity at {quantity.name}", symbol(q.gradient_dissimilarity) ** 2 - deviation_sq
        if is_assumed(a.bounded_mean_dissimilarity, claim):
            mean = symbol(q.mean_dissimilarity) ** 2 - Average(deviation_sq)
            yield f"bounded mean dissimilarity at {quantity.name}", mean
        if is_assumed(a.bounded_second_moment, claim):
            # The noise of a stochastic gradient has expectation zero.
            moment = symbol(q.second_moment) ** 2 - norm_sq(Gradient(client_objective, point))
            yield f"bounded second moment at {quantity.name}", moment


def _assume_in_expectation(claim: Claim, symbol: SymbolTable) -> Iterator[tuple[str, Expr]]:
    """Yield the slacks of the bounds that the claim assumes in expectation, by name."""
    local, noise, average = symbol(q.local_iterate), symbol(q.gradient_noise), symbol(q.average_iterate)
    objective, client_objective = symbol(q.objective), symbol(q.client_objective)
    yield from list_client_assumptions(claim, Gradient(objective, local), Gradient(client_objective, local), noise)
    if is_assumed(a.bounded_mean_dissimilarity, claim):
        mean = Average(norm_sq(Gradient(client_objective, average) - Gradient(objective, average)))
        yield "bounded mean dissimilarity", symbol(q.mean_dissimilarity) ** 2 - mean


def list_client_assumptions(claim: Claim, mean: Expr, slope: Expr, noise: Expr) -> Iterator[tuple[str, Expr]]:
    """Return the assumptions at a client's iterate: on gradients of F and its own objective, and on noise."""
    symbol = symbols_of(claim)
    if is_assumed(a.unbiased_bounded_variance, claim):
        yield "bounded variance", symbol(q.noise_deviation) ** 2 - norm_sq(noise)
    if is_assumed(a.bounded_dissimilarity, claim):
        yield "bounded dissimilarity", symbol(q.gradient_dissimilarity) ** 2 - norm_sq(slope - mean)
    if is_assumed(a.bounded_second_moment, claim):
        yield "bounded second moment", symbol(q.second_moment) ** 2 - norm_sq(slope + noise)
