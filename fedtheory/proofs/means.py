"""From every local step to a round or to the whole run: means of step statements, with what telescopes.

A statement that holds at each step holds for the mean over the steps.  Which
quantity of a round or a run is the mean of which expression at a step follows
from its term; what telescopes over the rounds is written down here.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import sympy as sp

from fedtheory.kernel import (
    Context,
    Form,
    Rejected,
    Step,
    check_zero_form,
    composed,
    difference,
    is_nonnegative,
    scalar,
    scaled,
)
from fedtheory.kernel.admitted import require_finite
from fedtheory.kernel.expressions import Average, Expr, LocalSum, Value, norm_sq
from fedtheory.kernel.quotients import ZERO, linear, quotient, reduce_fraction
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.language.term_relations import is_defined_by_term
from fedtheory.proofs.claim_context import build_step_context
from fedtheory.proofs.numbers import ROUNDS, SAMPLED_ROUNDS, SymbolTable, symbols_of
from fedtheory.proofs.proof import Prover, check_assumed, use_lemma
from fedtheory.proofs.run_terms import step_average_of

Span = Literal["round", "run"]


@dataclass(frozen=True)
class Mean:
    """An expression at a local step, and its mean over the steps k = 0 .. tau-1."""

    quantity: sp.Symbol
    """The quantity of a round or a run that the mean is about."""
    step: Expr
    mean: Expr


def _list_means(claim: Claim, span: Span, quantities: Iterable[q.Quantity]) -> list[Mean]:
    """Over the steps of one round, or over all steps of all rounds: the means that the terms of quantities are.

    Where a run is compared with another point than the optimum, its gaps are above the value there.
    """
    symbol, means = symbols_of(claim), []
    count = {symbol(q.rounds): symbol(q.iterations) / symbol(q.local_steps)} if symbol.has(q.iterations) else {}
    for quantity in quantities:
        if isinstance(quantity, q.RunQuantity) and quantity.term is not None and is_defined_by_term(quantity):
            found = None if quantity.root else step_average_of(quantity.term, symbol)
            if found is not None and _SPANS[span] == len(quantity.term.over):
                (expression, multiple), own = found, symbol(quantity)
                means.append(_from_comparator(symbol, Mean(own, expression, own / multiple.xreplace(count))))
    return [*means, _progress_of_round(symbol)] if span == "round" else means


_SPANS: dict[Span, int] = {"round": 1, "run": 2}
"""Over how many indices a mean of a round and of a run is: steps, and rounds."""


def _progress_of_round(symbol: SymbolTable) -> Mean:
    """The change of the distance from the optimum telescopes: the averaged iterate starts at the server's model."""
    before, after, best = (symbol(n) for n in (q.average_iterate, q.next_average_iterate, q.optimum))
    start = symbol(q.server_distance_sq)
    crossed = start - symbol(q.next_server_distance_sq)
    return Mean(start, norm_sq(before - best) - norm_sq(after - best), crossed / symbol(q.local_steps))


def _from_comparator(symbol: SymbolTable, mean: Mean) -> Mean:
    """A mean with the objective's value at the comparator for the least one, which is the smaller by its gap."""
    if not symbol.has(q.comparator):
        return mean
    least, there = (Value(symbol(q.objective), symbol(point)) for point in (q.optimum, q.comparator))
    factor = linear(mean.step, [least])[0][least]
    above = factor * symbol(q.comparator_suboptimality)
    return Mean(mean.quantity, mean.step.xreplace({least: there}), mean.mean + above) if factor != 0 else mean


@dataclass(frozen=True, kw_only=True)
class MeanCertificate:
    """A claim about rounds or a run that is the mean, over the local steps, of a proved claim about each of them."""

    claim: str
    """Id of the claim."""
    step: str
    """Id of the claim about each local step."""
    span: Span
    potential: Expr | None = None
    """A number c(k) of the local step, of each client or of all, by which a step trades c(k) times how far the clients
    are apart, in the mean square, for c(k+1) times how far they are after it; nothing is left of the trade at the end
    of a round."""
    relaxed: Sequence[sp.Rel] | None = None
    """Weaker conditions than the claim's, under which the step is proved as well; None for the claim's own."""


def check_mean(claim: Claim, certificate: MeanCertificate, prove: Prover) -> Iterator[Step]:
    """Check that a claim about rounds or a run is the mean over its local steps of a claim about each of them."""
    step = yield from statement_at_steps(claim, certificate.step, prove)
    context = build_steps_sum_context(step)
    if a.full_participation in claim.assumptions:
        if certificate.potential is not None:
            yield from ends_with(certificate.potential, sp.S.Zero, context, claim.conditions)
        means = _list_means(claim, certificate.span, claim.notation.values())
    else:
        means = yield from _check_sampling(claim, certificate, context)
    yield check_zero_form("the mean over the steps", _subtract_averages(claim, step, certificate, context, means))


def _check_sampling(claim: Claim, certificate: MeanCertificate, context: Context) -> Generator[Step, None, list[Mean]]:
    """The table for participants that are drawn, and that the potential pays for the draw after each round.

    The gap is that of the average of all clients.  The progress ends with the average of participants, which is in the
    mean square farther from any point: by at most how far the clients are apart times the variance of the draw.
    """
    symbol = symbols_of(claim)
    if certificate.span != "run" or not symbol.has(q.comparator) or certificate.potential is None:
        raise Rejected("with sampled participants a time average is over a run, against a comparator, with a potential")
    gap, progress = _list_means(claim, "run", (q.average_suboptimality, q.total_comparator_progress))
    gained = context.numbers.plain(_factor(_slack(claim), progress))
    # Of progress that counts negatively it is known only that there is no more of it.
    for least in (sp.S.Zero, gained * sampled(claim)):
        yield from ends_with(certificate.potential, least, context, claim.conditions)
    return [gap, progress]


def statement_at_steps(claim: Claim, name: str, prove: Prover) -> Generator[Step, None, Claim]:
    """The proved claim about every local step from which one about rounds or a run follows."""
    of_step = prove(name)
    step = of_step.statement
    if any(len(c.relations) != 1 or c.relations[0].operator != "<=" for c in (claim, step)):
        raise Rejected("expected one inequality as conclusion and one for each local step")
    if q.local_step_index in claim.notation.values():
        raise Rejected("what holds of all local steps together has no number of a step")
    yield from use_lemma(claim, of_step)
    rounds = ROUNDS if a.full_participation in claim.assumptions else SAMPLED_ROUNDS
    yield check_assumed(claim, rounds, "a round ends where its average ends")
    yield Step("from local steps to the run", (step.place, claim.place) == ("step", "run"))
    return step


def build_steps_sum_context(step: Claim) -> Context:
    """The context of a statement about each local step, in which numbers of a step can be summed over the steps."""
    symbol = symbols_of(step)
    return replace(build_step_context(step), step_number=symbol(q.local_step_index), local_steps=symbol(q.local_steps))


def sampled(claim: Claim) -> Expr:
    """Return the sampling variance of the next model per unit of squared client drift."""
    return sp.S.Zero if a.full_participation in claim.assumptions else symbols_of(claim)(q.sampling_variance)


def ends_with(potential: Expr, least: Expr, context: Context, conditions: Sequence[Expr]) -> Iterator[Step]:
    """Check that a potential is a number at every step, and at least the cost of sampling after the last one.

    At the first step of a round there is no drift.
    """
    step, steps = context.step_number, context.local_steps
    assert step is not None
    assert steps is not None
    both = [context.numbers.known(number) for number in (potential, potential.xreplace({step: step + 1}))]
    require_finite(both, context.numbers, (step + 1 <= steps,))
    spare = context.numbers.known(reduce_fraction(potential.xreplace({step: steps}) - least))
    enough = is_nonnegative(spare, context.numbers, tuple(conditions))
    yield Step(f"{potential} is at least {least} after the last step of a round", enough)


def _slack(claim: Claim) -> Expr:
    """Return the slack of a claim; where it counts local steps of all rounds, rounds are expressed by them."""
    symbol = symbols_of(claim)
    rounds = {symbol(q.rounds): symbol(q.iterations) / symbol(q.local_steps)} if symbol.has(q.iterations) else {}
    return claim.relations[0].slack.xreplace(rounds)


def _factor(slack: Expr, entry: Mean) -> Expr:
    """Return the coefficient of an average in a slack."""
    of_slack, of_mean = (linear(one, [entry.quantity])[0][entry.quantity] for one in (slack, entry.mean))
    return of_slack / of_mean


def _subtract_averages(
    claim: Claim, step: Claim, certificate: MeanCertificate, context: Context, means: Sequence[Mean]
) -> Form:
    """Return a claim's slack minus the average of its step's; the claim determines the coefficient of each average."""
    symbol = symbols_of(claim)
    rest, form = _slack(claim), scalar(step.relations[0].slack, context)
    for entry in means:
        factor = context.numbers.plain(_factor(rest, entry))
        rest = sp.expand(rest - factor * entry.mean)
        form = difference(form, scaled(scalar(entry.step, context), quotient(factor)))
    if certificate.potential is not None:
        now, later = sampling_cost(certificate.potential, symbol)
        form = difference(form, scalar(now - later, context))
    constant = form.get(sp.S.One, ZERO).expression
    mean = composed(scalar(LocalSum(constant), context)) / context.local_steps
    return {**form, sp.S.One: quotient(rest - mean)}


def sampling_cost(potential: Expr, symbol: SymbolTable) -> tuple[Expr, Expr]:
    """Return the expected squared drift weighted by potentials, before a step and after it."""
    step = symbol(q.local_step_index)
    before = norm_sq(symbol(q.local_iterate) - symbol(q.average_iterate))
    after = norm_sq(symbol(q.next_local_iterate) - symbol(q.next_average_iterate))
    return Average(potential * before), Average(potential.xreplace({step: step + 1}) * after)
