"""From a step that contracts to a mean of errors that forgets: the later a step, the more it counts.

Let X be how far the average is from a point y before a local step, squared and
expected, and V how far the clients are from their average.  A proved step says

    g (E F(xbar') - F(y)) + X' + c(k+1) V'  <=  q (X + c(k) V) + b,

with V zero before the first step of a round, and c after the last one at least
what a draw of participants costs.  Step j of K times q^-j, all added up:

    mean of E F(xbar_j) - F(y), with the weights q^-j   <=   X_0 / (g W) + b / g,    W = q^-1 + .. + q^-K.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import sympy as sp

from fedtheory.kernel import Rejected, Step, is_nonnegative, is_positive
from fedtheory.kernel.expressions import Expr, Value
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.proofs.contraction import Shrinking, is_the_step
from fedtheory.proofs.means import ends_with, over_steps, sampled, statement_at_steps
from fedtheory.proofs.numbers import Letters, letters_of, numbers_of
from fedtheory.proofs.proof import Prover


@dataclass(frozen=True, kw_only=True)
class Discounted:
    """Why the mean error that forgets is small."""

    claim: str
    """Its id."""
    step: str
    """Id of the claim about each local step."""
    gain: Expr
    """g."""
    factor: Expr
    """q, by which the weights of the mean are known."""
    potential: Expr
    """c(k)."""
    offset: Expr
    """b."""
    relaxed: Sequence[sp.Rel] | None = None
    """Weaker conditions than the claim's, under which the step is proved as well; None for the claim's own."""


def examine_discounted(claim: Claim, certificate: Discounted, prove: Prover) -> Iterator[Step]:
    """Check a bound on the mean error that forgets; `Rejected` where the claim is about something else."""
    step = yield from statement_at_steps(claim, certificate.step, prove)
    theory, letter = over_steps(step), letters_of(step)
    point, _, _ = _compared_with(letter)
    objective = letter(q.objective)
    gap = Value(objective, letter(q.next_average_iterate)) - Value(objective, point)
    shrinking = Shrinking(point, sp.S.One, certificate.factor, certificate.potential, certificate.offset)
    yield is_the_step(step, shrinking, theory, certificate.gain * gap)
    yield from ends_with(certificate.potential, sampled(claim), theory, claim.conditions)
    yield from _conclusion(claim, certificate)


def _compared_with(letter: Letters) -> tuple[sp.Symbol, Expr, Expr]:
    """The point of a claim, how far it is from the start, and how much its error is above the least."""
    if letter.has(q.comparator):
        return letter(q.comparator), letter(q.comparator_distance), letter(q.comparator_suboptimality)
    return letter(q.optimum), letter(q.initial_distance), sp.S.Zero


def _conclusion(claim: Claim, certificate: Discounted) -> Iterator[Step]:
    """That numbers are as they should be, and that the rest is at most what the claim says."""
    letter, numbers, relation = letters_of(claim), numbers_of(claim), claim.relations[0]
    index, conditions = letter(q.local_step_index), tuple(claim.conditions)
    gain, factor, offset = (numbers.plain(n) for n in (certificate.gain, certificate.factor, certificate.offset))
    if relation.left != letter(q.discounted_suboptimality) or any(n.has(index) for n in (gain, factor, offset)):
        raise Rejected(
            "what is shown is a bound on the mean error that forgets, by numbers that are the same at all steps"
        )
    forgets = 1 - letter(q.local_step_size) * letter(q.strong_convexity) / 2
    yield Step("the weights of the mean are the powers of the factor", sp.expand(factor - forgets) == 0)
    # Where the factor is not positive there are no weights, and no bound where it is one.
    yield Step(f"({gain}) > 0", is_positive(sp.expand(gain), numbers, conditions))
    _, distance, above = _compared_with(letter)
    power = factor ** letter(q.iterations)
    start = distance**2 * (1 - factor) * power / (gain * (1 - power))
    spare = sp.cancel(relation.right - above - start - offset / gain)
    yield Step(f"({spare}) >= 0", is_nonnegative(numbers.plain(spare), numbers, conditions))
