"""Write claims about updates in vectors: which context has all their quantities, and what these are; trusted.

A claim is proved in its context for every update, local step and client.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

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
from fedtheory.sources.fraboni2022.context.terms import define_in_vectors
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
    list_shared_conditions,
    list_weight_conditions,
    present,
    pull,
    square_of_weight,
    surrogate_optimum,
    virtual,
)
from fedtheory.sources.fraboni2022.context.windows import OverWindow, OverWindows


def build_update_context(claim: Claim, relation: Relation) -> Context:
    """Return the context in which one relation between quantities of updates is proved."""
    context = _select_reading(claim, relation).context(claim)
    named = write_in_vectors(claim, relation).free_symbols
    # A run has the minimisers that its measured quantities use; other minimisers need not exist.
    return replace(context, minimisers={f: at for f, at in context.minimisers.items() if at in named})


def write_in_vectors(claim: Claim, relation: Relation) -> Relation:
    """Write a relation between quantities of updates in inner products and objective values."""
    if any(expression.has(Average) for expression in (*relation.sides, *claim.conditions)):
        raise Rejected("client averages use the client weights, which a context of updates does not have")
    symbol, reading = symbols_of(claim), _select_reading(claim, relation)
    definitions = reading.define(symbol, _list_used_quantities(claim, relation))
    known = {symbol(quantity): meaning for quantity, meaning in definitions.items()} | _write_weights(symbol)
    weights = {symbol(weight): number for weight, number in reading.weights.items()}
    written = relation.transform(lambda side: _convert_to_means(side.xreplace(known), weights))
    if q.weight_share in reading.weights:
        _require_reports(claim, written.sides)
    return written


_SHARES: Mapping[Quantity, Expr] = {q.weight_share: sp.S.One}


@dataclass(frozen=True)
class QuantityReading:
    """A context with the quantities that can be written in its vectors."""

    terms: tuple[q.RunQuantity, ...]
    """Quantities whose definitions are their terms."""
    context: Callable[[Claim], Context]
    """Function that returns the context."""
    weights: Mapping[Quantity, Expr] = field(default_factory=lambda: _SHARES)
    """The weights of sums over clients, as multiples of the weights of the context's averages."""
    others: Mapping[Quantity, Expr] = field(default_factory=dict)
    """Definitions of quantities without a term in these vectors."""

    @property
    def quantities(self) -> frozenset[Quantity]:
        """Return the quantities with a definition in the context."""
        return frozenset((*self.terms, *self.others))

    def define(self, symbol: SymbolTable, used: Collection[Quantity]) -> dict[Quantity, Expr]:
        """Return the definitions of the used quantities."""
        others = {quantity: meaning for quantity, meaning in self.others.items() if quantity in used}
        return others | {quantity: define_in_vectors(quantity, symbol) for quantity in self.terms if quantity in used}


def _select_reading(claim: Claim, relation: Relation) -> QuantityReading:
    """Return the first reading whose context has all quantities of a relation; raise `Rejected` if there is none."""
    if a.aggregation_scheme not in claim.assumptions:
        raise Rejected("quantities of updates are those of scheme (6): the claim does not assume `aggregation_scheme`")
    used = _list_used_quantities(claim, relation)
    measured, weights = used & _ALL, used & _WEIGHTS
    for reading in READINGS:
        if measured <= reading.quantities and weights <= reading.weights.keys():
            return reading
    names = ", ".join(sorted(quantity.name for quantity in measured))
    raise Rejected(f"no context of updates has all of these quantities: {names}")


def _list_used_quantities(claim: Claim, relation: Relation) -> frozenset[Quantity]:
    quantities = map(symbols_of(claim).quantity, relation.free_symbols)
    return frozenset(quantity for quantity in quantities if quantity is not None)


def _write_weights(symbol: SymbolTable) -> dict[sp.Symbol, Expr]:
    """Return the weights of an update as their sum times the clients' normalised weights."""
    weight = symbol(q.weight_sum) * symbol(q.weight_share)
    return {symbol(q.expected_weight): weight, symbol(q.expected_square_weight): weight * square_of_weight}


def _convert_to_means(expression: Expr, weights: Mapping[sp.Symbol, Expr]) -> Expr:
    """Write sums over clients as averages; every summand has one of the weights as a factor."""

    def replace_weight(summand: Expr) -> Expr:
        powers = summand.as_powers_dict()
        used = [weight for weight in weights if powers.get(weight, 0) >= 1]
        if len(used) != 1:
            raise Rejected(f"expected exactly one weight as a factor of each summand over clients, got {summand}")
        return weights[used[0]] * summand / used[0]

    def write_average(total: Expr) -> Expr:
        return Average(sp.Add(*map(replace_weight, sp.Add.make_args(sp.expand_mul(total.args[0], deep=False)))))

    written: Expr = expression.replace(lambda part: isinstance(part, ClientSum), write_average)
    return written


def _require_reports(claim: Claim, sides: Sequence[Expr]) -> None:
    """Raise `Rejected` if clients need normalised weights in an update that may have no report.

    Quantities with unnormalised weights only, which then vanish, are known in any case.
    """
    symbol = symbols_of(claim)
    total = symbol(q.weight_sum)
    without_reports = {total: sp.S.Zero, Average(deviation): sp.S.Zero}
    needs_shares = any(side.xreplace(without_reports).has(Average, symbol(q.weight_share)) for side in sides)
    if needs_shares and total not in numbers_of(claim).divisors:
        raise Rejected("normalised weights exist only in updates with a report, which the claim does not assume")


_MODEL_QUANTITIES = (
    q.stochastic_gradient_sq,
    q.square_mean_gradient_at_step,
    q.mean_square_gradient,
    q.square_mean_gradient,
    q.alignment,
    q.comparator_alignment,
)
_STEP_QUANTITIES = (
    *_MODEL_QUANTITIES,
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
_WEIGHT_QUANTITIES = (
    *_MODEL_QUANTITIES,
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
_LOSS_CHANGE_QUANTITIES = (*_WEIGHT_QUANTITIES, q.virtual_loss_change, q.local_change_sq)
_PAST_STEP_QUANTITIES = (
    q.client_distance_sq,
    q.received_distance_sq,
    q.past_applied_spread,
    q.past_mean_square_gradient,
)

_SLOPE = Gradient(client_objective, virtual)
_TYPE_GRADIENTS: Mapping[Quantity, Expr] = {
    q.gradient_deviation_sq: norm_sq(Average((present * pull + absent) * _SLOPE)),
    q.objective_gradient_sq: norm_sq(Average((present * (1 + pull) + absent) * _SLOPE)),
}
"""Gradients of the federated problem at the virtual iterate, for types that an update may lack."""
_SURROGATE_DEFINITIONS: Mapping[Quantity, Expr] = {
    q.objective_gradient_sq: norm_sq(Average((1 + pull) * _SLOPE)),
    q.client_gap_at_surrogate_optimum: Value(client_objective, surrogate_optimum)
    - Value(client_objective, client_optimum),
}
"""Quantities of the federated and the surrogate problem, where no type is missing."""

READINGS = (
    QuantityReading((q.received_distance_sq,), build_staleness_context),
    QuantityReading(_PAST_STEP_QUANTITIES, build_past_steps_context),
    QuantityReading(_STEP_QUANTITIES, build_steps_context),
    QuantityReading(_WEIGHT_QUANTITIES, build_weights_context),
    QuantityReading(_LOSS_CHANGE_QUANTITIES, build_loss_changes_context),
    QuantityReading(
        (q.surrogate_suboptimality_at_step,),
        build_surrogate_context,
        {q.mean_weight_share: sp.S.One},
        _SURROGATE_DEFINITIONS,
    ),
    QuantityReading(
        (q.mean_gradient_at_virtual_sq, q.virtual_gradient_lengths, q.virtual_client_gap),
        build_types_context,
        {q.weight_share: present, q.unrepresented_importance: absent},
        _TYPE_GRADIENTS,
    ),
)
"""Contexts in the order in which they are tried."""
_WEIGHTS = frozenset().union(*(reading.weights.keys() for reading in READINGS))
_ALL = frozenset().union(*(reading.quantities for reading in READINGS))
CONTEXT = PaperContext(
    write_in_vectors=write_in_vectors,
    context=build_update_context,
    share=q.weight_share,
    conditions=list_shared_conditions,
    step_conditions=list_weight_conditions,
    symbols={"update": updates},
    derived=(OverClients, OverSteps, OverUpdates, OverWindow, OverWindows),
)
