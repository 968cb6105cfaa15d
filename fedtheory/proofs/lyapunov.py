"""Lyapunov functions of algorithms given as definitions: they contract in every round and bound the last iterate.

Let V be a function of the vectors of the server and of the clients.  If a
round with a single local step satisfies

    E V'  <=  q V + b,        the bounded quantity  <=  V,        V^0 <= v,

the bounded quantity after T rounds is at most ``q^T v + b / (1 - q)``.  The
vectors after the local step and at the end of the round are taken from the
definition; the expectation is over its coins and noise.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import sympy as sp

from fedtheory.federation.definition import Average as MeanOfClients
from fedtheory.kernel import Context, Rejected, Step, Term, check
from fedtheory.kernel.expressions import Average, Expr, Gradient, norm_sq
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim, Relation
from fedtheory.language.quantities import Quantity
from fedtheory.proofs.contraction import conclude_bound
from fedtheory.proofs.definitions import START, Round, list_parameter_bounds, noisy_rounds_of
from fedtheory.proofs.examined import Examined
from fedtheory.proofs.numbers import numbers_of, power_of, symbols_of
from fedtheory.proofs.proof import Prover, add_prefix, require_ordering

START_DISTANCE, OPTIMUM_GRADIENTS = "the distance of the start", "the gradients at the optimum"


@dataclass(frozen=True, kw_only=True)
class Lyapunov(Examined):
    """A proof that the last iterate is close to the optimum, or the clients close to each other."""

    kind: ClassVar[str] = "Lyapunov"
    function: Expr
    """V, of the vectors at the start of a round."""
    factor: Expr
    """q."""
    offset: Expr
    """b."""
    level: Expr
    """v."""
    round: Sequence[Term]
    """The terms whose sum is q V + b - E V'."""
    model: Sequence[Term] = ()
    """The terms whose sum is V minus the bounded quantity."""
    start: Sequence[Term] = ()
    """The terms whose sum is v - V^0."""
    least: Expr = sp.S.Zero
    """A non-negative lower bound of q."""

    def check(self, claim: Claim, _prove: Prover) -> Iterator[Step]:
        """Check a bound on the last round; raise `Rejected` for other claims."""
        (relation, *others) = claim.relations
        require_ordering(relation)
        if others:
            raise Rejected("a Lyapunov function proves one relation, about the last iterate")
        if any(quantity.place != "run" for quantity in claim.where.values()):
            raise Rejected("the claim has symbols whose value differs between rounds")
        # Every curvature is at most the largest one.
        curvatures = symbols_of(claim).at_most((q.strong_convexity, q.smoothness))
        conditions = (*claim.conditions, *curvatures, *list_parameter_bounds(claim))
        outcomes = list(noisy_rounds_of(claim))
        _require_of_states(self.function, outcomes[0])
        _require_full_participation(claim, outcomes[0])
        yield Step("the local step of a round is the only one", all(one.is_single() for one in outcomes))
        yield from add_prefix("the end of a round: ", _check_round(self, outcomes, conditions))
        one, value = outcomes[0], self.function
        quantity, measured = _express_bounded_quantity(claim, relation, one)
        yield from add_prefix("what is measured: ", check(measured, value, self.model, one.context, conditions))
        yield from add_prefix("the start: ", _check_start(self, one, conditions))
        yield from _conclude(claim, self, quantity, conditions)


def _require_full_participation(claim: Claim, one: Round) -> None:
    """Raise `Rejected` if some clients may not participate, because their vectors would stay unchanged."""
    known = one.algorithm
    if known.client_update and not known.needs_all_clients and a.full_participation not in claim.assumptions:
        raise Rejected(
            f"what clients keep changes in every round only with the assumption of {a.full_participation.name}"
        )


def _require_of_states(value: Expr, one: Round) -> None:
    """Raise `Rejected` if V contains random vectors of a round, which would be the same before and after it."""
    objectives, numbers = one.context.objectives | one.context.client_objectives, one.context.numbers
    points = {*one.states.values(), START, symbols_of(one.claim)(q.optimum)}
    other = value.free_symbols - points - objectives - numbers.symbols - numbers.of_clients
    if other:
        raise Rejected(
            f"V has {', '.join(sorted(map(str, other)))}: expected vectors at the start of a round, and numbers"
        )


def _check_round(certificate: Lyapunov, outcomes: Sequence[Round], conditions: Sequence[Expr]) -> Iterator[Step]:
    """Check that V contracts in expectation over the coins."""
    value = certificate.function
    after = sp.Add(*(one.chance * _move(value, one, one.end(one.after_steps())) for one in outcomes))
    grown = certificate.factor * value + certificate.offset
    yield from check(after, grown, certificate.round, outcomes[0].context, conditions)


def _move(value: Expr, one: Round, vectors: Mapping[Expr, Expr]) -> Expr:
    """Return V at other vectors; vectors without a new value are unchanged."""
    return value.xreplace({one.states[of]: where for of, where in vectors.items()})


def _express_bounded_quantity(claim: Claim, relation: Relation, one: Round) -> tuple[Quantity, Expr]:
    """Return the bounded quantity at the end of a round, in the symbols of the next round's start."""
    symbol = symbols_of(claim)
    smaller, _ = relation.ordered
    model = one.expression(sp.Symbol("model"), one.algorithm.model, one.states)
    if smaller == symbol(q.final_distance_sq):
        return q.final_distance_sq, norm_sq(model - symbol(q.optimum))
    if smaller == symbol(q.final_consensus_distance_sq) and isinstance(one.algorithm.model, MeanOfClients):
        (own,) = model.args
        return q.final_consensus_distance_sq, Average(norm_sq(own - model))
    raise Rejected("a Lyapunov function bounds the distance of the last model, or that between the clients' models")


def _check_start(certificate: Lyapunov, one: Round, conditions: Sequence[Expr]) -> Iterator[Step]:
    """Yield the check of the function's value at the start."""
    value = _move(certificate.function, one, one.start())
    yield from check(value, certificate.level, certificate.start, build_start_context(one), conditions)


def build_start_context(one: Round) -> Context:
    """Return the context at the start, where all models are x^0."""
    symbol = symbols_of(one.claim)
    known, best = dict(one.context.assumed), symbol(q.optimum)
    if symbol.has(q.initial_distance):
        known[START_DISTANCE] = symbol(q.initial_distance) ** 2 - norm_sq(START - best)
    if symbol.has(q.optimum_gradient):
        slope = Gradient(symbol(q.client_objective), best)
        known[OPTIMUM_GRADIENTS] = symbol(q.optimum_gradient) ** 2 - Average(norm_sq(slope))
    return replace(one.context, assumed=known)


def _conclude(claim: Claim, certificate: Lyapunov, quantity: Quantity, conditions: Sequence[Expr]) -> Iterator[Step]:
    """Check the side conditions, then that the derived bound implies the claim."""
    given = (certificate.factor, certificate.offset, certificate.level, certificate.least)
    factor, offset, level, least = map(numbers_of(claim).plain, given)
    # The last of these is finite, so that the factor is smaller than one.
    signed = (least, factor - least, *sp.Add.make_args(offset), 1 / (1 - factor))
    bound = power_of(factor, symbols_of(claim)(q.rounds)) * level + offset / (1 - factor)
    yield from conclude_bound(claim, quantity, bound, signed, known=conditions)
