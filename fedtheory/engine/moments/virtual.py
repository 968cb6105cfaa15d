"""Second moments of the virtual iterates of rounds that all clients start from the newest model.

    theta^{n,k} = theta^n + eta_g sum_i w_i(n) (x_i^k - theta^n)

(fraboni2022, eq. 7), computed forward; `RoundForms` computes the same backward, for few forms.
In rationals, the values of all products of two coordinates determine the values of many forms.
"""

from __future__ import annotations

import numpy as np

from fedtheory.arithmetic import Arithmetic, Array
from fedtheory.engine.moments.local import homogeneous, local_maps
from fedtheory.engine.moments.recursion import Recursion
from fedtheory.federation.problem.quadratic import weighted_sum


def virtual_moments(recursion: Recursion, moments: Array) -> Array:
    """Return E (1, theta^{n,k} - x*)(1, theta^{n,k} - x*)' of rounds from models with moments (N, d+1, d+1).

    Shape (N, K+1, d+1, d+1), k = 0 .. K; all clients take K steps.
    """
    squared = recursion.server_step_size * recursion.server_step_size
    noise = np.stack([np.stack([*recursion.noise_over_steps(base)]) for base in moments])
    steps = local_maps(recursion.centred, recursion.work)
    carried = np.stack([_without_noise(recursion, maps, moments) for maps in steps], axis=1)
    found: Array = carried + squared * homogeneous(noise)
    return found


def _without_noise(recursion: Recursion, maps: Array, moments: Array) -> Array:
    """Return the moments (N, d+1, d+1) after local steps with these `maps` (M, d+1, d+1) and no noise of gradients."""
    weights, step = recursion.participation, recursion.server_step_size
    identity = recursion.problem.arithmetic.identity(maps.shape[-1])
    displacements = maps - identity
    mean = weighted_sum(weights.mean, displacements)
    after = _carry(identity + step * mean, moments)
    if weights.is_fixed:
        return after
    spread = np.stack([weighted_sum(weights.diagonal, _carry(displacements, base)) for base in moments])
    together = [(scale, weighted_sum(vector, displacements)) for scale, vector in weights.directions]
    for scale, direction in [(weights.pairing - 1, mean), *together]:
        spread = spread + scale * _carry(direction, moments)
    total: Array = after + step * step * spread
    return total


def _carry(maps: Array, moments: Array) -> Array:
    carried: Array = maps @ moments @ maps.swapaxes(-1, -2)
    return carried


def build_forms_of_entries(arithmetic: Arithmetic, size: int) -> Array:
    """Return the products of two of `size` coordinates as symmetric forms, each pair once, (E, size, size)."""
    rows, columns = np.triu_indices(size)
    forms, half = arithmetic.zeros(len(rows), size, size), arithmetic.number("1/2", "half")
    entries = np.arange(len(rows))
    forms[entries, rows, columns] = half
    forms[entries, columns, rows] += half
    return forms


def arrange_entries(values: Array, size: int) -> Array:
    """Return the second moments (..., size, size) from the values of the forms of their entries (..., E)."""
    numbers, (rows, columns) = np.empty((size, size), dtype=int), np.triu_indices(size)
    numbers[rows, columns] = numbers[columns, rows] = np.arange(len(rows))
    moments: Array = values[..., numbers]
    return moments
