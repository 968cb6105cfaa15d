"""From a step that contracts to the last model: distances from the optimum shrink, up to a floor.

Let X be E|xbar - x*|^2 before a local step and V how far the clients are from
their average, in the mean square.  A proved step says

    w X' + c(k+1) V'  <=  q (w X + c(k) V) + b,

with V zero before the first step of a round, and c zero after the last, where
the average is the next model.  Where that is an average of participants, it is
in the mean square at most rho V farther away than the average of all clients,
rho the variance of the sampling, and c has to be w rho at least.  So after all
K = tau T steps  E|x^T - x*|^2 <= q^K |x^0 - x*|^2 + b / (w (1 - q)).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import sympy as sp

from fedtheory.kernel import (
    Rejected,
    Step,
    Theory,
    composed,
    difference,
    is_nonnegative,
    is_positive,
    remainder,
    scalar,
)
from fedtheory.kernel.expressions import Expr, norm_sq
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.proofs.means import ends_with, over_steps, sampled, statement_at_steps, traded
from fedtheory.proofs.numbers import letters_of, numbers_of
from fedtheory.proofs.proof import Prover


@dataclass(frozen=True, kw_only=True)
class Contraction:
    """Why the last model is near the optimum."""

    claim: str
    """Its id."""
    step: str
    """Id of the claim about each local step."""
    factor: Expr
    """q."""
    weight: Expr
    """w."""
    potential: Expr
    """c(k)."""
    offset: Expr
    """b."""
    relaxed: Sequence[sp.Rel] | None = None
    """Weaker conditions than the claim's, under which the step is proved as well; None for the claim's own."""


@dataclass(frozen=True)
class Shrinking:
    """What a step says of squared distances: ``w X' + c(k+1) V' <= q (w X + c(k) V) + b``."""

    point: sp.Symbol
    """From which X is the average's distance."""
    weight: Expr
    factor: Expr
    potential: Expr
    offset: Expr


def examine_contraction(claim: Claim, certificate: Contraction, prove: Prover) -> Iterator[Step]:
    """Check a bound on the distance of the last model; `Rejected` where the claim is about something else."""
    step = yield from statement_at_steps(claim, certificate.step, prove)
    theory = over_steps(step)
    best = letters_of(step)(q.optimum)
    shrinking = Shrinking(best, certificate.weight, certificate.factor, certificate.potential, certificate.offset)
    yield is_the_step(step, shrinking, theory)
    yield from ends_with(certificate.potential, certificate.weight * sampled(claim), theory, claim.conditions)
    yield from _conclusion(claim, certificate)


def is_the_step(step: Claim, shrinking: Shrinking, theory: Theory, besides: Expr = sp.S.Zero) -> Step:
    """That a step says what a certificate says of it, with something besides on its smaller side."""
    letter, factor, weight = letters_of(step), shrinking.factor, shrinking.weight
    before, after = (norm_sq(letter(model) - shrinking.point) for model in (q.average_iterate, q.next_average_iterate))
    now, later = traded(shrinking.potential, letter)
    claimed = factor * weight * before + factor * now + shrinking.offset - weight * after - later - besides
    left = remainder(difference(scalar(step.relations[0].slack, theory), scalar(sp.expand(claimed), theory)))
    return Step("the step contracts" + (f"; what is left over is {composed(left)}" if left else ""), not left)


def _conclusion(claim: Claim, certificate: Contraction) -> Iterator[Step]:
    """That numbers are as they should be, and that the floor is at most what the claim says."""
    letter, numbers, relation = letters_of(claim), numbers_of(claim), claim.relations[0]
    index = letter(q.local_step_index)
    factor, weight, offset = (numbers.plain(n) for n in (certificate.factor, certificate.weight, certificate.offset))
    if relation.left != letter(q.final_distance_sq) or any(n.has(index) for n in (factor, weight, offset)):
        raise Rejected("a contraction bounds the distance of the last model, by numbers that are the same at all steps")
    conditions = tuple(claim.conditions)
    yield Step(f"({factor}) >= 0", is_nonnegative(factor, numbers, conditions))
    yield Step(f"({offset}) >= 0", is_nonnegative(offset, numbers, conditions))
    for number in (1 - factor, weight):
        yield Step(f"({number}) > 0", is_positive(sp.expand(number), numbers, conditions))
    start = factor ** letter(q.iterations) * letter(q.initial_distance) ** 2
    spare = sp.cancel(relation.right - start - offset / (weight * (1 - factor)))
    yield Step(f"({spare}) >= 0", is_nonnegative(numbers.plain(spare), numbers, conditions))
