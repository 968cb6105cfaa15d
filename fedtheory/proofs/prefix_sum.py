"""Sums over the local steps of a round up to the present one (prefix sums).

For the kernel they are sums over all local steps of a shorter round, in which
only second moments of a client's stochastic gradients are known.
"""

from __future__ import annotations

from fedtheory.kernel import Context, Rejected
from fedtheory.kernel.expressions import Average, LocalSum, PastSum, norm_sq
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim, Relation
from fedtheory.proofs.numbers import ROUNDS, SymbolTable, numbers_of, symbols_of
from fedtheory.proofs.rounds import is_in_expectation


def has_prefix_sum(relation: Relation) -> bool:
    """Return whether a relation contains a sum over the past local steps."""
    return bool(relation.atoms(PastSum))


def extend_sums(relation: Relation) -> Relation:
    """Return a relation with its prefix sums as sums over all local steps."""
    return relation.transform(lambda side: side.replace(PastSum, LocalSum))


def build_past_context(claim: Claim, relation: Relation) -> Context:
    """Return the context in which a relation about the past local steps is to be proved."""
    symbol = symbols_of(claim)
    missing = [assumption.name for assumption in ROUNDS if assumption not in claim.assumptions]
    if missing:
        raise Rejected(f"sums over the past local steps need: {', '.join(missing)}")
    _require_plain_sums(symbol, relation)
    gradient, server = symbol(q.stochastic_gradient), symbol(q.server_model)
    moved = server - symbol(q.local_step_size) * LocalSum(gradient)
    known = is_in_expectation(claim, relation) and a.bounded_second_moment in claim.assumptions
    return Context(
        numbers=numbers_of(claim),
        vectors=frozenset({server}),
        client_vectors=frozenset({gradient}),
        step_vectors=frozenset({gradient}),
        definitions={symbol(q.next_local_iterate): moved, symbol(q.next_average_iterate): Average(moved)},
        local_steps=symbol(q.local_step_index) + 1,
        assumed={"bounded second moment": symbol(q.second_moment) ** 2 - norm_sq(gradient)} if known else {},
    )


def _require_plain_sums(symbol: SymbolTable, relation: Relation) -> None:
    """Raise `Rejected` if a prefix sum has summands that change, other than the gradients of its own steps."""
    changing = {symbol(q.local_step_index), symbol(q.next_local_iterate), symbol(q.next_average_iterate)}
    for side in relation.sides:
        if side.atoms(LocalSum):
            raise Rejected("a sum over the past and one over the whole round stand in one relation")
        for past in side.atoms(PastSum):
            if past.args[0].atoms(PastSum) or past.args[0].free_symbols & changing:
                raise Rejected(f"{past} sums values that change, other than the gradients of its own steps")
