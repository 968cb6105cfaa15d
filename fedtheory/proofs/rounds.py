"""The context of one round, given the model at its start: participants, and local steps.

A statement without expectations must hold for every outcome: then nothing is
random, and an average over participants is an average over some of the clients.
In a statement with expectations everything random must be inside one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

import sympy as sp

from fedtheory.kernel import Context, Rejected
from fedtheory.kernel.expressions import Average, Expectation, Expr, Gradient, Inner, LocalSum, Selected, Value, norm_sq
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim, Relation
from fedtheory.language.quantities import ScalarQuantity, VectorQuantity
from fedtheory.proofs.claim_context import GIVEN_BY_PAPERS, build_context
from fedtheory.proofs.numbers import SymbolTable, numbers_of, symbols_of

_GIVEN = (
    q.server_model,
    q.optimum,
    q.client_optimum,
    q.centralised_model,
    *GIVEN_BY_PAPERS,
)
"""Vectors that the start of a round determines; all others depend on its samples."""


@cache
def _create_symbol(name: str) -> sp.Dummy:
    """Return a new real symbol."""
    return sp.Dummy(name, real=True)


def build_round_context(claim: Claim, relation: Relation) -> Context:
    """Return the context in which one relation about a round is to be proved.

    Raises `Rejected` if it mixes both interpretations.
    """
    symbol = symbols_of(claim)
    needed = (a.uniform_sampling, a.unit_server_step, a.uniform_shares)
    if any(assumption not in claim.assumptions for assumption in needed):
        raise Rejected("expected uniformly sampled participants and a unit server step")
    every_outcome = _expand_outcomes(claim, symbol)
    if not is_in_expectation(claim, relation):
        return every_outcome
    return _build_expectation_context(symbol, every_outcome, _find_random(claim) & relation.free_symbols)


def is_in_expectation(claim: Claim, relation: Relation) -> bool:
    """Return whether a relation concerns expectations, not every outcome; raise `Rejected` if it mixes both."""
    if not relation.atoms(Expectation):
        return False
    for side in relation.sides:
        _require_expectations(side, _find_random(claim))
    return True


def _find_random(claim: Claim) -> set[Expr]:
    """Return the symbols of a claim for random values."""
    kinds = (VectorQuantity, ScalarQuantity)
    return {
        s
        for s, quantity in {**claim.where, **claim.notation}.items()
        if isinstance(quantity, kinds) and quantity not in _GIVEN
    }


def _expand_outcomes(claim: Claim, symbol: SymbolTable) -> Context:
    """Express the round's vectors by its noise, which is an ordinary vector here."""
    context = build_context(replace(claim, place="path"))
    local, noise, at_server = symbol(q.local_iterate), symbol(q.gradient_noise), _create_symbol(r"\xi_k(w)")
    objective, server, size = symbol(q.client_objective), symbol(q.server_model), step_size(claim)
    gradient = Gradient(objective, local) + noise
    is_quiet = a.full_gradients in claim.assumptions
    noises = frozenset() if is_quiet else frozenset({noise, at_server})
    defined = {
        symbol(q.gradient_at_server_model): Gradient(objective, server) + at_server,
        symbol(q.next_local_iterate): local - size * gradient,
        symbol(q.local_result): server - size * LocalSum(gradient),
        symbol(q.next_server_model): Selected(symbol(q.local_result)),
    }
    return replace(
        context,
        client_vectors=context.client_vectors | noises,
        step_vectors=noises | {local},
        definitions={**context.definitions, **defined} | ({at_server: sp.S.Zero} if is_quiet else {}),
        local_steps=symbol(q.client_local_steps),
        numbers=replace(context.numbers, of_clients=context.numbers.of_clients | {symbol(q.client_local_steps)}),
        of_a_round=True,
        step_number=symbol(q.local_step_index),
    )


def step_size(claim: Claim) -> Expr:
    """Return the local step size of a client, according to the assumption on it."""
    symbol = symbols_of(claim)
    if a.normalised_steps in claim.assumptions:
        return symbol(q.effective_step_size) / symbol(q.client_local_steps)
    return symbol(q.local_step_size if a.two_sided_steps in claim.assumptions else q.client_step_size)


def eliminate_indicators(claim: Claim, side: Expr) -> Expr:
    """Return a side with the indicators of the participants eliminated.

    An indicator equals its square; a client average with indicators is L/M times that of the participants, of whom
    there are L; and the participants are independent of the clients' vectors, so that an indicator has expectation L/M.
    """
    symbol = symbols_of(claim)
    if not symbol.has(q.participates) or a.uniform_sampling not in claim.assumptions:
        return side
    numbers = numbers_of(claim)
    draw = _Draw(
        symbol(q.participates),
        symbol(q.participants) / symbol(q.clients),
        symbol(q.next_server_model),
        numbers.symbols | numbers.of_clients,
    )
    return _factor_indicator(side, draw)


@dataclass(frozen=True)
class _Draw:
    """Symbols of a participant's indicator and its expectation, of the model after sampling, and of numbers."""

    indicator: sp.Symbol
    share: Expr
    model: sp.Symbol
    numbers: frozenset[sp.Symbol]


def _factor_indicator(expression: Expr, draw: _Draw) -> Expr:
    """Factor the indicator of a sampled client out of an expression."""
    if not expression.has(draw.indicator) or expression == draw.indicator:
        return expression
    arguments = [_factor_indicator(argument, draw) for argument in expression.args]
    rest = [argument / draw.indicator for argument in arguments if _is_multiple(argument, draw.indicator)]
    if isinstance(expression, Inner) and len(rest) == 2:
        return draw.indicator * Inner(*rest)
    if isinstance(expression, Average) and rest and not rest[0].atoms(Inner, Value):
        return draw.share * (Selected(rest[0]) if rest[0] != 1 else sp.S.One)
    if isinstance(expression, Expectation) and rest and not rest[0].has(Selected, draw.model):
        return draw.share * (rest[0] if rest[0].free_symbols <= draw.numbers else Expectation(rest[0]))
    return _flatten_powers(expression.func(*arguments), draw.indicator)


def _flatten_powers(number: Expr, indicator: sp.Symbol) -> Expr:
    """Return a number in which powers of an indicator are replaced by the indicator."""
    if number.atoms(Inner, Gradient, Value, LocalSum, Selected):
        return number

    def is_power(part: Expr) -> bool:
        return bool(part.is_Pow and part.base == indicator and part.exp.is_Integer and part.exp > 0)

    parts = sp.Add.make_args(sp.expand(number).replace(is_power, lambda _part: indicator))
    multiples = [part for part in parts if _is_multiple(part, indicator)]
    shared = sp.Add(*(part / indicator for part in multiples)) * indicator
    return sp.Add(shared, *(part for part in parts if part not in multiples))


def _is_multiple(expression: Expr, indicator: sp.Symbol) -> bool:
    """Return whether the indicator is a factor of an expression, and occurs once."""
    return indicator in sp.Mul.make_args(expression) and not (expression / indicator).has(indicator)


def _require_expectations(expression: Expr, random: set[Expr]) -> None:
    """Raise `Rejected` for an inner product or a value that is random, and outside of expectations."""
    if isinstance(expression, Expectation):
        return
    if isinstance(expression, Inner | Value) and _find_outside(expression) & random:
        raise Rejected(f"{expression} is random, and stands outside of an expectation")
    for argument in expression.args:
        _require_expectations(argument, random)


def _find_outside(expression: Expr) -> set[Expr]:
    """Return the symbols outside of expectations; raise `Rejected` for averages over random participants there."""
    if isinstance(expression, Expectation):
        return set()
    if isinstance(expression, Selected):
        # The participants are random, even if their vectors are not.
        raise Rejected(f"{expression} is random, and stands outside of an expectation")
    if expression.is_Symbol:
        return {expression}
    return set().union(*(_find_outside(argument) for argument in expression.args))


def _build_expectation_context(symbol: SymbolTable, context: Context, used: set[Expr]) -> Context:
    """Return the context in which noise and participants of the round are random."""
    noise, at_server = symbol(q.gradient_noise), _create_symbol(r"\xi_k(w)")
    drawn = replace(
        context,
        # Without noise both are zero.
        noise=frozenset({noise, at_server}) & context.client_vectors,
        # The same sample at two points.
        common_random_numbers=frozenset({frozenset({noise, at_server})}),
        random=frozenset({symbol(q.local_iterate)}),
        participants=symbol(q.participants),
        assumed={**context.assumed, **_assume_constants(symbol, at_server)},
    )
    return _split_results(symbol, drawn) if used == {symbol(q.local_result)} else drawn


def _split_results(symbol: SymbolTable, context: Context) -> Context:
    """Split each client's result into its expectation and a fluctuation, if nothing else is random.

    A fluctuation is independent of the other clients, but not of the client's local iterates and their noise, about
    which nothing else is known.
    """
    mean, fluctuation = _create_symbol(r"\bar\psi_k"), _create_symbol(r"\tilde\psi_k")
    result, drawn = symbol(q.local_result), symbol(q.next_server_model)
    return replace(
        context,
        client_vectors=context.client_vectors - context.step_vectors | {mean, fluctuation},
        step_vectors=frozenset(),
        noise=frozenset({fluctuation}),
        common_random_numbers=frozenset(),
        random=frozenset(),
        definitions={result: mean + fluctuation, drawn: context.definitions[drawn]},
    )


def _assume_constants(symbol: SymbolTable, at_server: sp.Dummy) -> dict[str, Expr]:
    """Return the facts on the clients' constants, by their quantities."""
    local, server, own = symbol(q.local_iterate), symbol(q.server_model), symbol(q.client_optimum)
    beta, sigma, noise = symbol(q.relative_noise), symbol(q.absolute_noise), symbol(q.gradient_noise)
    objective = symbol(q.client_objective)
    changed = Gradient(objective, local) + noise - Gradient(objective, server) - at_server
    return {
        "variance at the server's model": beta**2 * norm_sq(own - server) + sigma**2 - norm_sq(at_server),
        "variance at a local iterate": beta**2 * norm_sq(own - local) + sigma**2 - norm_sq(noise),
        "mean-square smoothness": symbol(q.mean_square_smoothness) ** 2 * norm_sq(local - server) - norm_sq(changed),
    }
