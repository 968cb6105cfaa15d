"""Definitions of quantities of updates by their vectors; trusted as the kernel is.

A claim about a run whose sides are such quantities is proved for any update,
any of its local steps and any client.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import sympy as sp

from fedtheory.kernel import Context, Rejected
from fedtheory.kernel.expressions import Average, ClientSum, Expr, Gradient, Inner, LocalSum, Value, norm_sq
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim, Relation
from fedtheory.language.quantities import Quantity
from fedtheory.proofs.numbers import SymbolTable, numbers_of, symbols_of
from fedtheory.proofs.paper_contexts import PaperContext
from fedtheory.sources.fraboni2022.context import definition_facts, schedule_facts, update_facts, updates
from fedtheory.sources.fraboni2022.context.averages import OverClients, OverSteps, OverUpdates
from fedtheory.sources.fraboni2022.context.surrogate import build_loss_changes_context, build_surrogate_context
from fedtheory.sources.fraboni2022.context.updates import (
    absent,
    applied,
    at_local,
    at_optimum,
    at_virtual,
    build_past_steps_context,
    build_staleness_context,
    build_steps_context,
    build_types_context,
    build_weights_context,
    client_objective,
    client_optimum,
    comparator,
    deviation,
    local,
    next_virtual,
    optimum,
    present,
    pull,
    received,
    round_optimum,
    sample,
    server,
    shared_conditions,
    square_of_weight,
    surrogate_optimum,
    virtual,
    virtual_noise,
    weight_conditions,
)
from fedtheory.sources.fraboni2022.context.windows import OverWindow, OverWindows

Meanings = dict[Quantity, Expr]


def build_update_context(claim: Claim, relation: Relation) -> Context:
    """The context in which one relation between quantities of updates is to be proved."""
    context, named = _reading(claim, relation).context(claim), write_in_vectors(claim, relation).free_symbols
    # A run has the minimisers that what is measured speaks of; others need not exist.
    return replace(context, minimisers={f: at for f, at in context.minimisers.items() if at in named})


def write_in_vectors(claim: Claim, relation: Relation) -> Relation:
    """A relation between quantities of updates as one between inner products and objective values."""
    if any(expression.has(Average) for expression in (*relation.sides, *claim.conditions)):
        raise Rejected("client averages use the client weights, which a context of updates does not have")
    symbol, reading = symbols_of(claim), _reading(claim, relation)
    known = {symbol(quantity): meaning for quantity, meaning in reading.meanings(symbol).items()} | _weights(symbol)
    weights = {symbol(weight): number for weight, number in reading.weights.items()}
    written = relation.mapped(lambda side: _as_means(side.xreplace(known), weights))
    if q.weight_share in reading.weights:
        _require_reports(claim, written.sides)
    return written


@dataclass(frozen=True)
class Reading:
    """A way to read quantities."""

    meanings: Callable[[SymbolTable], Meanings]
    """Their meanings."""
    context: Callable[[Claim], Context]
    """In which context."""
    weights: Mapping[Quantity, Expr]
    """The weights of sums over clients, as multiples of the weights of the context's means."""


def _reading(claim: Claim, relation: Relation) -> Reading:
    if a.aggregation_scheme not in claim.assumptions:
        raise Rejected("quantities of updates are those of scheme (6)")
    symbol = symbols_of(claim)
    used = {symbol.quantity(each) for each in relation.free_symbols}
    measured = {quantity for quantity in used if quantity in _ALL}
    weights = used & _WEIGHTS
    for reading in READINGS:
        if measured <= reading.meanings(symbol).keys() and weights <= reading.weights.keys():
            return reading
    names = ", ".join(sorted(quantity.name for quantity in measured if quantity is not None))
    raise Rejected(f"no theory has all of: {names}")


def _weights(symbol: SymbolTable) -> dict[sp.Symbol, Expr]:
    """The weights of an update by their sum and the clients' shares in it."""
    weight = symbol(q.weight_sum) * symbol(q.weight_share)
    return {symbol(q.expected_weight): weight, symbol(q.expected_square_weight): weight * square_of_weight}


def _as_means(expression: Expr, weights: Mapping[sp.Symbol, Expr]) -> Expr:
    """An expression whose sums over clients are means: every member has one of the weights as a factor."""

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
    """Raise `Rejected` where clients need shares in an update though nobody may report in it.

    What only has the weights, which then vanish, is known for whatever shares.
    """
    symbol = symbols_of(claim)
    total = symbol(q.weight_sum)
    nobody = {total: sp.S.Zero, Average(deviation): sp.S.Zero}
    share = symbol(q.weight_share)
    if total not in numbers_of(claim).divisors and any(side.xreplace(nobody).has(Average, share) for side in sides):
        raise Rejected("normalised weights exist only in updates with a report, which the claim does not assume")


def _step_size(symbol: SymbolTable) -> Expr:
    return symbol(q.local_step_size) * symbol(q.server_step_size)


def _gap(point: Expr) -> Expr:
    """L~^n(theta^{n,k}) - L~^n(point)."""
    found: Expr = Average(Value(client_objective, virtual) - Value(client_objective, point))
    return found


def _alignment(symbol: SymbolTable, point: Expr) -> Expr:
    """Define the inner product of the average gradient and the way from a point."""
    found: Expr = symbol(q.weight_sum) * Inner(Average(Gradient(client_objective, local)), virtual - point)
    return found


def _mean_over_steps(symbol: SymbolTable, at_a_step: Expr) -> Expr:
    return LocalSum(at_a_step) / symbol(q.local_steps)


def _define_at_steps(symbol: SymbolTable) -> Meanings:
    """Define the quantities of an update's models and samples."""
    share, total = symbol(q.weight_share), symbol(q.weight_sum)
    slopes = Gradient(client_objective, virtual)
    of_a_step: dict[Quantity, Expr] = {
        q.stochastic_gradient_sq: norm_sq(at_local),
        q.client_distance_sq: norm_sq(local - virtual),
        q.square_mean_gradient_at_step: norm_sq(Average(at_local)),
        q.round_gap_at_step: total * _gap(round_optimum),
        q.virtual_client_gap: Value(client_objective, virtual) - Value(client_objective, client_optimum),
        q.received_distance_sq: norm_sq(received - server),
        q.stale_gradient_change: norm_sq(at_local - at_virtual),
        q.mixed_gradient_change: norm_sq(Average(at_local - at_virtual)),
        q.change_from_round_optimum: norm_sq(at_virtual - at_optimum),
        q.virtual_second_moment: norm_sq(at_virtual),
        q.mixed_noise_at_virtual: norm_sq(Average(virtual_noise)),
        q.mean_gradient_at_virtual_sq: norm_sq(Average(slopes)),
        q.virtual_gradient_lengths: norm_sq(slopes),
        q.second_moment_at_round_optimum: norm_sq(at_optimum),
        q.misrepresentation: Average(Value(client_objective, round_optimum) - Value(client_objective, client_optimum)),
        q.round_optimum_noise: Average(norm_sq(at_optimum)),
        q.round_optimum_mixed_noise: Average(share * norm_sq(at_optimum)),
    }
    means: dict[Quantity, Expr] = {
        q.client_spread: Average(norm_sq(local - virtual)),
        q.mean_square_gradient: Average(norm_sq(at_local)),
        q.square_mean_gradient: norm_sq(Average(at_local)),
        q.round_gap: total * _gap(round_optimum),
        q.surrogate_gap: total * _gap(surrogate_optimum),
        q.comparator_gap: total * _gap(comparator),
        q.alignment: _alignment(symbol, surrogate_optimum),
        q.comparator_alignment: _alignment(symbol, comparator),
    }
    return of_a_step | {quantity: _mean_over_steps(symbol, meaning) for quantity, meaning in means.items()}


def _define_weights(symbol: SymbolTable) -> Meanings:
    """Define the quantities of models and random weights; noise does not enter a descent, as it is fresh."""
    chosen, size = applied(symbol, at_local), _step_size(symbol)
    away, moved = virtual - optimum, next_virtual(symbol)
    known = _define_at_steps(symbol)
    kept: dict[Quantity, Expr] = {quantity: known[quantity] for quantity in _OF_MODELS}
    of_a_step: dict[Quantity, Expr] = {
        q.selected_gradient_sq: norm_sq(chosen),
        q.virtual_distance_sq: norm_sq(away),
        q.next_virtual_distance_sq: norm_sq(moved - optimum),
        q.virtual_step_sq: norm_sq(size * chosen),
        q.mixed_descent: symbol(q.weight_sum) * Inner(Average(at_local), away),
        q.selected_descent: Inner(chosen, away),
        q.step_length_sq: norm_sq(size * LocalSum(chosen)),
    }
    means: dict[Quantity, Expr] = {
        q.progress: norm_sq(moved - surrogate_optimum) - norm_sq(virtual - surrogate_optimum),
        q.comparator_progress: norm_sq(moved - comparator) - norm_sq(virtual - comparator),
        q.selected_alignment: Inner(chosen, virtual - surrogate_optimum),
    }
    return kept | of_a_step | {quantity: _mean_over_steps(symbol, meaning) for quantity, meaning in means.items()}


_OF_MODELS = (
    q.stochastic_gradient_sq,
    q.square_mean_gradient_at_step,
    q.mean_square_gradient,
    q.square_mean_gradient,
    q.alignment,
    q.comparator_alignment,
)


def _define_past_steps(symbol: SymbolTable) -> Meanings:
    """Define the quantities of earlier steps."""
    spread = sample - symbol(q.server_step_size) * applied(symbol, sample)
    return {
        q.client_distance_sq: norm_sq(local - virtual),
        q.received_distance_sq: norm_sq(received - server),
        q.past_applied_spread: LocalSum(norm_sq(spread)),
        q.past_mean_square_gradient: LocalSum(Average(norm_sq(sample))),
    }


def _define_staleness(_symbol: SymbolTable) -> Meanings:
    """Define the quantities of updates since a client received its model."""
    return {q.received_distance_sq: norm_sq(received - server)}


def _define_types(_symbol: SymbolTable) -> Meanings:
    """Define the quantities of the federated problem and the update's problem, at the virtual iterate."""
    slope = Gradient(client_objective, virtual)
    return {
        q.gradient_deviation_sq: norm_sq(Average((present * pull + absent) * slope)),
        q.objective_gradient_sq: norm_sq(Average((present * (1 + pull) + absent) * slope)),
        q.mean_gradient_at_virtual_sq: norm_sq(Average(present * slope)),
        q.virtual_gradient_lengths: norm_sq(slope),
        q.virtual_client_gap: Value(client_objective, virtual) - Value(client_objective, client_optimum),
    }


def _define_loss_changes(symbol: SymbolTable) -> Meanings:
    """Define the quantities of the models, with given weights."""
    change = Value(client_objective, next_virtual(symbol)) - Value(client_objective, virtual)
    return _define_weights(symbol) | {
        q.virtual_loss_change: change,
        q.local_change_sq: norm_sq(symbol(q.local_step_size) * LocalSum(at_local)),
    }


def _define_surrogate(symbol: SymbolTable) -> Meanings:
    """Define the quantities of the federated and the surrogate problem, at the virtual iterate."""
    above = Value(client_objective, virtual) - Value(client_objective, surrogate_optimum)
    least = Value(client_objective, client_optimum)
    return {
        q.objective_gradient_sq: norm_sq(Average((1 + pull) * Gradient(client_objective, virtual))),
        q.surrogate_suboptimality_at_step: symbol(q.mean_weight_sum) * Average(above),
        q.client_gap_at_surrogate_optimum: Value(client_objective, surrogate_optimum) - least,
    }


_SHARES: Mapping[Quantity, Expr] = {q.weight_share: sp.S.One}
READINGS = (
    Reading(_define_staleness, build_staleness_context, _SHARES),
    Reading(_define_past_steps, build_past_steps_context, _SHARES),
    Reading(_define_at_steps, build_steps_context, _SHARES),
    Reading(_define_weights, build_weights_context, _SHARES),
    Reading(_define_loss_changes, build_loss_changes_context, _SHARES),
    Reading(_define_surrogate, build_surrogate_context, {q.mean_weight_share: sp.S.One}),
    Reading(_define_types, build_types_context, {q.weight_share: present, q.unrepresented_importance: absent}),
)
_WEIGHTS = frozenset().union(*(reading.weights.keys() for reading in READINGS))
_ALL = frozenset().union(*(reading.meanings(SymbolTable({})).keys() for reading in READINGS))
CONTEXT = PaperContext(
    write_in_vectors=write_in_vectors,
    context=build_update_context,
    share=q.weight_share,
    conditions=shared_conditions,
    step_conditions=weight_conditions,
    facts=(update_facts, schedule_facts, definition_facts),
    symbols={"update": updates},
    derived=(OverClients, OverSteps, OverUpdates, OverWindow, OverWindows),
)
