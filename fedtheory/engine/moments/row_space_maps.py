"""The noise of many clients' local steps as one linear map, computed in the span of each client's rows.

A client's rows span r dimensions, with coordinates y = U'x.  A local step maps the second moment S of (1, y) to

    A S A' + N(S),

with A the expected step and N the noise of a mini-batch.  Over the s_r = (r+1)(r+2)/2 pairs of coordinates both are
small matrices.  The noise of j + k steps follows from those of j and of k,

    D_{j+k} = (P_j + D_j) D_k + D_j P_k,      P_k = A^k . (A^k)',  D_1 = N,

so that K steps take about log K products.  The maps of all clients, lifted to all coordinates, are added into one:
rounds that all start from the newest model then cost the same for any number of clients.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from fedtheory.arithmetic import Array
from fedtheory.arithmetic.symmetric_pairs import count_pair_multiplicities, count_pairs, list_pair_indices, map_pairs
from fedtheory.engine.moments.row_spaces import RowSpace

_BLOCK = 2**20
"""Limit on the numbers of a block of clients' maps, 8 MiB."""
_PRODUCT, _ENTRY = 0.3, 4
"""Costs of a multiplication in a product of many small matrices and of computing an entry, both relative."""


def sum_noise_maps(space: RowSpace, weights: Array) -> Array:
    """Return ``sum_i weights_i`` times the map (s, s) of a client's noise after its steps, over the clients of a space.

    `weights` are those of all clients, (M,).  A map acts on the s entries on and above the diagonal of a second moment
    of (1, x), and returns a covariance of x in the same layout.
    """
    size = space.bases.shape[-1] + 1
    total = np.zeros((count_pairs(size), count_pairs(size)))
    for some in _iterate_blocks(space):
        seen = map_pairs(_build_projections(space.bases[some]))
        noise = _add_noise_of_steps(space, some) * weights[space.clients][some, None, None]
        noise *= count_pair_multiplicities(space.bases.shape[1] + 1)[:, None]
        total += seen.reshape(-1, len(total)).T @ (noise @ seen).reshape(-1, len(total))
    # Transposed maps count each entry off the diagonal twice.
    total /= count_pair_multiplicities(size)[:, None]
    return total


def estimate_cost_of_maps(space: RowSpace) -> float:
    """Return about how many multiplications `sum_noise_maps` takes."""
    clients, rank, dimension = space.bases.shape
    own, all_ = count_pairs(rank + 1), count_pairs(dimension + 1)
    products = own * own * (4 * int(space.steps.max()).bit_length() * own + all_) + own * all_ * all_
    rows = space.inputs.shape[1]
    each = _PRODUCT * (products + rows * own * own) + _ENTRY * own * (all_ + own)
    return float(clients * each)


def estimate_cost_of_round(space: RowSpace) -> float:
    """Return about how many multiplications the noise of one round takes without maps."""
    clients, rank, dimension = space.bases.shape
    rows = space.inputs.shape[1]
    return float(
        clients * (2 * dimension * rank * (dimension + rank) + int(space.steps.max()) * rank * (2 * rows + rank))
    )


def _iterate_blocks(space: RowSpace) -> Iterator[Array]:
    """Yield indices of clients that take equally many steps, in blocks of bounded memory."""
    _, rank, dimension = space.bases.shape
    most = max(1, _BLOCK // (count_pairs(rank + 1) * count_pairs(dimension + 1)))
    for count in np.unique(space.steps):
        alike = np.flatnonzero(space.steps == count)
        yield from (alike[first : first + most] for first in range(0, len(alike), most))


def _build_projections(bases: Array) -> Array:
    """Return the maps of (1, x) to (1, y), (C, r+1, d+1)."""
    clients, rank, dimension = bases.shape
    maps = np.zeros((clients, rank + 1, dimension + 1))
    maps[:, 0, 0] = 1
    maps[:, 1:, 1:] = bases
    return maps


def _build_affine_maps(linear: Array, moved: Array, one: float) -> Array:
    """Return maps of (1, y) that multiply coordinates by `linear` (C, r) and add `moved` (C, r), (C, r+1, r+1)."""
    clients, rank = linear.shape
    maps, places = np.zeros((clients, rank + 1, rank + 1)), np.arange(1, rank + 1)
    maps[:, 0, 0] = one
    maps[:, 1:, 0], maps[:, places, places] = moved, linear
    return maps


def _add_noise_of_steps(space: RowSpace, some: Array) -> Array:
    """Return the maps (C, s_r, s_r) of the noise of all steps of some clients, which take equally many steps."""
    kept, moved = space.means

    def propagate(steps: int) -> Array:
        return map_pairs(_build_affine_maps(kept[steps][some], moved[steps][some], 1))

    return _compose(_build_noise_of_a_step(space, some), propagate, int(space.steps[some[0]]))


def _build_noise_of_a_step(space: RowSpace, some: Array) -> Array:
    """Return N of some clients, (C, s_r, s_r): the squares of samples' gradients minus that of their average."""
    inputs, outputs = space.weighted
    samples = np.concatenate([-outputs[some][..., None], inputs[some]], axis=-1)
    pushes = np.concatenate([np.zeros_like(outputs[some])[..., None], space.inputs[some]], axis=-1)
    counts = count_pair_multiplicities(samples.shape[-1])
    squares, rows = np.zeros((len(some), len(counts), len(counts))), samples.shape[1]
    # The pairs of all rows of a long table would not fit into memory.
    most = max(1, _BLOCK // (len(some) * len(counts)))
    for part in (slice(first, first + most) for first in range(0, rows, most)):
        squares += _pair_vectors(pushes[:, part]).transpose(0, 2, 1) @ (_pair_vectors(samples[:, part]) * counts)
    slope, at_zero = space.mean_gradient
    squares -= map_pairs(_build_affine_maps(slope[some], at_zero[some], 0))
    return squares


def _pair_vectors(vectors: Array) -> Array:
    """Return the entries of ``v v'`` of vectors (..., a), (..., s)."""
    rows, columns = list_pair_indices(vectors.shape[-1])
    pairs: Array = vectors[..., rows] * vectors[..., columns]
    return pairs


def _compose(step: Array, propagate: Callable[[int], Array], steps: int) -> Array:
    """The noise of `steps` steps from that of one, and from the maps of k steps on second moments without noise."""
    if steps == 0:
        return np.zeros_like(step)
    if steps == 1:
        return step
    half = steps // 2
    noise, carried = _compose(step, propagate, half), propagate(half)
    found: Array = (carried + noise) @ noise + noise @ carried
    if steps % 2:
        found = (propagate(1) + step) @ found + step @ propagate(2 * half)
    return found
