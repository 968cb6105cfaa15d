"""Joint second moments of the server's and all clients' vectors, and their change in a round.

For clients of G classes the moments of one client of each class and of two
different clients of any two classes suffice.  The difference between the moment of
one client and that of two clients of its class is called `excess`: all independent
noise of a client enters there.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from fedtheory.arithmetic import Array, arithmetic_of


@dataclass(frozen=True, eq=False)
class Joint:
    """Second moments of (1, s) and of the clients' vectors c."""

    shared: Array
    """E (1, s)(1, s)', (a, a)."""
    cross: Array
    """E c_i (1, s)', (G, b, a)."""
    pair: Array
    """E c_i c_j' for different clients, (G, b, G, b)."""
    excess: Array
    """E c_i c_i' minus E c_i c_j' for two clients of the same class, (G, b, b)."""

    @property
    def kinds(self) -> int:
        """G."""
        return len(self.cross)

    @property
    def same_kind(self) -> Array:
        """E c_i c_j' for different clients of the same class, (G, b, b)."""
        every = np.arange(self.kinds)
        return self.pair[every, :, every, :]

    def known(self) -> Array:
        """E (1, s, c_i)(1, s, c_i)', (G, a+b, a+b)."""
        return self._complete(self.same_kind + self.excess)

    def _complete(self, own: Array) -> Array:
        """Return the joint moment of shared and own vectors of each kind, given the moment of the own ones."""
        size, rows = len(self.shared), self.cross.shape[1]
        if rows == 0:
            return np.broadcast_to(self.shared, (self.kinds, size, size))
        found = arithmetic_of(self.shared).zeros(self.kinds, size + rows, size + rows)
        found[:, :size, :size] = self.shared
        found[:, size:, :size] = self.cross
        found[:, :size, size:] = self.cross.transpose(0, 2, 1)
        found[:, size:, size:] = own
        return found

    def plus(self, other: Joint) -> Joint:
        """Return the sum: moments of a mixture are the mixture of moments."""
        return Joint(
            self.shared + other.shared, self.cross + other.cross, self.pair + other.pair, self.excess + other.excess
        )

    def scale(self, factor: object) -> Joint:
        """Return all moments multiplied by a number."""
        return Joint(factor * self.shared, factor * self.cross, factor * self.pair, factor * self.excess)

    def symmetric(self) -> Joint:
        """Return the moments with E (1, s)(1, s)' made symmetric: its rounding error would grow otherwise."""
        return replace(self, shared=(self.shared + self.shared.T) / 2)

    def largest(self) -> float:
        """Return the largest entry, in floats."""
        parts = (self.shared, self.cross, self.pair, self.excess)
        return max(float(np.abs(part).max(initial=0.0)) for part in parts)


@dataclass(frozen=True, eq=False)
class ClientVectors:
    """Vectors of the clients, ``v_i = shared @ (1, s) + own @ c_i``."""

    shared: Array
    """(G, rows, a)."""
    own: Array
    """(G, rows, b)."""

    @classmethod
    def from_state(cls, state: Array, shared: int) -> ClientVectors:
        """Split the state part of forms, (G, rows, a+b)."""
        return cls(state[:, :, :shared], state[:, :, shared:])


def compute_excess(joint: Joint, left: Array, right: Array) -> Array:
    """Return E v_i w_i' minus E v_i w_j' for two clients of a class, for v_i = left @ c_i and w_i = right @ c_i."""
    if not joint.excess.any():
        return arithmetic_of(joint.shared).zeros(joint.kinds, left.shape[1], right.shape[1])
    found: Array = left @ joint.excess @ right.transpose(0, 2, 1)
    return found


def correlate_with_server(joint: Joint, maps: ClientVectors) -> Array:
    """Return E v_i (1, s)', (G, rows, a)."""
    found: Array = maps.shared @ joint.shared + maps.own @ joint.cross
    return found


def correlate_pairs(joint: Joint, maps: ClientVectors) -> Array:
    """Return E v_i v_j' for different clients, (G, rows, G, rows)."""
    kinds, rows, size = maps.own.shape
    if rows == 0:
        return arithmetic_of(joint.shared).zeros(kinds, 0, kinds, 0)
    once = (maps.own @ joint.pair.reshape(kinds, size, kinds * size)).reshape(kinds * rows, kinds * size)
    # The moments are symmetric: the other side is the same product with the transpose.
    both = (maps.own @ once.T.reshape(kinds, size, kinds * rows)).reshape(kinds * rows, kinds * rows)
    half = (maps.own @ joint.cross + maps.shared @ joint.shared / 2).reshape(kinds * rows, -1)
    flat = maps.shared.reshape(kinds * rows, -1)
    both += np.concatenate([half, flat], axis=1) @ np.concatenate([flat, half], axis=1).T
    pairs: Array = both.reshape(kinds, rows, kinds, rows)
    return pairs


def correlate_random_sum(joint: Joint, maps: ClientVectors, factors: Array) -> ClientVectors:
    """Return E q (1, s)' and E q c_h' of ``q = sum_i f_i v_i``, for each class h: (G, rows, a) and (G, rows, b).

    `factors` (G, G) hold the expected sum of f_i over the clients of class g, given the participation of a client of
    class h.
    """
    kinds, rows, size = maps.own.shape
    shared = np.tensordot(factors, maps.shared, axes=(0, 0))
    with_one = shared @ joint.shared
    if not size:
        return ClientVectors(with_one, with_one[:, :, :0])
    with_one = with_one + np.tensordot(factors, maps.own @ joint.cross, axes=(0, 0))
    flat = maps.own.transpose(1, 0, 2)
    columns = [
        (flat * factors[:, h][None, :, None]).reshape(rows, kinds * size)
        @ joint.pair[:, :, h, :].reshape(kinds * size, size)
        for h in range(kinds)
    ]
    return ClientVectors(with_one, shared @ joint.cross.transpose(0, 2, 1) + np.stack(columns))


def correlate_sum(joint: Joint, maps: ClientVectors, factors: Array, shared: Array) -> ClientVectors:
    """Return E q (1, s)' and E q c_h' if the factors (G,) do not depend on h: (1, rows, a) and (G, rows, b).

    `shared` is ``sum_g f_g shared_g``, (rows, a).
    """
    kinds, rows, size = maps.own.shape
    with_one = shared @ joint.shared
    if not size:
        return ClientVectors(with_one[None], arithmetic_of(shared).zeros(kinds, rows, 0))
    with_one = with_one + np.tensordot(factors, maps.own @ joint.cross, axes=1)
    flat = (factors[:, None, None] * maps.own).transpose(1, 0, 2).reshape(rows, kinds * size)
    carried = (flat @ joint.pair.reshape(kinds * size, kinds * size)).reshape(rows, kinds, size)
    return ClientVectors(with_one[None], shared @ joint.cross.transpose(0, 2, 1) + carried.transpose(1, 0, 2))
