"""The models in use at one moment of a run, and their joint second moments.

The live models are the server's newest model and every older one that a client still
works on: one model in synchronous rounds, at most one for each client otherwise.
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
    of rows and columns, which is reused when no client works on the version any more.
    """

    def __init__(self, moment: Array) -> None:
        """Store one version, number 0, with the second moment `moment` (d+1, d+1)."""
        self.newest = 0
        self._size = len(moment)
        self._joint = moment
        self._slots: list[int] = [0]

    @property
    def newest_moment(self) -> Array:
        """Return the second moment (d+1, d+1) of the server's model."""
        # A single model is replaced by the next one; several are overwritten in their slots.
        return self._joint if len(self._slots) == 1 else self._select_block(self.newest).copy()

    def moments(self, versions: Sequence[int]) -> Array:
        """Return second moments (C, d+1, d+1) of some versions, possibly repeated."""
        return np.stack([self._select_block(version) for version in versions])

    @property
    def joint(self) -> Array:
        """Return a copy of the joint second moment, (V(d+1), V(d+1))."""
        return self._joint.copy()

    def rows(self, versions: Sequence[int]) -> Array:
        """Return joint second moments of some versions with all live ones, in blocks (C, V, d+1, d+1)."""
        rows = np.stack([self._joint[self.columns(version)] for version in versions])
        return rows.reshape(*rows.shape[:2], -1, self._size).swapaxes(1, 2)

    def place(self, version: int) -> int:
        """Return the index of a version's block in `joint` and in `rows`."""
        return self._slots.index(version)

    def columns(self, version: int) -> slice:
        """Return the columns of a version in `joint`, and in the first result of `combine`."""
        start = self.place(version) * self._size
        return slice(start, start + self._size)

    def combine(self, maps: Mapping[int, Array]) -> tuple[Array, Array]:
        """Return moments of ``sum_v maps[v] z_v``, z_v version v.

        They are those with all live models, (d+1, V(d+1)), and its own second moment, (d+1, d+1).
        """
        if len(self._slots) == 1:
            (only,) = maps.values()
            cross = product(only, self._joint)
            return cross, product(cross, only.T)
        parts = [linear @ self._joint[self.columns(version)] for version, linear in maps.items()]
        cross = reduce(operator.add, parts)
        own = [cross[:, self.columns(version)] @ linear.T for version, linear in maps.items()]
        return cross, reduce(operator.add, own)

    def advance(self, maps: Mapping[int, Array], added: Array, in_use: Collection[int]) -> None:
        """Add the next version, ``sum_v maps[v] z_v`` plus fresh noise of covariance `added` (d+1, d+1).

        Versions that are not `in_use` any more are removed.
        """
        cross, carried = self.combine(maps)
        second = carried + added
        self.newest += 1
        if not in_use:
            self._joint, self._slots = second, [self.newest]
            return
        # Moments are made symmetric, because asymmetric rounding errors would grow.
        second = (second + second.T) / 2
        self._free_a_slot(in_use)
        place, known = self.columns(self.newest), cross.shape[1]
        self._joint[place, :known] = cross
        self._joint[:known, place] = cross.T
        self._joint[place, place] = second

    def _free_a_slot(self, in_use: Collection[int]) -> None:
        """Free a slot whose version is not in use for the newest version, or add a slot."""
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
        """Return a version's block (d+1, d+1) of the joint moment."""
        place = self.columns(version)
        return self._joint[place, place]
