"""Sums over local steps for claims about a round or a run: statements at each step, and their potentials."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import replace

import sympy as sp

from fedtheory.kernel import Context, Rejected, Step, is_nonnegative
from fedtheory.kernel.admitted import require_finite
from fedtheory.kernel.expressions import Average, Expr, norm_sq
from fedtheory.kernel.quotients import reduce_fraction
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.proofs.claim_context import build_step_context
from fedtheory.proofs.numbers import ROUNDS, SAMPLED_ROUNDS, SymbolTable, symbols_of
from fedtheory.proofs.proof import Prover, check_assumed, use_lemma


def statement_at_steps(claim: Claim, name: str, prove: Prover) -> Generator[Step, None, Claim]:
    """Yield the checks of a proved claim about every local step that implies one about rounds or a run."""
    of_step = prove(name)
    step = of_step.statement
    if any(len(c.relations) != 1 or c.relations[0].operator != "<=" for c in (claim, step)):
        raise Rejected("expected one inequality as conclusion and one for each local step")
    if q.local_step_index in claim.notation.values():
        raise Rejected("expected a claim about the whole run, without the index of a local step")
    yield from use_lemma(claim, of_step)
    rounds = ROUNDS if a.full_participation in claim.assumptions else SAMPLED_ROUNDS
    yield check_assumed(claim, rounds, "a round ends where its average ends")
    yield Step(
        "the step is about local steps, and the claim about the run", (step.place, claim.place) == ("step", "run")
    )
    return step


def build_steps_sum_context(step: Claim) -> Context:
    """Return the context of a statement about each local step, for numbers that are summed over the steps."""
    symbol = symbols_of(step)
    return replace(build_step_context(step), step_number=symbol(q.local_step_index), local_steps=symbol(q.local_steps))


def find_sampling_variance(claim: Claim) -> Expr:
    """Return the sampling variance of the next model per unit of squared client drift."""
    return sp.S.Zero if a.full_participation in claim.assumptions else symbols_of(claim)(q.sampling_variance)


def check_end(potential: Expr, least: Expr, context: Context, conditions: Sequence[Expr]) -> Iterator[Step]:
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


def sampling_cost(potential: Expr, symbol: SymbolTable) -> tuple[Expr, Expr]:
    """Return the expected squared drift weighted by potentials, before a step and after it."""
    step = symbol(q.local_step_index)
    before = norm_sq(symbol(q.local_iterate) - symbol(q.average_iterate))
    after = norm_sq(symbol(q.next_local_iterate) - symbol(q.next_average_iterate))
    return Average(potential * before), Average(potential.xreplace({step: step + 1}) * after)
