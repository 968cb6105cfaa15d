"""What the expressions of a claim ask of a run."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cache

from fedtheory.engine.run import Run
from fedtheory.kernel.expressions import Average, ClientSum, Expr
from fedtheory.language.claim import Claim
from fedtheory.language.evaluation import shapes
from fedtheory.language.quantities import Quantity


@dataclass(frozen=True)
class Asked:
    """What expressions ask of a run."""

    quantities: tuple[Quantity, ...]
    counts_clients: bool
    """Whether means or sums over clients are taken."""

    @classmethod
    def by(cls, expressions: Sequence[Expr], claim: Claim) -> Asked:
        """What expressions of a claim ask for."""
        symbols = sorted({symbol for each in expressions for symbol in each.free_symbols}, key=str)
        notions = dict.fromkeys(claim.notation.get(symbol) for symbol in symbols)
        counts_clients = any(each.has(Average, ClientSum) for each in expressions)
        return cls(tuple(notion for notion in notions if isinstance(notion, Quantity)), counts_clients)

    def shapes(self, run: Run) -> Hashable:
        """What whole runs of one computation have in common; `FedtheoryError` where a quantity has no value."""
        return shapes(self.quantities, run), run.problem.clients if self.counts_clients else None


@cache
def in_conditions(claim: Claim) -> Asked:
    """What the conditions of a claim ask for."""
    return Asked.by(claim.conditions, claim)


@cache
def in_relations(claim: Claim) -> Asked:
    """What the relations of a claim ask for."""
    return Asked.by([side for relation in claim.relations for side in (relation.left, relation.right)], claim)
