"""Many rounds at once, where all rounds are alike: no stale models, fixed weights, noise that is always the same.

A round is then ``S -> R S R' + C``, and j of them ``S -> R^j S R'^j + C_j``.
The powers are formed once, so that long runs cost a few matrix products for
each block of rounds.
"""

from __future__ import annotations

import numpy as np

from fedtheory.arithmetic import Array

_BLOCK = 128


class SteadyRounds:
    """Blocks of identical rounds with mean map R (d+1, d+1) and noise C (d+1, d+1), in floats."""

    def __init__(self, round_map: Array, noise: Array, rounds: int) -> None:
        self.rounds = rounds
        powers, added = round_map[None], noise[None]
        while len(powers) < min(_BLOCK, rounds):
            # After j + n rounds: R^j R^n, and R^j C_n R'^j + C_j.
            later = powers @ added[-1] @ powers.transpose(0, 2, 1) + added
            powers, added = np.concatenate([powers, powers @ powers[-1]]), np.concatenate([added, later])
        self._powers, self._added = powers, added

    def moments(self, start: Array) -> Array:
        """Second moments (T+1, d+1, d+1) of the server's model from that of the start."""
        moments: Array = np.empty((self.rounds + 1, *start.shape))
        moments[0] = start
        transposed = self._powers.transpose(0, 2, 1)
        for first in range(0, self.rounds, len(self._powers)):
            count = min(len(self._powers), self.rounds - first)
            block = self._powers[:count] @ moments[first] @ transposed[:count]
            moments[first + 1 : first + 1 + count] = block + self._added[:count]
        return moments
