"""Collect the values of a run that the expressions of a claim require."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from fedtheory.engine.run import Run
from fedtheory.kernel.expressions import Average, ClientSum, Expr
from fedtheory.language.claim import Claim
from fedtheory.language.quantities import RunQuantity


@dataclass(frozen=True, eq=False)
class Dependencies:
    """Values of a run that expressions require."""

    quantities: tuple[RunQuantity, ...]
    counts_clients: bool
    """Whether the expressions contain means or sums over clients."""

    @classmethod
    def from_expressions(cls, expressions: Sequence[Expr], claim: Claim) -> Dependencies:
        """Collect the values that some expressions of a claim require."""
        symbols = sorted({symbol for each in expressions for symbol in each.free_symbols}, key=str)
        quantities = dict.fromkeys(claim.notation.get(symbol) for symbol in symbols)
        counts_clients = any(each.has(Average, ClientSum) for each in expressions)
        return cls(tuple(quantity for quantity in quantities if isinstance(quantity, RunQuantity)), counts_clients)

    def find_kind(self, run: Run) -> Hashable:
        """Return the key of runs with a joint computation; raises `FedtheoryError` where a quantity has no value."""
        _, widths = self._find_shapes(run)
        return widths, run.problem.clients if self.counts_clients else None

    def size(self, run: Run) -> tuple[int, int]:
        """Count the rounds and local steps of a run that have different values."""
        size, _ = self._find_shapes(run)
        return size

    def _find_shapes(self, run: Run) -> tuple[tuple[int, int], tuple[int, ...]]:
        """Return the largest numbers of rounds and steps of the quantities, and their numbers of clients."""
        return run.memo.compute_once(self, lambda: self._list_shapes(run))

    def _list_shapes(self, run: Run) -> tuple[tuple[int, int], tuple[int, ...]]:
        shapes = [np.shape(quantity.on(run)) or (1, 1, 1) for quantity in self.quantities]
        rounds, steps = (max((shape[axis] for shape in shapes), default=1) for axis in (0, 1))
        return (rounds, steps), tuple(shape[2] for shape in shapes)


@cache
def collect_in_conditions(claim: Claim) -> Dependencies:
    """Collect the values that the conditions of a claim on runs require."""
    return Dependencies.from_expressions(claim.run_conditions, claim)


@cache
def collect_in_relations(claim: Claim) -> Dependencies:
    """Collect the values that the relations of a claim require."""
    return Dependencies.from_expressions(
        [side for relation in claim.relations for side in (relation.left, relation.right)], claim
    )
