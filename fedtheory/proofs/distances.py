"""Distances of clients inside a round: from each other, from their average, from their start.

All clients start a round at the server's model.  A measure defines the distance before and after a local step, its
context, and the bound on the drift that follows from a bound on it at every step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import sympy as sp

from fedtheory.kernel import Context, Numbers
from fedtheory.kernel.expressions import Average, Expr, Gradient, norm_sq
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.proofs.claim_context import build_context, list_client_assumptions, with_common_shape
from fedtheory.proofs.numbers import symbols_of

x_i, x_j, n_i, n_j = sp.symbols("x_i x_j n_i n_j", real=True, cls=sp.Dummy)
"""The iterates of two clients, and the noise of their next gradients."""
F, F_i, F_j = sp.symbols("F F_i F_j", real=True, cls=sp.Dummy)
"""The objective, and those of the two clients."""
SLOPE_I, SLOPE_J = Gradient(F_i, x_i), Gradient(F_j, x_j)


@dataclass(frozen=True)
class Measure:
    """A squared distance of clients inside a round."""

    before: Callable[[Claim], Expr]
    after: Callable[[Claim], Expr]
    context: Callable[[Claim, Numbers], Context]
    together: Callable[[Claim, Context], Context]
    """The context at the start of a round, where all clients have the server's model."""
    largest_drift: Callable[[Expr], Expr] | None
    """Factor of the bound for the largest drift of one client, as a function of the number of clients.

    None means that no factor is known.
    """
    mean_drift: Callable[[Expr], Expr]
    """Factor of the bound for the client average of the drift."""
    needs: tuple[a.Assumption, ...] = ()
    """Assumptions that these factors need."""
    largest: q.RunQuantity = q.max_drift
    """The largest drift of a run that it bounds."""
    means: tuple[q.RunQuantity, ...] = (q.round_drift, q.average_round_drift)
    """The averages over the local steps that it bounds."""
    places: tuple[str, ...] = ("step", "models")
    """The places of proof terms at which a bound on it bounds the drift."""
    observes_together: bool = True
    """Whether clients that step from one point have evaluated their gradients there."""


def move_two(claim: Claim, start_i: Expr = x_i, start_j: Expr = x_j) -> Expr:
    """Return the squared distance of two clients after a local step, by default from their iterates."""
    size = symbols_of(claim)(q.local_step_size)
    return norm_sq((start_i - size * (SLOPE_I + n_i)) - (start_j - size * (SLOPE_J + n_j)))


def build_pair_context(claim: Claim, numbers: Numbers) -> Context:
    """Return the context of two clients: the claim's assumptions, for each of them."""
    noise = frozenset({n_i, n_j})
    is_quiet = a.full_gradients in claim.assumptions
    context = Context(
        numbers=numbers,
        vectors=frozenset({x_i, x_j}) if is_quiet else noise | {x_i, x_j},
        noise=frozenset() if is_quiet else noise,
        definitions=dict.fromkeys(noise, sp.S.Zero) if is_quiet else {},
        objectives=frozenset({F, F_i, F_j}),
        assumed=dict(_assume_for_two(claim)),
    )
    return with_common_shape(context, claim)


def _assume_for_two(claim: Claim) -> Iterator[tuple[str, Expr]]:
    """Yield the slacks of the assumed bounds for two clients, by name."""
    largest = symbols_of(claim)(q.visited_second_moment) ** 2
    for name, x, slope, noise in (("i", x_i, SLOPE_I, n_i), ("j", x_j, SLOPE_J, n_j)):
        for known, slack in list_client_assumptions(claim, Gradient(F, x), slope, noise):
            yield f"{known} of {name}", slack
        # The largest value of the run bounds that of each step.
        yield f"second moment of {name} in the run", largest - norm_sq(slope + noise)


def _identify_clients(_claim: Claim, context: Context) -> Context:
    """Identify the second client with the first one."""
    return replace(context, vectors=context.vectors - {x_j}, definitions={**context.definitions, x_j: x_i})


PAIR = Measure(
    before=lambda _claim: norm_sq(x_i - x_j),
    after=move_two,
    context=build_pair_context,
    together=_identify_clients,
    # x_i - xbar is (1/M) times the sum of x_i - x_j over the others.
    largest_drift=lambda clients: (1 - 1 / clients) ** 2,
    # The average over i is half of the average over all pairs, of which a fraction 1/M is zero.
    mean_drift=lambda clients: (1 - 1 / clients) / 2,
    needs=(a.uniform_shares,),
)


def _measure_spread(claim: Claim, iterate: q.Quantity, centre: q.Quantity) -> Expr:
    """Return the client average of the squared distances of the iterates to the centre."""
    symbol = symbols_of(claim)
    return Average(norm_sq(symbol(iterate) - symbol(centre)))


def _build_whole_context(claim: Claim, numbers: Numbers) -> Context:
    """Build the context of a local step of all clients, with given facts on numbers."""
    return replace(build_context(replace(claim, place="step")), numbers=numbers)


def _identify_iterates(claim: Claim, context: Context) -> Context:
    """Identify every client's iterate with the server's model."""
    symbol = symbols_of(claim)
    local, server = symbol(q.local_iterate), symbol(q.server_model)
    others = context.client_vectors - {local}
    return replace(context, client_vectors=others, definitions={**context.definitions, local: server})


def _build_average_measure(centre: q.Quantity, next_centre: q.Quantity) -> Measure:
    """Return the client average of the squared distance from a model, before and after a step."""
    return Measure(
        before=lambda claim: _measure_spread(claim, q.local_iterate, centre),
        after=lambda claim: _measure_spread(claim, q.next_local_iterate, next_centre),
        context=_build_whole_context,
        together=_identify_iterates,
        largest_drift=None,
        # The average minimises the mean squared distance.
        mean_drift=lambda _clients: sp.S.One,
    )


SPREAD = _build_average_measure(q.average_iterate, q.next_average_iterate)
"""The measure of distances from the average."""
DISPLACEMENT = _build_average_measure(q.server_model, q.server_model)
"""The measure of distances from the model at the start of the round."""
