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


def iterate_blocks(round_map: Array, noise: Array, start: Array, rounds: int) -> Iterator[Array]:
    """Yield the second moments after each of T rounds in floats, in blocks (n, d+1, d+1), so that not all are stored.

    R and C are `round_map` and `noise`, (d+1, d+1) each, and `start` is the second moment before the first round.
    """
    powers, added = compose_first_rounds(round_map, noise, min(_BLOCK, rounds))
    transposed, latest = powers.transpose(0, 2, 1), start
    for first in range(0, rounds, len(powers)):
        count = min(len(powers), rounds - first)
        block: Array = powers[:count] @ latest @ transposed[:count] + added[:count]
        latest = block[-1]
        yield block
