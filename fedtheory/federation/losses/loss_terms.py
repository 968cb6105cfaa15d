"""Objectives as sums of scalar losses: ``F_i(x) = sum_j a_ij phi(x[c_ij] - b_ij)``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from fedtheory.arithmetic import FLOAT, Arithmetic, Array, arithmetic_of
from fedtheory.federation.losses.scalar_losses import LossFamily


@dataclass(frozen=True, eq=False)
class Terms:
    """The n terms of all clients, in one arithmetic."""

    kind: LossFamily
    owners: Array
    """Client of each term, (n,) whole numbers."""
    coordinates: Array
    """c, (n,) whole numbers."""
    weights: Array
    """a, (n,), positive."""
    centres: Array
    """b, (n,)."""
    widths: Array
    """w, (n,), positive; negative if the loss is reflected."""

    @cached_property
    def arithmetic(self) -> Arithmetic:
        """The arithmetic of the arrays."""
        return arithmetic_of(self.weights)

    def values(self, points: Array) -> Array:
        """Return values, (..., C), of C clients, each at its own point (..., C, d)."""
        values = self.weights * self.kind.value(self._compute_arguments(points), self.widths)
        total = self.arithmetic.zeros(*points.shape[:-1])
        places: Any = (..., self.owners)
        np.add.at(total, places, values)
        return total

    def gradients(self, points: Array) -> Array:
        """Return gradients, (..., C, d), of C clients, each at its own point (..., C, d)."""
        slopes = self.weights * self.kind.derivative(self._compute_arguments(points), self.widths)
        total = self.arithmetic.zeros(*points.shape)
        places: Any = (..., self.owners, self.coordinates)
        np.add.at(total, places, slopes)
        return total

    def _compute_arguments(self, points: Array) -> Array:
        """Compute the argument of each term's loss, (..., n)."""
        arguments: Array = points[..., self.owners, self.coordinates] - self.centres
        return arguments

    def translate(self, origin: Array) -> Terms:
        """Return the terms in coordinates whose zero is `origin` (d,)."""
        return replace(self, centres=self.centres - origin[self.coordinates])

    def select_clients(self, clients: Sequence[int]) -> Terms:
        """Return the terms of the given clients, in that order, possibly with repetitions, or of none."""
        picked = [np.flatnonzero(self.owners == client) for client in clients]
        places = np.concatenate([np.empty(0, dtype=int), *picked])
        owners = np.repeat(np.arange(len(picked)), [len(places) for places in picked])
        return replace(self._select(places), owners=owners)

    def along(self, coordinate: int) -> Terms:
        """Return the terms of one coordinate."""
        return self._select(np.flatnonzero(self.coordinates == coordinate))

    def mix(self, weights: Array) -> Terms:
        """Return one objective, the sum of the clients' with weights (M,); a weight of zero drops a client."""
        kept = self._select(np.flatnonzero(weights[self.owners] != 0))
        return replace(kept, owners=kept.owners * 0, weights=kept.weights * weights[kept.owners])

    def _select(self, places: Array) -> Terms:
        arrays = (self.owners, self.coordinates, self.weights, self.centres, self.widths)
        return Terms(self.kind, *(array[places] for array in arrays))

    def as_floats(self) -> Terms:
        """Return the terms in double precision."""
        return replace(
            self,
            weights=FLOAT.array(self.weights),
            centres=FLOAT.array(self.centres),
            widths=FLOAT.array(self.widths),
        )
