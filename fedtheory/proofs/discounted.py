"""From a step that contracts to a mean of errors that forgets: the later a step, the more it counts.

Step j of K says, times q^-j and all of them added up, with X_0 the squared
distance of the start from the point y:

    mean of E F(xbar_j) - F(y), with the weights q^-j   <=   X_0 / (g W) + b / g,    W = q^-1 + .. + q^-K.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import sympy as sp

from fedtheory.kernel import Step
from fedtheory.kernel.expressions import Expr
from fedtheory.kernel.quotients import is_zero
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.proofs.contraction import Contracting, bounded, contracts, same_at_all_steps
from fedtheory.proofs.numbers import letters_of
from fedtheory.proofs.proof import Prover


@dataclass(frozen=True, kw_only=True)
class Discounted(Contracting):
    """Why the mean error that forgets is small: by the factor q the weights of the mean are known."""

    gain: Expr
    """g."""


def examine_discounted(claim: Claim, certificate: Discounted, prove: Prover) -> Iterator[Step]:
    """Check a bound on the mean error that forgets; `Rejected` where the claim is about something else."""
    letter = letters_of(claim)
    compared = letter.has(q.comparator)
    point, distance = (q.comparator, q.comparator_distance) if compared else (q.optimum, q.initial_distance)
    yield from contracts(claim, certificate, prove, point, gain=certificate.gain)
    gain, factor, offset = same_at_all_steps(claim, certificate.gain, certificate.factor, certificate.offset)
    forgets = 1 - letter(q.local_step_size) * letter(q.strong_convexity) / 2
    yield Step("the weights of the mean are the powers of the factor", is_zero(factor - forgets))
    # Where the factor is not positive there are no weights, and no bound where it is one.
    power = factor ** letter(q.iterations)
    start = letter(distance) ** 2 * (1 - factor) * power / (gain * (1 - power))
    above = letter(q.comparator_suboptimality) if compared else sp.S.Zero
    yield from bounded(claim, q.discounted_suboptimality, above + start + offset / gain, (), (gain,))
