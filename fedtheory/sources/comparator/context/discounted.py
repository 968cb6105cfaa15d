"""Derives a bound on an exponentially weighted average of errors from a contracting step.

Step j of K with w = 1, multiplied by q^-j and summed over j, gives, with X_0 the
squared distance of the start from y, an average with larger weights for later steps:

    mean of E F(xbar_j) - F(y), with the weights q^-j   <=   X_0 / (g W) + b / g,    W = q^-1 + .. + q^-K.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import sympy as sp

from fedtheory.kernel import Step
from fedtheory.kernel.expressions import Expr
from fedtheory.kernel.quotients import is_zero
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.proofs.contraction import Contracting, conclude_bound, require_contraction, require_shared_constants
from fedtheory.proofs.examined import PaperKinds
from fedtheory.proofs.numbers import symbols_of
from fedtheory.proofs.proof import Prover

SHRINKS = "the squared distance of the average shrinks by the factor {factor}, up to {offset} and "
"""The first words of overviews."""


@dataclass(frozen=True, kw_only=True)
class ExponentialAverage(Contracting):
    """A proof that the exponentially weighted average error is small; the factor q determines the weights."""

    kind: ClassVar[str] = "discounted"
    overview = (
        f"{SHRINKS}less {{gain}} times the error.  Each step is divided by a power of the factor, one more than the "
        "step before it; then the distances telescope."
    )
    gain: Expr
    """g."""

    def check(self, claim: Claim, prove: Prover) -> Iterator[Step]:
        """Check a bound on the exponentially weighted average error; raise `Rejected` for other claims."""
        symbol = symbols_of(claim)
        compared = symbol.has(q.comparator)
        point, distance = (q.comparator, q.comparator_distance) if compared else (q.optimum, q.initial_distance)
        yield from require_contraction(claim, self, prove, point, gain=self.gain)
        gain, factor, offset = require_shared_constants(claim, self.gain, self.factor, self.offset)
        forgets = 1 - symbol(q.local_step_size) * symbol(q.strong_convexity) / 2
        yield Step("the weights of the mean are the powers of the factor", is_zero(factor - forgets))
        # The weights need a positive factor, and the bound a factor other than one.
        power = factor ** symbol(q.iterations)
        start = symbol(distance) ** 2 * (1 - factor) * power / (gain * (1 - power))
        above = symbol(q.comparator_suboptimality) if compared else sp.S.Zero
        yield from conclude_bound(claim, q.discounted_suboptimality, above + start + offset / gain, (), (gain,))


KINDS = PaperKinds(kinds=(ExponentialAverage,))
