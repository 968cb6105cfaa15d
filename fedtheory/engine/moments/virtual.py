"""Second moments of the virtual iterates of rounds in which all clients start from the newest model.

    theta^{n,k} = theta^n + eta_g sum_i w_i(n) (x_i^k - theta^n)

(fraboni2022, eq. 7), forward in time; `RoundForms` has the same backward, for few forms.
"""

from __future__ import annotations

import numpy as np

from fedtheory.arithmetic import Array
from fedtheory.engine.moments.local import LocalStep, LocalSteps, homogeneous
from fedtheory.engine.moments.recursion import Recursion
from fedtheory.federation.problem.quadratic import weighted_sum


def virtual_moments(recursion: Recursion, moments: Array) -> Array:
    """E (1, theta^{n,k} - x*)(1, theta^{n,k} - x*)' of rounds from models with moments (N, d+1, d+1).

    Shape (N, K+1, d+1, d+1), k = 0 .. K.
    """
    local_steps = LocalSteps(recursion.centred, recursion.work)
    found = [[_after(recursion, base, local) for local in local_steps.begun_at(base)] for base in moments]
    return np.stack([np.stack(each) for each in found])


def _after(recursion: Recursion, base: Array, local: LocalStep) -> Array:
    """The moment (d+1, d+1) after some local steps from a model with moment `base`."""
    weights, step = recursion.participation, recursion.server_step_size
    identity = recursion.problem.arithmetic.identity(len(base))
    displacements = local.maps - identity
    mean = weighted_sum(weights.mean, displacements)
    added = homogeneous(weighted_sum(weights.squares, local.covariances))
    if not weights.is_fixed:
        added = added + weighted_sum(weights.diagonal, _carried(displacements, base))
        for scale, together in [(weights.pairing - 1, mean), *_directions(recursion, displacements)]:
            added = added + scale * _carried(together, base)
    after: Array = _carried(identity + step * mean, base) + step * step * added
    return after


def _directions(recursion: Recursion, displacements: Array) -> list[tuple[Array, Array]]:
    """Sums of displacements whose squares count, and how much."""
    return [(scale, weighted_sum(vector, displacements)) for scale, vector in recursion.participation.directions]


def _carried(maps: Array, moment: Array) -> Array:
    return maps @ moment @ maps.swapaxes(-1, -2)
