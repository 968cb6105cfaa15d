"""Rule: a bound on the participants' squared distance from a point, by that of the average of all clients."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from fedtheory.kernel import Rejected
from fedtheory.kernel.expressions import Average, norm_sq
from fedtheory.language import quantities as q
from fedtheory.proofs.terms.context import TermContext
from fedtheory.proofs.terms.indexed import ROUND, average, server, vector_at
from fedtheory.proofs.terms.proved import Proved
from fedtheory.proofs.terms.term import Formula, ProofTerm

_POINTS = (q.optimum, q.comparator)
"""Points that are the same in all rounds and for all participants."""


@dataclass(frozen=True)
class Draw(ProofTerm):
    """The next server model has at most the client average's expected squared distance plus the sampling cost.

    The weights of the participants have the client weights as expectation, sum to one, and are independent of the
    local steps; the sampling variance is the cost per unit of squared client drift.
    """

    rule: ClassVar[str] = "draw participants"
    point: Formula
    """The symbol of the optimum, or of the comparator."""

    def check(self, context: TermContext) -> Proved:
        """Check that rounds end at the average of sampled participants, and return the inequality of each round."""
        process, symbols = context.process, context.symbols
        if context.place != "run" or not process.is_sampled:
            raise Rejected("expected a claim about a run with sampled participants")
        if not self.point.is_Symbol or symbols.quantity(self.point) not in _POINTS:
            raise Rejected(f"expected the optimum or the comparator of the claim, got {self.point}")
        end = process.steps
        mean = average(ROUND, end)
        drift = Average(norm_sq(vector_at("local", ROUND, end) - mean))
        cost = symbols(q.sampling_variance) * drift
        return Proved(norm_sq(mean - self.point) + cost - norm_sq(server(ROUND + 1) - self.point))
