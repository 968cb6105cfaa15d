"""Definitions of quantities of updates by their vectors; trusted like the kernel.

A claim with such quantities is proved for every update, local step and client.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import sympy as sp

from fedtheory.kernel import Context, Rejected
from fedtheory.kernel.expressions import Average, ClientSum, Expr, Gradient, Value, norm_sq
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim, Relation
from fedtheory.language.quantities import Quantity
from fedtheory.proofs.numbers import SymbolTable, numbers_of, symbols_of
from fedtheory.proofs.paper_contexts import PaperContext
from fedtheory.sources.fraboni2022.context import updates
from fedtheory.sources.fraboni2022.context.averages import OverClients, OverSteps, OverUpdates
from fedtheory.sources.fraboni2022.context.surrogate import build_loss_changes_context, build_surrogate_context
from fedtheory.sources.fraboni2022.context.terms import meaning_of
from fedtheory.sources.fraboni2022.context.updates import (
    absent,
    build_past_steps_context,
    build_staleness_context,
    build_steps_context,
    build_types_context,
    build_weights_context,
    client_objective,
    client_optimum,
    deviation,
    present,
    pull,
    shared_conditions,
    square_of_weight,
    surrogate_optimum,
    virtual,
    weight_conditions,
)
from fedtheory.sources.fraboni2022.context.windows import OverWindow, OverWindows

Meanings = dict[Quantity, Expr]


def build_update_context(claim: Claim, relation: Relation) -> Context:
    """Return the context in which one relation between quantities of updates is proved."""
    context, named = _read(claim, relation).context(claim), write_in_vectors(claim, relation).free_symbols
    # A run has the minimisers that its measured quantities use; other minimisers need not exist.
    return replace(context, minimisers={f: at for f, at in context.minimisers.items() if at in named})


def write_in_vectors(claim: Claim, relation: Relation) -> Relation:
    """Write a relation between quantities of updates in inner products and objective values."""
    if any(expression.has(Average) for expression in (*relation.sides, *claim.conditions)):
        raise Rejected("client averages use the client weights, which a context of updates does not have")
    symbol, reading = symbols_of(claim), _read(claim, relation)
    meanings = reading.meanings(symbol, _list_used(claim, relation))
    known = {symbol(quantity): meaning for quantity, meaning in meanings.items()} | _write_weights(symbol)
    weights = {symbol(weight): number for weight, number in reading.weights.items()}
    written = relation.transform(lambda side: _convert_to_means(side.xreplace(known), weights))
    if q.weight_share in reading.weights:
        _require_reports(claim, written.sides)
    return written


@dataclass(frozen=True)
class QuantityReading:
    """A way to translate quantities."""

    terms: tuple[q.RunQuantity, ...]
    """Quantities whose definitions are their terms."""
    others: Callable[[SymbolTable], Meanings]
    """Definitions of quantities without a term in these vectors."""
    context: Callable[[Claim], Context]
    """Function that returns the context."""
    weights: Mapping[Quantity, Expr]
    """The weights of sums over clients, as multiples of the weights of the context's averages."""

    @cached_property
    def quantities(self) -> frozenset[Quantity]:
        """Return the quantities with a definition in the context."""
        return frozenset((*self.terms, *self.others(SymbolTable({}))))

    def meanings(self, symbol: SymbolTable, used: Collection[Quantity]) -> Meanings:
        """Return the definitions of the used quantities."""
        others = {quantity: meaning for quantity, meaning in self.others(symbol).items() if quantity in used}
        return others | {quantity: meaning_of(quantity, symbol) for quantity in self.terms if quantity in used}


def _read(claim: Claim, relation: Relation) -> QuantityReading:
    if a.aggregation_scheme not in claim.assumptions:
        raise Rejected("quantities of updates are those of scheme (6)")
    used = _list_used(claim, relation)
    measured, weights = used & _ALL, used & _WEIGHTS
    for reading in READINGS:
        if measured <= reading.quantities and weights <= reading.weights.keys():
            return reading
    names = ", ".join(sorted(quantity.name for quantity in measured))
    raise Rejected(f"no theory has all of: {names}")


def _list_used(claim: Claim, relation: Relation) -> frozenset[Quantity]:
    symbol = symbols_of(claim)
    return frozenset(one for each in relation.free_symbols if (one := symbol.quantity(each)) is not None)


def _write_weights(symbol: SymbolTable) -> dict[sp.Symbol, Expr]:
    """Return the weights of an update as their sum times the clients' normalised weights."""
    weight = symbol(q.weight_sum) * symbol(q.weight_share)
    return {symbol(q.expected_weight): weight, symbol(q.expected_square_weight): weight * square_of_weight}


def _convert_to_means(expression: Expr, weights: Mapping[sp.Symbol, Expr]) -> Expr:
    """Write sums over clients as averages; every summand has one of the weights as a factor."""

    def member(content: Expr) -> Expr:
        powers = content.as_powers_dict()
        used = [weight for weight in weights if powers.get(weight, 0) >= 1]
        if len(used) != 1:
            raise Rejected(f"the clients do not count with their weights in the sum of {content}")
        return weights[used[0]] * content / used[0]

    def mean(total: Expr) -> Expr:
        return Average(sp.Add(*map(member, sp.Add.make_args(sp.expand_mul(total.args[0], deep=False)))))

    found: Expr = expression.replace(lambda part: isinstance(part, ClientSum), mean)
    return found


def _require_reports(claim: Claim, sides: Sequence[Expr]) -> None:
    """Raise `Rejected` if clients need normalised weights in an update that may have no report.

    Quantities with unnormalised weights only, which then vanish, are known in any case.
    """
    symbol = symbols_of(claim)
    total = symbol(q.weight_sum)
    nobody = {total: sp.S.Zero, Average(deviation): sp.S.Zero}
    share = symbol(q.weight_share)
    if total not in numbers_of(claim).divisors and any(side.xreplace(nobody).has(Average, share) for side in sides):
        raise Rejected("normalised weights exist only in updates with a report, which the claim does not assume")


_OF_MODELS = (
    q.stochastic_gradient_sq,
    q.square_mean_gradient_at_step,
    q.mean_square_gradient,
    q.square_mean_gradient,
    q.alignment,
    q.comparator_alignment,
)
_OF_STEPS = (
    *_OF_MODELS,
    q.client_distance_sq,
    q.client_spread,
    q.round_gap_at_step,
    q.round_gap,
    q.surrogate_gap,
    q.comparator_gap,
    q.virtual_client_gap,
    q.received_distance_sq,
    q.mean_gradient_at_virtual_sq,
    q.virtual_gradient_lengths,
    q.misrepresentation,
    q.stale_gradient_change,
    q.mixed_gradient_change,
    q.change_from_round_optimum,
    q.virtual_second_moment,
    q.mixed_noise_at_virtual,
    q.second_moment_at_round_optimum,
    q.round_optimum_noise,
    q.round_optimum_mixed_noise,
)
_OF_WEIGHTS = (
    *_OF_MODELS,
    q.selected_gradient_sq,
    q.virtual_distance_sq,
    q.next_virtual_distance_sq,
    q.virtual_step_sq,
    q.mixed_descent,
    q.selected_descent,
    q.selected_alignment,
    q.progress,
    q.comparator_progress,
    q.step_length_sq,
)
_OF_LOSS_CHANGES = (*_OF_WEIGHTS, q.virtual_loss_change, q.local_change_sq)
_OF_PAST_STEPS = (
    q.client_distance_sq,
    q.received_distance_sq,
    q.past_applied_spread,
    q.past_mean_square_gradient,
)


def _define_nothing(_symbol: SymbolTable) -> Meanings:
    return {}


def _define_types(_symbol: SymbolTable) -> Meanings:
    """Define the gradient of the federated problem at the virtual iterate, by types that an update may lack."""
    slope = Gradient(client_objective, virtual)
    return {
        q.gradient_deviation_sq: norm_sq(Average((present * pull + absent) * slope)),
        q.objective_gradient_sq: norm_sq(Average((present * (1 + pull) + absent) * slope)),
    }


def _define_surrogate(_symbol: SymbolTable) -> Meanings:
    """Define the quantities of the federated and the surrogate problem, where no type is missing."""
    least = Value(client_objective, client_optimum)
    return {
        q.objective_gradient_sq: norm_sq(Average((1 + pull) * Gradient(client_objective, virtual))),
        q.client_gap_at_surrogate_optimum: Value(client_objective, surrogate_optimum) - least,
    }


_SHARES: Mapping[Quantity, Expr] = {q.weight_share: sp.S.One}
READINGS = (
    QuantityReading((q.received_distance_sq,), _define_nothing, build_staleness_context, _SHARES),
    QuantityReading(_OF_PAST_STEPS, _define_nothing, build_past_steps_context, _SHARES),
    QuantityReading(_OF_STEPS, _define_nothing, build_steps_context, _SHARES),
    QuantityReading(_OF_WEIGHTS, _define_nothing, build_weights_context, _SHARES),
    QuantityReading(_OF_LOSS_CHANGES, _define_nothing, build_loss_changes_context, _SHARES),
    QuantityReading(
        (q.surrogate_suboptimality_at_step,),
        _define_surrogate,
        build_surrogate_context,
        {q.mean_weight_share: sp.S.One},
    ),
    QuantityReading(
        (q.mean_gradient_at_virtual_sq, q.virtual_gradient_lengths, q.virtual_client_gap),
        _define_types,
        build_types_context,
        {q.weight_share: present, q.unrepresented_importance: absent},
    ),
)
_WEIGHTS = frozenset().union(*(reading.weights.keys() for reading in READINGS))
_ALL = frozenset().union(*(reading.quantities for reading in READINGS))
CONTEXT = PaperContext(
    write_in_vectors=write_in_vectors,
    context=build_update_context,
    share=q.weight_share,
    conditions=shared_conditions,
    step_conditions=weight_conditions,
    symbols={"update": updates},
    derived=(OverClients, OverSteps, OverUpdates, OverWindow, OverWindows),
)
