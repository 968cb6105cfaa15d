"""The context of one update of scheme (6): iterates of clients at a local step, samples, and weights.

Averages over clients have their normalised weights in the update. The deviation of the random weights is a separate
vector: the server applies ``sum_i w_i g_i = q mean(g_i) + mean(d_i)`` with ``d_i = q (w_i/q_i - 1) g_i``. The weights
are independent of the clients' iterates and of all samples, but not of the virtual iterate, which depends on the
earlier weights.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import sympy as sp

from fedtheory.kernel import Context, Numbers, Rejected
from fedtheory.kernel.expressions import Average, Expr, Gradient, Inner, LocalSum, Symbol, Value, norm_sq
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.proofs.claim_context import with_common_shape
from fedtheory.proofs.numbers import SymbolTable, numbers_of, symbols_of

local, virtual = sp.symbols(r"\theta_i^{\rho_i\,k} \theta^{n\,k}", real=True, cls=sp.Dummy)
received, server = sp.symbols(r"\theta^{\rho_i} \theta^n", real=True, cls=sp.Dummy)
surrogate_optimum, optimum, comparator = sp.symbols(r"\bar\theta \theta^* y", real=True, cls=sp.Dummy)
round_optimum, client_optimum = sp.symbols(r"\bar\theta^n \theta_i^*", real=True, cls=sp.Dummy)
noise, virtual_noise, optimum_noise = sp.symbols("n_i m_i e_i", real=True, cls=sp.Dummy)
"""Noise of the same sample at the local iterate, at the virtual iterate and at the optimum of the update."""
sample = sp.Dummy("g_i", real=True)
"""A client's stochastic gradient without further properties."""
deviation, move = sp.Dummy("d_i", real=True), sp.Dummy(r"[\theta^{s+1}-\theta^s]", real=True)
objective, client_objective = sp.symbols(r"\tilde{\mathcal{L}}^n \mathcal{L}_i", real=True, cls=sp.Dummy)
age, square_of_weight = sp.Dummy("a_i", nonnegative=True, integer=True), sp.Dummy("u_i", nonnegative=True)
"""Staleness of the model that a client received, in updates, and E[w_i^2]/q_i."""
excess = sp.Dummy(r"\kappa'", nonnegative=True)
"""max(0, eta_g rho (alpha eta_g rho - 2))."""
present, absent = (sp.Dummy(name, nonnegative=True) for name in ("a_i'", "b_i'"))
pull = sp.Dummy("h_i", real=True)
"""Symbols for a common weight w_i: w_i a_i' is the normalised weight, w_i b_i' the client weight if the type of the
client is missing, and h_i is r_j/s~_j - 1 for the type of the client.
"""

STALE_SAMPLES = "smooth samples, at the local and the virtual iterate"
OPTIMUM_SAMPLES = "smooth convex samples, at the virtual iterate and the optimum"
SAME_OPTIMUM = "a sample at the optimum of the update has the same second moment at all steps"
MOVED = "the virtual iterate has moved with the weights"
MOVED_FROM_Y = "the virtual iterate has moved with the weights, as seen from the comparator"
PAST_MOVES = "the past moves, of which a client missed the last"
WEIGHTS_AT_MOST, WEIGHTS_AT_LEAST = "the covariance of the weights, at most", "the covariance of the weights, at least"
APART_AT_MOST, APART_AT_LEAST = "weights and gradients are independent, at most", "weights and gradients, at least"

at_local = Gradient(client_objective, local) + noise
at_virtual = Gradient(client_objective, virtual) + virtual_noise
at_optimum = Gradient(client_objective, round_optimum) + optimum_noise


def write_weighted_sum(symbol: SymbolTable, gradient: Expr) -> Expr:
    """Return sum_i w_i(n) g_i, the weighted sum of the clients' gradients that the server applies."""
    found: Expr = symbol(q.weight_sum) * Average(gradient) + Average(deviation)
    return found


def write_next_virtual(symbol: SymbolTable) -> Expr:
    """Return theta^{n,k+1} in the vectors of step k."""
    found: Expr = virtual - symbol(q.local_step_size) * symbol(q.server_step_size) * write_weighted_sum(
        symbol, at_local
    )
    return found


def build_steps_context(claim: Claim) -> Context:
    """Return the context of the K local steps of an update, with samples at three points."""
    symbol = symbols_of(claim)
    noises = frozenset({noise, virtual_noise, optimum_noise})
    is_unbiased = a.unbiased_gradients in claim.assumptions
    is_convex = a.convex_and_smooth in claim.assumptions
    context = Context(
        numbers=collect_numbers(claim),
        vectors=frozenset({virtual, server, surrogate_optimum, comparator, optimum, round_optimum}),
        client_vectors=noises | {local, received, client_optimum},
        step_vectors=noises | {local, virtual},
        noise=noises if is_unbiased else frozenset(),
        common_random_numbers=frozenset(
            frozenset({one, other}) for one in noises for other in noises if one is not other
        ),
        random=frozenset({local, virtual}),
        clients=symbol(q.clients),
        share=symbol(q.weight_share),
        local_steps=symbol(q.local_steps),
        objectives=frozenset({objective}),
        client_objectives=frozenset({client_objective}),
        means={objective: client_objective},
        minimisers={objective: round_optimum, client_objective: client_optimum},
        assumed=_relate_samples(symbol) if is_convex and is_unbiased else {},
    )
    return with_common_shape(context, claim)


def _relate_samples(symbol: SymbolTable) -> dict[str, Expr]:
    """Return the smoothness inequality of a sampled objective for two gradients of one sample."""
    smoothness = symbol(q.sample_smoothness)
    away = virtual - round_optimum
    gap = Value(client_objective, virtual) - Value(client_objective, round_optimum)
    slope = Inner(Gradient(client_objective, round_optimum), away)
    return {
        STALE_SAMPLES: smoothness**2 * norm_sq(local - virtual) - norm_sq(at_local - at_virtual),
        OPTIMUM_SAMPLES: 2 * smoothness * (gap - slope) - norm_sq(at_virtual - at_optimum),
        SAME_OPTIMUM: symbol(q.local_steps) * norm_sq(at_optimum) - LocalSum(norm_sq(at_optimum)),
    }


def build_weights_context(claim: Claim) -> Context:
    """Return the context of updates with random weights, without samples at points that depend on them."""
    symbol, known = symbols_of(claim), build_steps_context(claim)
    unknown = frozenset({virtual_noise, optimum_noise})
    given = {deviation: sp.S.Zero} if a.given_weights in claim.assumptions else {}
    return replace(
        known,
        client_vectors=known.client_vectors - unknown | ({deviation} - given.keys()),
        step_vectors=known.step_vectors - unknown | ({deviation} - given.keys()),
        noise=known.noise - unknown,
        common_random_numbers=frozenset(),
        random=known.random | ({deviation} - given.keys()),
        definitions=given,
        assumed=_relate_covariances(claim, symbol, at_local) | _relate_movement(symbol),
    )


def _relate_movement(symbol: SymbolTable) -> dict[str, Expr]:
    """Return the dependence of the virtual iterate on the weights of earlier steps.

    In expectation, 2 <d, theta^{n,k}> is -2 eta_g eta_l <d, sum of the earlier d>. Summed over the steps, this is the
    excess of |sum d|^2 over the sum of |d|^2.
    """
    mean = Average(deviation)
    cross_terms = norm_sq(LocalSum(mean)) - LocalSum(norm_sq(mean))
    size = symbol(q.local_step_size) * symbol(q.server_step_size)
    points = {MOVED: surrogate_optimum, MOVED_FROM_Y: comparator}
    return {name: 2 * LocalSum(Inner(mean, virtual - point)) + size * cross_terms for name, point in points.items()}


def build_past_steps_context(claim: Claim) -> Context:
    """Return the context of the local steps before the present one, at which gradients have no further properties."""
    symbol = symbols_of(claim)
    if not symbol.has(q.local_step_index):
        raise Rejected("sums over earlier steps need the symbol of the local step")
    step, server_step = symbol(q.local_step_size), symbol(q.server_step_size)
    return Context(
        numbers=collect_numbers(claim),
        vectors=frozenset({server}),
        client_vectors=frozenset({received, sample, deviation}),
        step_vectors=frozenset({sample, deviation}),
        definitions={
            local: received - step * LocalSum(sample),
            virtual: server - step * server_step * LocalSum(write_weighted_sum(symbol, sample)),
        },
        local_steps=symbol(q.local_step_index),
        assumed=_relate_covariances(claim, symbol, sample),
    )


def build_staleness_context(claim: Claim) -> Context:
    """Return the context of the updates since a client received its model, treated like local steps."""
    symbol, numbers = symbols_of(claim), collect_numbers(claim)
    return Context(
        numbers=replace(numbers, of_clients=numbers.of_clients | {age}),
        vectors=frozenset({server}),
        client_vectors=frozenset({move}),
        step_vectors=frozenset({move}),
        definitions={received: server - LocalSum(move)},
        local_steps=age,
        assumed={PAST_MOVES: symbol(q.past_step_lengths_sq) - LocalSum(norm_sq(move))},
    )


def build_types_context(claim: Claim) -> Context:
    """Return the context of the federated problem at the virtual iterate: types with a weight, and types without."""
    own, chi_sq = frozenset({present, absent, pull}), symbols_of(claim)(q.chi_sq)
    context = Context(
        numbers=add_numbers(numbers_of(claim), own, {chi_sq: Average(present * pull**2)}),
        vectors=frozenset({virtual}),
        client_vectors=frozenset({client_optimum}),
        client_objectives=frozenset({client_objective}),
        minimisers={client_objective: client_optimum},
    )
    return with_common_shape(context, claim)


def _relate_covariances(claim: Claim, symbol: SymbolTable, gradient: Expr) -> dict[str, Expr]:
    """Return Assumption 5, E<w_i u, w_j v> = alpha q_i q_j <u, v> for two clients, and E[w_i^2] for a single one."""
    if a.weight_covariance not in claim.assumptions:
        return {}
    total, pairing, share = symbol(q.weight_sum), symbol(q.weight_pairing), symbol(q.weight_share)
    own = total * Average((square_of_weight - pairing * total * share) * norm_sq(gradient))
    second = own - (1 - pairing) * total**2 * norm_sq(Average(gradient)) - norm_sq(Average(deviation))
    independence = Inner(Average(deviation), gradient)
    return {
        WEIGHTS_AT_MOST: second,
        WEIGHTS_AT_LEAST: -second,
        APART_AT_MOST: independence,
        APART_AT_LEAST: -independence,
    }


def collect_numbers(claim: Claim) -> Numbers:
    """Return the numbers of a claim, with those of each client in an update."""
    symbol = symbols_of(claim)
    own = frozenset({symbol(q.weight_share), square_of_weight})
    shared = frozenset({symbol(q.weight_sum), symbol(q.past_step_lengths_sq), excess})
    return add_numbers(numbers_of(claim), own, {symbol(q.spread_factor): _define_spread_factor(symbol)}, shared)


def add_numbers(
    numbers: Numbers,
    own: frozenset[Symbol],
    definitions: Mapping[Symbol, Expr],
    shared: frozenset[Symbol] = frozenset(),
) -> Numbers:
    """Add numbers, of each client and common ones, any of which may vanish."""
    return replace(
        numbers,
        symbols=numbers.symbols | shared,
        of_clients=numbers.of_clients | own,
        maybe_zero=numbers.maybe_zero | own | shared,
        definitions=definitions,
    )


def _define_spread_factor(symbol: SymbolTable) -> Expr:
    """Return kappa = 1 + eta_g^2 rho beta + max(0, eta_g rho (alpha eta_g rho - 2))."""
    server_step, largest = symbol(q.server_step_size), symbol(q.largest_weight_sum)
    found: Expr = 1 + server_step**2 * largest * symbol(q.weight_excess) + excess
    return found


def list_shared_conditions(claim: Claim) -> tuple[Expr, ...]:
    """Return known orderings of an update's numbers, such as q(n) <= rho, of which the claim has both."""
    return symbols_of(claim).at_most(
        (q.smoothness, q.sample_smoothness),
        (q.weight_sum, q.largest_weight_sum),
        (q.smallest_weight_sum, q.weight_sum),
        (q.chi_sq, q.largest_chi_sq),
    )


def list_weight_conditions(claim: Claim) -> tuple[Expr, ...]:
    """Return further inequalities between the weights of an update, from Assumption 5 and the definitions."""
    symbol = symbols_of(claim)
    if not symbol.has(q.weight_share):
        return ()
    share, total, pairing = symbol(q.weight_share), symbol(q.weight_sum), symbol(q.weight_pairing)
    root = symbol(q.server_step_size) * symbol(q.largest_weight_sum)
    # Symbols that the claim does not have would only disturb the evaluation at random numbers.
    missing = (Average(absent) <= 1,) if symbol.has(q.unrepresented_importance) else ()
    return (
        *list_shared_conditions(claim),
        *missing,
        *symbol.at_most((q.weight_share, q.largest_share)),
        share <= 1,
        pairing <= 1,
        sp.Ge(square_of_weight, pairing * total * share),
        sp.Ge(symbol(q.weight_excess), square_of_weight - pairing * total * share),
        sp.Ge(excess, root * (pairing * root - 2)),
        sp.Le(age, symbol(q.largest_staleness)),
    )
