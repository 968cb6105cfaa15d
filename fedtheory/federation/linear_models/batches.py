"""Mini-batches of rows whose gradients are not affine in the model.

They are sampled, and their moments do not close.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NoReturn

import numpy as np

from fedtheory.arithmetic import Array
from fedtheory.errors import NotApplicable
from fedtheory.federation.oracles.base import Oracle


@dataclass(frozen=True, eq=False)
class RowBatches(Oracle):
    """Batches of B rows of each client, drawn with or without replacement."""

    batch: int
    replacement: bool
    counts: Array = field(repr=False)
    """n_i, (M,)."""
    depends_on_model = True

    @property
    def shrinkages(self) -> Array:
        """Ratio of the variance of each client's batch average to the variance of one row, (M,)."""
        if self.replacement:
            return np.full(len(self.counts), 1 / self.batch)
        return np.asarray((self.counts - self.batch) / (self.batch * np.maximum(self.counts - 1, 1)))

    def draw(self, replicas: int, generator: np.random.Generator) -> Array:
        """Return row numbers of one batch of each client in every replica, (replicas, M, B)."""
        first = (np.cumsum(self.counts) - self.counts)[:, None]
        shape = (replicas, len(self.counts), self.batch)
        if self.replacement:
            drawn = _draw_integers(generator.random(shape), self.counts[:, None])
        else:
            drawn = _draw_different(generator.random(shape), self.counts)
        return np.asarray(drawn + first)

    @property
    def are_counted(self) -> bool:
        """Whether batches are at least as large as every client's data: sampling counts of rows is faster then."""
        return self.replacement and self.batch > self.counts.max()

    def draw_counts(self, replicas: int, generator: np.random.Generator) -> Array:
        """Return the count of each row in a batch of its client that is drawn with replacement, (replicas, n)."""
        drawn = [generator.multinomial(self.batch, np.full(count, 1 / count), replicas) for count in self.counts]
        return np.concatenate(drawn, axis=1)

    def select_clients(self, clients: Sequence[int]) -> RowBatches:
        return replace(self, counts=self.counts[list(clients)])

    def _refuse(self, *_inputs: Any, **_options: Any) -> NoReturn:
        """Raise `NotApplicable`: the moments of these batches are unknown."""
        raise NotApplicable("the gradients of this loss are not affine in the model: their moments do not close")

    covariances = pull_back = sample = outcome = draws = step_bound = _refuse


def _draw_integers(uniform: Array, counts: Array) -> Array:
    """Return whole numbers from 0 to counts - 1 from uniform numbers in [0, 1)."""
    # The product with a number close to one can be rounded up to the count itself.
    return np.asarray(np.minimum((uniform * counts).astype(np.int64), counts - 1))


def _draw_different(uniform: Array, counts: Array) -> Array:
    """Return different whole numbers below counts (M,), (R, M, B), by Floyd's algorithm, which permutes no rows."""
    chosen = np.empty(uniform.shape, dtype=np.int64)
    batch = uniform.shape[-1]
    for place in range(batch):
        last = counts - batch + place
        drawn = _draw_integers(uniform[..., place], last + 1)
        is_taken = (chosen[..., :place] == drawn[..., None]).any(axis=-1)
        chosen[..., place] = np.where(is_taken, last, drawn)
    return chosen
