"""Write the terms that define quantities of updates in the vectors of a context."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import sympy as sp

from fedtheory.kernel import Rejected
from fedtheory.kernel.expressions import (
    ClientSum,
    Expectation,
    Expr,
    LocalSum,
    SampledGradient,
    Selected,
    has_plain_vectors,
)
from fedtheory.language import quantities as q
from fedtheory.language.quantities import Quantity, RunQuantity, VectorQuantity
from fedtheory.language.quantities.measuring.reductions import FIRST_STEP, LAST_STEP, MEAN_OVER_STEPS, SUM_BEFORE_STEP
from fedtheory.language.quantities.quantity import Over
from fedtheory.proofs.numbers import SymbolTable
from fedtheory.sources.fraboni2022.context import updates

_VECTORS: Mapping[Quantity, Expr] = {
    q.local_iterate: updates.local,
    q.virtual_iterate: updates.virtual,
    q.received_model: updates.received,
    q.server_model: updates.server,
    q.optimum: updates.optimum,
    q.client_optimum: updates.client_optimum,
    q.round_optimum: updates.round_optimum,
    q.surrogate_optimum: updates.surrogate_optimum,
    q.surrogate_comparator: updates.comparator,
    q.stochastic_gradient: updates.at_local,
}
"""Vectors of the context for the quantities in a term."""
_POINTS: Mapping[Quantity, Expr] = {
    point: _VECTORS[point]
    for point in (q.optimum, q.client_optimum, q.round_optimum, q.surrogate_optimum, q.surrogate_comparator)
}
"""Points that no local step changes."""
_SAMPLES: Mapping[Expr, Expr] = {
    updates.local: updates.at_local,
    updates.virtual: updates.at_virtual,
    updates.round_optimum: updates.at_optimum,
}
"""Stochastic gradients of the present sample at points."""


def define_in_vectors(quantity: RunQuantity, symbol: SymbolTable) -> Expr:
    """Return a quantity's term in the vectors of an update, with averages over clients by normalised weights.

    Inner products and values in a context are expectations; a term has them linearly inside an `Expectation`.
    """
    term = quantity.term
    assert term is not None, f"{quantity.name} has no term"
    if term.over not in _VECTORS_OF:
        raise Rejected(f"no vectors are known at the local steps that {quantity.name} is made of")
    known = _VECTORS_OF[term.over](symbol)
    vectors = {of for _, of in term.where if isinstance(of, VectorQuantity)}
    if not vectors <= known.keys():
        names = ", ".join(sorted(vector.name for vector in vectors - known.keys()))
        raise Rejected(f"{quantity.name} is about vectors that change in other ways: {names}")
    if not has_plain_vectors(term.expression.replace(SampledGradient, lambda _objective, point: point)):
        raise Rejected(f"{quantity.name} has expectations of vectors, which no context of updates has")
    known = {**known, q.client_objective: updates.client_objective}
    symbols = {own: known[of] if of in known else symbol(of) for own, of in term.where}
    written = term.expression.replace(Expectation, lambda inside: inside).xreplace(symbols)
    written = written.replace(SampledGradient, _get_sampled_gradient)
    written = written.replace(Selected, lambda vector: updates.write_weighted_sum(symbol, vector))
    meaning = written.replace(ClientSum, lambda content: _weigh_by_shares(content, symbol))
    if term.over == (MEAN_OVER_STEPS,):
        return LocalSum(meaning) / symbol(q.local_steps)
    return LocalSum(meaning) if term.over == (SUM_BEFORE_STEP,) else meaning


def _get_sampled_gradient(_objective: Expr, point: Expr) -> Expr:
    """Return the gradient of the present sample at a point."""
    if point not in _SAMPLES:
        raise Rejected(f"no vector of the context is the gradient of the present sample at {point}")
    return _SAMPLES[point]


def _list_points(_symbol: SymbolTable) -> Mapping[Quantity, Expr]:
    """Return the points that no local step changes; sampled gradients there have one distribution at all steps."""
    return _POINTS


def _list_vectors(symbol: SymbolTable) -> Mapping[Quantity, Expr]:
    """Return the vectors of a local step."""
    return {**_VECTORS, q.next_virtual_iterate: updates.write_next_virtual(symbol)}


def _list_earlier_vectors(_symbol: SymbolTable) -> Mapping[Quantity, Expr]:
    """Return the vectors of earlier local steps: gradients without further properties."""
    return {q.stochastic_gradient: updates.sample}


def _list_models(symbol: SymbolTable) -> Mapping[Quantity, Expr]:
    """Return the models before all local steps, and after them."""
    size = symbol(q.local_step_size)
    moved = size * LocalSum(updates.at_local)
    step = size * symbol(q.server_step_size) * LocalSum(updates.write_weighted_sum(symbol, updates.at_local))
    return {
        q.server_model: updates.server,
        q.received_model: updates.received,
        q.next_local_iterate: updates.received - moved,
        q.next_virtual_iterate: updates.server - step,
    }


_VECTORS_OF: Mapping[tuple[Over, ...], Callable[[SymbolTable], Mapping[Quantity, Expr]]] = {
    (): _list_vectors,
    (FIRST_STEP,): _list_points,
    (MEAN_OVER_STEPS,): _list_vectors,
    (SUM_BEFORE_STEP,): _list_earlier_vectors,
    (LAST_STEP,): _list_models,
}
"""Functions that return the vectors of a term, by the local steps that it uses."""


def _weigh_by_shares(content: Expr, symbol: SymbolTable) -> Expr:
    """Write a sum over clients with expected or average weights as a multiple of one with normalised weights.

    Raises `Rejected` unless every summand has the weight exactly once as a factor.
    """
    for weight, share, total in (
        (symbol(q.expected_weight), symbol(q.weight_share), symbol(q.weight_sum)),
        (symbol(q.mean_weight), symbol(q.mean_weight_share), symbol(q.mean_weight_sum)),
    ):
        if content.has(weight):
            summands = sp.Add.make_args(sp.expand_mul(content))
            if any((summand / weight).has(weight) for summand in summands):
                raise Rejected(
                    f"expected {weight} exactly once as a factor of each summand over clients, got {content}"
                )
            return total * ClientSum(sp.Add(*summands).xreplace({weight: share}))
    return ClientSum(content)
