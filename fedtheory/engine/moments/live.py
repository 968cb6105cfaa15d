"""The models that are in use at one moment of a run, and their joint second moments.

These are the server's newest model and every older one that a client still
works on: one for synchronous rounds, at most one for each client otherwise.
"""

from __future__ import annotations

import operator
from collections.abc import Collection, Mapping, Sequence
from functools import reduce

import numpy as np

from fedtheory.arithmetic import Array, arithmetic_of, product


class LiveModels:
    """Joint second moments of model versions, each in homogeneous coordinates (1, x - x*).

    Versions are numbered by the update that made them; each has a slot, a block
    of rows and columns, that is reused when no client holds the version any more.
    """

    def __init__(self, moment: Array) -> None:
        """One version, number 0, with the second moment `moment` (d+1, d+1)."""
        self.newest = 0
        self._size = len(moment)
        self._joint = moment
        self._slots: list[int] = [0]

    @property
    def newest_moment(self) -> Array:
        """Second moment (d+1, d+1) of the server's model."""
        # A single model is replaced by the next one, several are overwritten in their slots.
        return self._joint if len(self._slots) == 1 else self._select_block(self.newest).copy()

    def moments(self, versions: Sequence[int]) -> Array:
        """Second moments (C, d+1, d+1) of some versions; a version may be named repeatedly."""
        return np.stack([self._select_block(version) for version in versions])

    @property
    def joint(self) -> Array:
        """The joint second moment, (V(d+1), V(d+1)); a copy, as the models live on."""
        return self._joint.copy()

    def rows(self, versions: Sequence[int]) -> Array:
        """Joint second moments of some versions with all live ones, in blocks (C, V, d+1, d+1)."""
        rows = np.stack([self._joint[self.columns(version)] for version in versions])
        return rows.reshape(*rows.shape[:2], -1, self._size).swapaxes(1, 2)

    def place(self, version: int) -> int:
        """Number of a version's block in `joint` and in `rows`."""
        return self._slots.index(version)

    def columns(self, version: int) -> slice:
        """Columns of a version in `joint`, and in the first result of `combine`."""
        start = self.place(version) * self._size
        return slice(start, start + self._size)

    def combine(self, maps: Mapping[int, Array]) -> tuple[Array, Array]:
        """Moments of ``sum_v maps[v] z_v``, z_v version v: with all live models (d+1, V(d+1)), and its own."""
        if len(self._slots) == 1:
            (only,) = maps.values()
            cross = product(only, self._joint)
            return cross, product(cross, only.T)
        parts = [linear @ self._joint[self.columns(version)] for version, linear in maps.items()]
        cross = reduce(operator.add, parts)
        own = [cross[:, self.columns(version)] @ linear.T for version, linear in maps.items()]
        return cross, reduce(operator.add, own)

    def advance(self, maps: Mapping[int, Array], added: Array, in_use: Collection[int]) -> None:
        """Make the next version, ``sum_v maps[v] z_v`` plus fresh noise of covariance `added` (d+1, d+1).

        Versions that are not `in_use` any more are forgotten.
        """
        cross, carried = self.combine(maps)
        second = carried + added
        self.newest += 1
        if not in_use:
            self._joint, self._slots = second, [self.newest]
            return
        # Rounding must not make the moments asymmetric: next to blocks that are symmetric by force it would grow.
        second = (second + second.T) / 2
        self._free_a_slot(in_use)
        place, known = self.columns(self.newest), cross.shape[1]
        self._joint[place, :known] = cross
        self._joint[:known, place] = cross.T
        self._joint[place, place] = second

    def _free_a_slot(self, in_use: Collection[int]) -> None:
        """Give the newest version a slot whose version is not in use; a new one where there is none."""
        for slot, version in enumerate(self._slots):
            if version not in in_use:
                self._slots[slot] = self.newest
                return
        size = len(self._joint)
        grown = arithmetic_of(self._joint).zeros(size + self._size, size + self._size)
        grown[:size, :size] = self._joint
        self._joint = grown
        self._slots.append(self.newest)

    def _select_block(self, version: int) -> Array:
        """Select a version's block (d+1, d+1) from the joint moment."""
        place = self.columns(version)
        return self._joint[place, place]
