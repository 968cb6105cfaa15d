"""Many equal rounds at once: no stale models, fixed weights, noise that does not depend on the models.

A round is then ``S -> R S R' + C``, and j of them ``S -> R^j S R'^j + C_j``.
The powers are computed once, so that long runs cost a few matrix products for
each block of rounds.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fedtheory.arithmetic import Array, product

_BLOCK = 128


def compose_first_rounds(round_map: Array, noise: Array, count: int) -> tuple[Array, Array]:
    """Return R^j and C_j of j = 1, 2, ... rounds, (n, d+1, d+1) each, for at least `count` of them."""
    powers, added = round_map[None], noise[None]
    # Powers above `count` may overflow; they are not used.
    with np.errstate(over="ignore", invalid="ignore"):
        while len(powers) < count:
            # After j + n rounds: R^j R^n, and R^j C_n R'^j + C_j.
            later = product(product(powers, added[-1]), powers.transpose(0, 2, 1)) + added
            powers, added = np.concatenate([powers, product(powers, powers[-1])]), np.concatenate([added, later])
    return powers, added


class SteadyRounds:
    """Blocks of identical rounds with mean map R (d+1, d+1) and noise C (d+1, d+1), in floats."""

    def __init__(self, round_map: Array, noise: Array, rounds: int) -> None:
        self.rounds = rounds
        self._powers, self._added = compose_first_rounds(round_map, noise, min(_BLOCK, rounds))

    def moments(self, start: Array) -> Array:
        """Return second moments (T+1, d+1, d+1) of the server's model from that of the start."""
        moments: Array = np.empty((self.rounds + 1, *start.shape))
        moments[0], first = start, 1
        for block in self.blocks(start):
            moments[first : first + len(block)] = block
            first += len(block)
        return moments

    def blocks(self, start: Array) -> Iterator[Array]:
        """Yield second moments after the start, in blocks (n, d+1, d+1), so that not all need be stored."""
        transposed, latest = self._powers.transpose(0, 2, 1), start
        for first in range(0, self.rounds, len(self._powers)):
            count = min(len(self._powers), self.rounds - first)
            block: Array = self._powers[:count] @ latest @ transposed[:count] + self._added[:count]
            latest = block[-1]
            yield block
