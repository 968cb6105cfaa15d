"""Second moments of the virtual iterates of rounds that all clients start from the newest model.

    theta^{n,k} = theta^n + eta_g sum_i w_i(n) (x_i^k - theta^n)

(fraboni2022, eq. 7), computed forward; `RoundForms` computes the same backward, for few forms.
"""

from __future__ import annotations

from functools import reduce
from operator import add

import numpy as np

from fedtheory.arithmetic import Array, sum_with_weights
from fedtheory.engine.moments.local import Clients, embed_covariances, iterate_local_maps
from fedtheory.engine.moments.recursion import Recursion
from fedtheory.engine.moments.round_maps import split_clients


def compute_virtual_moments(recursion: Recursion, moments: Array) -> Array:
    """Return E (1, theta^{n,k} - x*)(1, theta^{n,k} - x*)' of rounds from models with moments (N, d+1, d+1).

    The shape is (N, K+1, d+1, d+1), for k = 0 .. K; all clients take K steps.
    """
    noise = np.stack([np.stack([*recursion.noise_over_steps(base)]) for base in moments])
    blocks = (_add_displacements(recursion, clients, moments) for clients in split_clients(recursion.centred))
    displacements, spreads = (reduce(add, parts) for parts in zip(*blocks, strict=True))
    added = embed_covariances(noise).swapaxes(0, 1)
    steps = [
        _carry_round(recursion, sums, spread + fresh, moments)
        for sums, spread, fresh in zip(displacements, spreads, added, strict=True)
    ]
    return np.stack(steps, axis=1)


def _add_displacements(recursion: Recursion, clients: Clients, moments: Array) -> tuple[Array, Array]:
    """Return what a block of clients adds to rounds from models with `moments` (N, d+1, d+1), for k = 0 .. K.

    Sums of displacements with the expected weights and with each direction of random ones, (K+1, 1 or more, d+1, d+1),
    and second moments that random weights add client by client, (K+1, 1 or N, d+1, d+1).
    """
    weights = recursion.participation
    vectors = [weights.mean, *(vector for _, vector in weights.directions)]
    identity, sums, spreads = recursion.problem.arithmetic.identity(moments.shape[-1]), [], []
    for maps in iterate_local_maps(recursion.centred, recursion.work, clients):
        displacements = maps - identity
        sums.append(np.stack([sum_with_weights(vector[clients], displacements) for vector in vectors]))
        if weights.is_fixed:
            spreads.append((identity - identity)[None])
        else:
            own = weights.diagonal[clients]
            spreads.append(np.stack([sum_with_weights(own, _carry(displacements, base)) for base in moments]))
    return np.stack(sums), np.stack(spreads)


def _carry_round(recursion: Recursion, displacements: Array, added: Array, moments: Array) -> Array:
    """Return moments (N, d+1, d+1) after local steps with these sums of displacements; `added` is per eta_g^2."""
    weights, step = recursion.participation, recursion.server_step_size
    mean = displacements[0]
    after = _carry(recursion.problem.arithmetic.identity(mean.shape[-1]) + step * mean, moments)
    if not weights.is_fixed:
        scales = [weights.pairing - 1, *(scale for scale, _ in weights.directions)]
        for scale, direction in zip(scales, displacements, strict=True):
            added = added + scale * _carry(direction, moments)
    total: Array = after + step * step * added
    return total


def _carry(maps: Array, moments: Array) -> Array:
    carried: Array = maps @ moments @ maps.swapaxes(-1, -2)
    return carried
