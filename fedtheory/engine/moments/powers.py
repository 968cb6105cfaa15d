"""Powers of local steps; floats and their intervals take K steps in log K products."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fedtheory.arithmetic import RATIONAL, Array, arithmetic_of, product

_MOST = 2**16
"""Largest count of numbers in a block."""


def iterate_powers(steps: Array, count: int) -> Iterator[Array]:
    """Yield ``A^k``, k = 0 .. count - 1, of maps A (..., s, s), in blocks (B, ..., s, s)."""
    arithmetic = arithmetic_of(steps)
    block = np.broadcast_to(arithmetic.identity(steps.shape[-1]), steps.shape)[None]
    ahead = steps
    # Exact numbers grow with every step: many products with short numbers are faster than few with long ones.
    while arithmetic is not RATIONAL and len(block) < count and 2 * block.size <= _MOST:
        block, ahead = np.concatenate([block, ahead @ block]), ahead @ ahead
    while count > len(block):
        yield block
        block, count = product(ahead, block), count - len(block)
    yield block[:count]


def raise_each(steps: Array, counts: Array) -> Array:
    """Return ``A^K`` of maps A (..., s, s) and counts K (...), in log K products."""
    found, ahead = np.broadcast_to(arithmetic_of(steps).identity(steps.shape[-1]), steps.shape), steps
    bits = int(counts.max()).bit_length()
    for bit in range(bits):
        found = np.where(((counts >> bit) & 1 == 1)[..., None, None], product(found, ahead), found)
        if bit + 1 < bits:
            ahead = product(ahead, ahead)
    return found


def accumulate_noise(steps: Array, fresh: Array, counts: Array) -> Array:
    """Return ``sum_j A^j C A^j'``, j = 0 .. K - 1, of maps A (..., d, d), covariances C (..., d, d) and counts K."""
    odd = ((counts & 1) == 1)[..., None, None]
    # One step needs no product, and neither does a bit that no count has.
    total = np.where(odd, fresh, fresh - fresh)
    passed = np.where(odd, steps, arithmetic_of(steps).identity(steps.shape[-1]))
    ahead, block = steps, fresh
    bits = int(counts.max()).bit_length()
    for bit in range(1, bits):
        ahead, block = product(ahead, ahead), block + _propagate_covariances(ahead, block)
        takes = ((counts >> bit) & 1 == 1)[..., None, None]
        if takes.any():
            total = np.where(takes, total + _propagate_covariances(passed, block), total)
            if bit + 1 < bits:
                passed = np.where(takes, product(passed, ahead), passed)
    return total


def _propagate_covariances(maps: Array, covariances: Array) -> Array:
    return product(product(maps, covariances), maps.swapaxes(-1, -2))
